"""What the templates may read: a study, its tables, figures, and what others wrote."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from reattn.config.explored import is_explored
from reattn.config.loading import load_variants
from reattn.config.paths import APART, TABLES
from reattn.config.resolution import overrides_of
from reattn.config.studies import Study
from reattn.config.variants import Variant
from reattn.config.yaml_files import read_mapping
from reattn.errors import ReattnError
from reattn.files import read_json
from reattn.report.figures import Absent, Figure, read_figures
from reattn.report.models import Model, Pair
from reattn.tables.cells import NOT_AVAILABLE, read_table
from reattn.tables.ledger import read_ledger
from reattn.tables.published import read_published


@dataclass(frozen=True)
class Context:
    """Everything behind one report.

    Attributes:
        name: The study's name.
        study: The study.
        variants: Its variants, overrides applied.
        tables: Rows of each table, as text, by the table's name.
        figures: The figures that it has.
        absent_figures: Why there are none, by folder and variant.
        published: config/published.yaml.
        deviations: config/deviations.yaml.
        layout: report/layout.yaml.
        measurement: measure/measurements.json; empty where nothing is measured.
    """

    name: str
    study: Study
    variants: Mapping[str, Variant]
    tables: Mapping[str, list[dict[str, str]]]
    figures: list[Figure]
    absent_figures: Absent
    published: Mapping[str, Any]
    deviations: list[dict[str, Any]]
    layout: Mapping[str, Any]
    measurement: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def models(self) -> dict[str, Model]:
        """Rows of models.csv by variant."""
        return {row["variant"]: Model(row) for row in self.tables["models"]}

    @cached_property
    def pairs(self) -> list[Pair]:
        """Rows of hierarchical.csv; twins and depths have tables of their own."""
        pairs = [Pair(row) for row in self.tables["hierarchical"]]
        return [p for p in pairs if self.variants[p.id].group not in APART]

    @cached_property
    def known(self) -> dict[str, Variant]:
        """All variants that there are, those of the study as it has them."""
        return {**load_variants(), **self.variants}

    def listed(self, place: str) -> list[Model]:
        """The models of a table of layout.yaml that this study has."""
        names = self.layout["tables"][place]
        return [self.models[name] for name in names if name in self.models]

    @cached_property
    def unlisted(self) -> list[Model]:
        """Models of no other table: those that somebody added."""
        listed = {name for names in self.layout["tables"].values() for name in names}
        listed |= {name for pair in self.pairs for name in (pair.id, pair.ordinary_id)}
        return [
            model
            for name, model in self.models.items()
            if name not in listed and self.variants[name].group not in APART
        ]

    def deviations_in(self, variant: str) -> dict[str, str]:
        """Ids of the deviations that may move a model's numbers, and what tells more.

        Those that a twin puts right are priced; those of a whole family stand in the
        ledger. What is alike in every model is not told of each.
        """
        own = self.variants.get(variant)  # a pair's ordinary model may not be here
        of_family = [
            entry["id"]
            for entry in self.deviations
            if own and own.model.family in entry.get("families", ())
        ]
        priced = dict.fromkeys(self._twinned(variant), "priced")
        return priced | dict.fromkeys(of_family, "ledger")

    def _twinned(self, variant: str) -> list[str]:
        twins = {name for entry in self.deviations for name in entry.get("twins") or ()}
        found = [
            row["deviation"]
            for row in self.tables["audit"]
            if row["variant"] == variant and row["twin"] in twins
        ]
        return list(dict.fromkeys(found))

    @cached_property
    def own_comparisons(self) -> list[dict[str, str]]:
        """Rows of comparisons.csv of variants that somebody added."""
        return [r for r in self.tables["comparisons"] if r["group"] == "own"]

    @cached_property
    def priced(self) -> list[dict[str, str]]:
        """Rows of audit.csv of twins with a price."""
        return [
            row
            for row in self.tables["audit"]
            if NOT_AVAILABLE not in (row["difference"], row["twin"])
        ]

    @cached_property
    def evaluations(self) -> list[tuple[dict[str, str], dict[str, str]]]:
        """Rows of audit.csv of D3 and D4, model by model, where both are known."""
        by_model: dict[str, dict[str, dict[str, str]]] = {}
        for row in self.tables["audit"]:
            if row["twin"] == NOT_AVAILABLE and row["difference"] != NOT_AVAILABLE:
                by_model.setdefault(row["variant"], {})[row["deviation"]] = row
        return [(own["D3"], own["D4"]) for own in by_model.values() if len(own) == 2]

    @cached_property
    def unpriced(self) -> list[dict[str, str]]:
        """Rows of audit.csv of twins without one."""
        rows = [row for row in self.tables["audit"] if row["twin"] != NOT_AVAILABLE]
        return [row for row in rows if row["difference"] == NOT_AVAILABLE]

    @cached_property
    def drawn(self) -> set[str]:
        """The kinds of figures that there are."""
        return {figure.kind for figure in self.figures}

    @property
    def attention_extent(self) -> str:
        """Over how many images and runs attention is measured."""
        rows = self.measured_attention
        images = dict.fromkeys(row["images"] for row in rows)
        runs = dict.fromkeys(row["n_seeds"] for row in rows)
        many = "runs" if list(runs) != ["1"] else "run"
        return (
            f"{' or '.join(images)} test images and {' or '.join(runs)} {many} a model"
        )

    @property
    def measured_before_training(self) -> bool:
        """Whether attention is measured at initialisation too."""
        columns = ("distance_initial", "self_mass_initial")
        rows = self.measured_attention
        return any(row[name] != NOT_AVAILABLE for row in rows for name in columns)

    @cached_property
    def measured_attention(self) -> list[dict[str, str]]:
        """Rows of attention.csv over all layers, of models with attention."""
        return [
            row
            for row in self.tables["attention"]
            if row["layer"] == "all" and row["distance_trained"] != NOT_AVAILABLE
        ]

    @cached_property
    def measured(self) -> list[Model]:
        """Models with an accuracy."""
        return [model for model in self.models.values() if model.is_measured]

    @cached_property
    def unmeasured(self) -> list[Model]:
        """Models without one."""
        return [model for model in self.models.values() if not model.is_measured]

    def values(self, column: str) -> list[str]:
        """The different values of a column of runs.csv, n/a left out."""
        found = dict.fromkeys(row[column] for row in self.tables["runs"])
        return [value for value in found if value != NOT_AVAILABLE]

    @property
    def data_notes(self) -> list[str]:
        """What a reader must know of the images."""
        own = [self.study.data.note] if self.study.data.note else []
        return list(dict.fromkeys([*own, *self.values("data_note")]))

    @property
    def validation(self) -> str:
        """How many images are held out of training, or why none."""
        held_out = self.study.validation
        if held_out.images:
            return f"{held_out.images:,} training images are held out for validation."
        return f"No training images are held out for validation: {held_out.reason}"

    def heads_changed(self, place: str) -> str:
        """A sentence where a study overrides the heads of a table's models."""
        changed = {
            model.label: overrides_of(
                self.study, model.id, self.variants[model.id]
            ).get("heads")
            for model in self.listed(place)
        }
        parts = [f"{label} has {heads}" for label, heads in changed.items() if heads]
        if not parts:
            return ""
        return f"This study changes the number of heads: {'; '.join(parts)}."

    def label_of(self, variant: str) -> str:
        """A variant's label, also of one that this study does not have."""
        return self.known[variant].label if variant in self.known else variant

    @property
    def further_attention(self) -> list[str]:
        """Explored models with attention figures that the layout puts nowhere.

        Of the others, which are many, what counts is measured.
        """
        placed = {entry["variant"] for entry in self.layout["attention"]}
        drawn = {f.variant for f in self.figures if f.kind in ("query", "average")}
        return [
            name
            for name in self.models
            if name in drawn - placed and is_explored(self.variants[name])
        ]


