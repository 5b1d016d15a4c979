"""The rows of the table of claims: their numbers, verdicts and reasons."""

from collections.abc import Iterable, Sequence

from reattn.claims.wording import NOT_IN_STUDY
from reattn.report.context import Context
from reattn.tables.cells import NOT_AVAILABLE, split_reasons

Row = dict[str, str]
VERDICTS = (
    *("supported", "contradicted", "inconclusive"),
    *("not tested", "true by construction"),
)


def is_of_other_models(row: Row) -> bool:
    """Whether a claim has no number here because the study lacks its models."""
    untested = row["verdict"] == "not tested" and row["measured"] == NOT_AVAILABLE
    return untested and NOT_IN_STUDY in why_no_clearer(row)


def numbered(context: Context) -> Iterable[tuple[int, Row]]:
    """A claim has one number in all tables of a report."""
    return enumerate(context.tables["claims"], start=1)


def why_no_clearer(row: Row) -> str:
    """Why there is no verdict, or none that is clear, or what to know beside it."""
    why = split_reasons(row["reason"]).get("verdict", "")
    return why.removeprefix(row["verdict"]).strip(" ;:")


def verdict_counts(rows: Sequence[Row]) -> dict[str, int]:
    """How many claims have each verdict, in the order of `VERDICTS`."""
    found = [row["verdict"] for row in rows]
    return {verdict: found.count(verdict) for verdict in VERDICTS}
