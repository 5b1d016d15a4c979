"""What a study offers as evidence: its tables, runs and published numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from reattn.config.studies import Study
from reattn.config.variants import Variant
from reattn.tables.cells import NOT_AVAILABLE, read_table, split_reasons
from reattn.tables.pairing import accuracies, images_behind, is_paired
from reattn.tables.published import Published
from reattn.tables.runs import RunRecord, read_runs

Cells = dict[str, str]


@dataclass(frozen=True)
class Evidence:
    """A study as claims see it.

    Attributes:
        study: The study.
        variants: Its variants, overrides applied.
        results: Its folder.
        published: Published accuracies by variant.
    """

    study: Study
    variants: Mapping[str, Variant]
    results: Path
    published: Mapping[str, Published]

    @property
    def scale(self) -> str:
        """`reduced` or `full`."""
        return "reduced" if self.study.reduced else "full"

    @cached_property
    def models(self) -> dict[str, Cells]:
        """Rows of tables/models.csv by variant."""
        rows = read_table(self.results / "tables" / "models.csv")
        return {row["variant"]: row for row in rows}

    @cached_property
    def _runs(self) -> dict[str, list[RunRecord]]:
        runs = read_runs(self.study, self.variants, self.results)
        return {
            name: [run for run in runs if run.variant == name] for name in self.variants
        }

    def accuracies(self, variant: str) -> dict[int, float]:
        """Accuracy in percent by seed, of runs that ended well."""
        return accuracies(self._runs.get(variant, []))

    def authors_accuracies(self, variant: str) -> list[float]:
        """Accuracies by the authors' protocol, in percent."""
        return [
            run.metrics["accuracy_authors"]
            for run in self._runs.get(variant, [])
            if run.counts and run.metrics.get("accuracy_authors") is not None
        ]

    def is_paired(self, first: str, second: str) -> bool:
        """Whether runs of equal seeds start alike and see the same images."""
        return is_paired(self._runs[first], self._runs[second])

    def test_images(self, first: str, second: str) -> int | None:
        """Test images behind each accuracy of both."""
        return images_behind([*self._runs[first], *self._runs[second]])

    def absence(self, *variants: str) -> str:
        """Why some of these variants have no accuracy; empty where all have one."""
        missing = [name for name in variants if name not in self.variants]
        if missing:
            return f"not in this study: {', '.join(dict.fromkeys(missing))}"
        bare = [name for name in variants if not self.accuracies(name)]
        if bare:
            return f"no run ended well: {', '.join(dict.fromkeys(bare))}"
        return ""

    def cell(self, variant: str, column: str) -> tuple[float | None, str]:
        """A number of tables/models.csv, or None and why."""
        row = self.models.get(variant)
        if row is None:
            return None, f"not in this study: {variant}"
        if row[column] == NOT_AVAILABLE:
            return None, f"{variant}: {split_reasons(row['reason']).get(column, '')}"
        return float(row[column]), ""
