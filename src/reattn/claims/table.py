"""tables/claims.csv and tables/published.csv: what a study says of the claims."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from reattn.claims.evidence import Evidence
from reattn.claims.judging import Judgement, judge
from reattn.claims.numbers import published_numbers
from reattn.claims.published import COLUMNS as PUBLISHED
from reattn.claims.published import published_rows
from reattn.claims.verdicts import Finding
from reattn.claims.wording import told
from reattn.config.claims import Claim, load_claims
from reattn.config.studies import Study
from reattn.config.variants import Variant
from reattn.tables.cells import Row, write_table

COLUMNS = (
    *("claim", "statement", "source", "measured", "threshold", "verdict"),
    *("evidence", "low", "high", "n", "interval_kind", "scale", "note", "reason"),
)
SEVERAL = "several numbers, each with its own interval under measured"
NO_RUN = "exact: no run is behind it"
NO_NOTE = "nothing to add"


def judge_claims(
    study: Study,
    variants: Mapping[str, Variant],
    results: Path,
    claims: Path | None = None,
    published: Path | None = None,
    *,
    check_code: bool = True,
) -> None:
    """Write claims.csv and published.csv.

    Args:
        study: The study.
        variants: Its variants by id, its overrides applied.
        results: Its folder, with tables.
        claims: The claims; None: config/claims.yaml.
        published: The published numbers; None: config/published.yaml.
        check_code: Whether to say which runs other code than today's trained.

    Raises:
        ConfigError: the claims or the published numbers have faults.
        ReattnError: a table is missing, torn or foreign.
    """
    numbers = published_numbers(published)
    evidence = Evidence(study, variants, results, numbers, check_code)
    rows = [
        _row(claim, judge(claim, evidence), evidence) for claim in load_claims(claims)
    ]
    _write(results / "tables" / "claims.csv", rows, COLUMNS)
    _write(results / "tables" / "published.csv", [*published_rows(evidence)], PUBLISHED)


def _write(path: Path, rows: Sequence[Row], columns: Sequence[str]) -> None:
    write_table(path, [row.as_dict() for row in rows], columns)


def _row(claim: Claim, judgement: Judgement, evidence: Evidence) -> Row:
    found = [part.finding for part in judgement.parts]
    why = judgement.reason or "nothing is measured for it"
    measured = "; ".join(
        told(each, claim.predicate) for each in found if each.value is not None
    )
    cells = "; ".join(dict.fromkeys(each.cells for each in found if each.cells))
    row = Row(claim=claim.id, statement=claim.statement, source=claim.source)
    row.put("measured", measured, why)
    row.put("threshold", judgement.threshold, "")
    row.put("verdict", judgement.verdict, "")
    row.put("evidence", cells, why)
    _add_interval(row, found, why)
    row.put("scale", evidence.scale, "")
    row.put("note", claim.note, NO_NOTE)
    if judgement.reason:
        row.note("verdict", judgement.reason)
    return row


def _add_interval(row: Row, found: Sequence[Finding], why: str) -> None:
    """One number has one interval; the fewest runs of a model count for all."""
    known = [each for each in found if each.value is not None]
    single = known[0] if len(known) == 1 else None
    reason = SEVERAL if len(known) > 1 else why
    for column in ("low", "high"):
        bound = getattr(single, column) if single else None
        row.put(column, bound, single.kind if single else reason)
    counts = [each.count for each in known if each.runs]
    exact = known and not counts
    row.put("n", None if exact else min(counts, default=0), NO_RUN)
    kinds = dict.fromkeys(each.kind for each in known)
    row.put("interval_kind", "; ".join(kinds), reason)
