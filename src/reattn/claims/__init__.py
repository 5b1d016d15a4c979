"""From tables to verdicts on what the papers claim."""

from reattn.claims.table import judge_claims

__all__ = ["judge_claims"]
