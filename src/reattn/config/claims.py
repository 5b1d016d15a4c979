"""Claims: sentences of the papers, and what must be measured to judge them."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field, ValidationError, model_validator

from reattn.config.faults import sentences
from reattn.config.models import Count, Identifier, Settings
from reattn.config.paths import config_folder, shown
from reattn.config.yaml_files import read_mapping
from reattn.errors import ConfigError

Number = Annotated[float, Field(allow_inf_nan=False)]
Names = Annotated[list[Identifier], Field(min_length=1)]
Pair = tuple[Identifier, Identifier]
Pairs = Annotated[list[Pair], Field(min_length=1)]
Metric = Literal[
    "self_mass",
    "entropy",
    "distance",
    "concentration",
    "elsewhere",
    "asymmetry",
    "layer_difference",
]


class Gain(Settings):
    """The second of every pair is more accurate than the first, by at least so much."""

    kind: Literal["gain"]
    pairs: Pairs = Field(description="Ordinary and hierarchical, or any two variants.")
    unit: Literal["points", "percent"] = Field(
        description="Points, or percent of the first one's accuracy."
    )
    at_least: Number = Field(description="In that unit.")
    numbers: Literal["measured", "published"] = Field(
        default="measured",
        description="This study's runs, or the authors' own published numbers.",
    )


class Equivalent(Settings):
    """Two variants' accuracies differ by no more than so many points."""

    kind: Literal["equivalent"]
    pair: Pair = Field(description="Two variants.")
    within: Annotated[float, Field(gt=0)] = Field(description="Points.")


class Ratio(Settings):
    """A column of models.csv, second over first of every pair, lies in a range."""

    kind: Literal["ratio"]
    pairs: Pairs = Field(description="Variants.")
    column: Literal["params", "flops", "training_memory_mb"] = Field(
        description="What is compared."
    )
    at_least: Number = Field(default=0, description="Smallest ratio.")
    at_most: Number = Field(description="Largest ratio.")


class Attention(Settings):
    """A measure of attention, after training and as training changed it."""

    kind: Literal["attention"]
    variants: Names = Field(description="Every one must show it.")
    metric: Metric = Field(description="A column of measure/attention/<variant>.csv.")
    layers: Literal["first", "last", "last-two", "all", "last-minus-first"] = Field(
        description="Whose mean is taken."
    )
    trained_at_least: Number | None = Field(default=None, description="After training.")
    trained_at_most: Number | None = Field(default=None, description="After training.")
    change_at_least: Number | None = Field(
        default=None, description="After training minus before it."
    )
    change_at_most: Number | None = Field(
        default=None, description="After training minus before it."
    )

    @model_validator(mode="after")
    def _compared_with_the_start(self) -> "Attention":
        if self.change_at_least is None and self.change_at_most is None:
            raise ValueError(
                "a claim about attention is compared with the model before training: "
                "add change_at_least or change_at_most"
            )
        return self


class MatchesPublished(Settings):
    """Published accuracies lie where one more run of ours is expected."""

    kind: Literal["matches-published"]
    variants: Names = Field(description="Variants with a published accuracy.")


class ByConstruction(Settings):
    """Follows from how the models are built; no measurement could contradict it."""

    kind: Literal["by-construction"]
    reason: str = Field(min_length=1, description="Why.")


Predicate = Annotated[
    Gain | Equivalent | Ratio | Attention | MatchesPublished | ByConstruction,
    Field(discriminator="kind"),
]


class LeastEvidence(Settings):
    """The least that may judge a claim."""

    scale: Literal["any", "full"] = Field(
        description="full: a reduced study does not judge it."
    )
    seeds: Count = Field(default=1, description="Runs of every variant concerned.")


class Claim(Settings):
    """A statement and what it is held to."""

    id: Identifier = Field(description="Its name in tables.")
    statement: str = Field(min_length=1, description="In plain words.")
    source: str = Field(min_length=1, description="Who states it, and where.")
    predicate: Predicate
    evidence: LeastEvidence
    note: str | None = Field(
        default=None, description="Why it is held to this threshold."
    )


class Claims(Settings):
    """The file config/claims.yaml."""

    claims: list[Claim] = Field(description="In the order of the report's table.")

    @model_validator(mode="after")
    def _names_once(self) -> "Claims":
        names = [claim.id for claim in self.claims]
        if repeated := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"claims repeat: {', '.join(repeated)}; rename them")
        return self


def load_claims(path: Path | None = None) -> list[Claim]:
    """Every claim, in the order of the file.

    Args:
        path: The file; None: config/claims.yaml.

    Raises:
        ConfigError: the file is missing or has faults; all of them together.
    """
    path = path or config_folder() / "claims.yaml"
    content = read_mapping(path)
    model: type[BaseModel] = Claims
    try:
        return model.model_validate(content).claims
    except ValidationError as error:
        raise ConfigError(sentences(error, shown(path), model)) from None
