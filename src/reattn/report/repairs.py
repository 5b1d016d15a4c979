"""What a reader must know of runs that are not simply done, and how to mend them."""

from reattn.report.context import Context
from reattn.report.markdown import Markdown, code, listing
from reattn.tables.runs import OTHER_CODE

Row = dict[str, str]
AGED = (
    "stale, which means trained by other code than today’s, so that the same settings "
    "may now give other numbers"
)
FAILED = (
    "failed or diverged, for the reasons that the appendix gives; a run that diverged "
    "does so again unless its settings, its code or its device change"
)
ABSENT = "missing, or trained with other settings or images than the study has now"


def warnings(context: Context) -> Markdown:
    """A paragraph on stale, missing, failed and diverged runs; empty if there is none.

    Every kind comes with the command that mends it.
    """
    rows = context.tables["runs"]
    aged = [row for row in rows if _is_aged(row)]
    reopened = [row for row in rows if row["status"] in ("failed", "diverged")]
    others = [row for row in rows if row["status"] in ("stale", "missing")]
    others = [row for row in others if not _is_aged(row)]
    names = " ".join(f"{row['variant']}/seed{row['seed']}" for row in reopened)
    retry = f"python -m reattn retry {context.name}"
    work = f"snakemake --config study={context.name}"
    parts = [
        _part(aged, context, AGED, f"{retry} --stale", work),
        _part(reopened, context, FAILED, f"{retry} {names}", work),
        _part(others, context, ABSENT, work),
    ]
    return Markdown(" ".join(filter(None, parts)))


def _is_aged(row: Row) -> bool:
    return row["status"] == "stale" and row["status_reason"].startswith(OTHER_CODE)


def _part(rows: list[Row], context: Context, what: str, *commands: str) -> str:
    if not rows:
        return ""
    total = len(context.tables["runs"])
    verb = "is" if len(rows) == 1 else "are"
    labels = dict.fromkeys(context.models[row["variant"]].name for row in rows)
    told = " and then ".join(map(code, commands))
    return (
        f"{len(rows)} of {total} runs {verb} {what}: {listing(labels)}. Mend: {told}."
    )
