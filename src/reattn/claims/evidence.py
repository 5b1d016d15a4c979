"""What a study offers as evidence: its tables, runs and attention metrics."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from reattn.attention.metric_files import metrics_path, read_attention_metrics
from reattn.claims.numbers import PublishedNumber
from reattn.claims.wording import NOT_IN_STUDY, NOT_MEASURED
from reattn.config.studies import Study
from reattn.config.variants import Variant
from reattn.tables.cells import NOT_AVAILABLE, read_table, split_reasons
from reattn.tables.differences import Difference
from reattn.tables.models import variant_status
from reattn.tables.pairing import HEADLINE, accuracies, compared
from reattn.tables.runs import RunRecord, read_runs

Cells = dict[str, str]


@dataclass(frozen=True)
class Evidence:
    """A study as claims see it.

    Attributes:
        study: The study.
        variants: Its variants, overrides applied.
        results: Its folder.
        published: Published accuracies, by variant where they are of one.
        check_code: Whether runs that other code than today's trained are stale.
    """

    study: Study
    variants: Mapping[str, Variant]
    results: Path
    published: Sequence[PublishedNumber]
    check_code: bool = True

    @property
    def scale(self) -> str:
        """`reduced` or `full`."""
        return "reduced" if self.study.reduced else "full"

    @cached_property
    def _models(self) -> dict[str, Cells]:
        rows = read_table(self.results / "tables" / "models.csv")
        return {row["variant"]: row for row in rows}

    @cached_property
    def _runs(self) -> dict[str, list[RunRecord]]:
        runs = read_runs(
            self.study, self.variants, self.results, check_code=self.check_code
        )
        return {
            name: [run for run in runs if run.variant == name] for name in self.variants
        }

    def published_of(self, variant: str) -> PublishedNumber | None:
        """The accuracy published of a variant, or None."""
        found = [number for number in self.published if number.name == variant]
        return found[0] if found and found[0].is_of_variant else None

    def accuracies(self, variant: str, protocol: str = HEADLINE) -> dict[int, float]:
        """Accuracy in percent by seed, of runs that ended well."""
        return accuracies(self._runs.get(variant, []), protocol)

    def difference(
        self, first: str, second: str, protocol: str = HEADLINE
    ) -> Difference | None:
        """The second variant's accuracy less the first one's, by seed."""
        return compared(self._runs[first], self._runs[second], protocol)

    def attention(self, variant: str, metric: str) -> tuple[list[Cells], str]:
        """Rows of whole layers, of runs that ended well, or why there are none."""
        if reason := self.absence(variant):
            return [], reason
        path = metrics_path(self.results, variant)
        if not path.exists():
            return [], f"{NOT_MEASURED}: {variant}"
        seeds = {str(run.seed) for run in self._runs[variant] if run.counts}
        rows = read_attention_metrics(path)
        layers = [row for row in rows if row["head"] == "all" and row["seed"] in seeds]
        if usable := [row for row in layers if row[metric] != NOT_AVAILABLE]:
            return usable, ""
        told = (split_reasons(row["reason"]).get(metric) for row in layers or rows)
        why = next(filter(None, told), "no row is of a run that ended well")
        return [], f"{variant}: {why}"

    def absence(self, *variants: str) -> str:
        """Which of these variants have no run that ended well, and why."""
        names = dict.fromkeys(variants)
        missing = [name for name in names if name not in self.variants]
        parts = [f"{NOT_IN_STUDY}: {', '.join(missing)}"] if missing else []
        for name in names:
            if name in self.variants and not self.accuracies(name):
                planned = len(self.study.seeds)
                status, why = variant_status(self._runs[name], planned)
                parts.append(f"no run of {name} ended well: {why or status}")
        return "; ".join(parts)

    def stale(self, variants: Sequence[str]) -> list[str]:
        """Which of these variants have runs that other code than today's trained."""
        return [
            name
            for name in dict.fromkeys(variants)
            if any(
                run.status == "stale" and run.counts for run in self._runs.get(name, [])
            )
        ]

    def cell(self, variant: str, column: str) -> tuple[float | None, str]:
        """A number of tables/models.csv, or None and why."""
        row = self._models.get(variant)
        if row is None:
            return None, f"{NOT_IN_STUDY}: {variant}"
        if row[column] == NOT_AVAILABLE:
            why = split_reasons(row["reason"]).get(column, "not recorded")
            return None, f"{variant}: {why}"
        return float(row[column]), ""