def read_context(
    name: str,
    study: Study,
    variants: Mapping[str, Variant],
    results: Path,
    project: Path,
    drop_figures: bool = False,
) -> Context:
    """Read all that a report is made of.

    Args:
        name: The study's name.
        study: The study.
        variants: Its variants, overrides applied.
        results: Its folder, with tables and figures.
        project: Folder with `config` and `report`.
        drop_figures: Whether to go without figures whose files are gone.

    Raises:
        ReattnError: a table is missing, or a file that is there cannot be read.
    """
    measurement = results / "measure" / "measurements.json"
    figures, absent = read_figures(results / "figures", drop_figures)
    return Context(
        name=name,
        study=study,
        variants=variants,
        tables={
            table: read_table(results / "tables" / f"{table}.csv") for table in TABLES
        },
        figures=figures,
        absent_figures=absent,
        published=read_published(project / "config" / "published.yaml"),
        deviations=read_ledger(project / "config" / "deviations.yaml"),
        layout=read_mapping(project / "report" / "layout.yaml"),
        measurement=_conditions(measurement) if measurement.exists() else {},
    )


def _conditions(path: Path) -> dict[str, Any]:
    conditions = read_json(path)
    if isinstance(conditions, dict):
        return conditions
    raise ReattnError(f"{path} holds no conditions of a measurement. Measure again.")
