"""The kinds of question that a claim may put to a study's tables."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from reattn.config.faults import nearest
from reattn.config.loading import names_in
from reattn.config.models import Identifier, Settings

Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Above = Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]
Origin = Literal["measured", "authors", "published"]
Metric = Literal[
    "self_mass",
    "entropy",
    "distance",
    "concentration",
    "elsewhere",
    "asymmetry",
    "layer_difference",
]
Layers = Literal[
    "first", "last", "last-two", "all", "last-minus-first", "last-two-minus-first"
]


def _known(name: str) -> str:
    known = names_in("variants")
    if name not in known:
        close = nearest(name, known)
        hint = f"did you mean {close}" if close else "config/variants has them"
        raise ValueError(f"there is no such variant; {hint}")
    return name


Name = Annotated[Identifier, AfterValidator(_known)]
Names = Annotated[list[Name], Field(min_length=1)]
Pairs = Annotated[list[tuple[Name, Name]], Field(min_length=1)]
ORIGIN = Field(
    default="measured",
    description=(
        "This study's runs by the headline or by the authors' protocol of evaluation, "
        "or the numbers of config/published.yaml."
    ),
)


class Gain(Settings):
    """In every pair the second variant is more accurate than the first, by so much."""

    kind: Literal["gain"]
    pairs: Pairs = Field(description="Ordinary and hierarchical, or any two variants.")
    unit: Literal["points", "percent"] = Field(
        default="points", description="Points, or percent of the first one's accuracy."
    )
    numbers: Origin = ORIGIN
    at_least: Number | None = Field(default=None, description="In that unit.")
    more_than: Number | None = Field(
        default=None,
        description="In that unit; one of both bounds is given.",
        validate_default=True,
    )

    @field_validator("more_than")
    @classmethod
    def _one_bound(cls, more_than: float | None, info: ValidationInfo) -> float | None:
        at_least = info.data.get("at_least", "not valid")
        if at_least != "not valid" and (at_least is None) == (more_than is None):
            raise ValueError("give either at_least or more_than")
        return more_than


class Equivalent(Settings):
    """In every pair the accuracies differ by no more than so many points."""

    kind: Literal["equivalent"]
    pairs: Pairs = Field(description="Two variants each.")
    within: Above = Field(description="Points.")
    numbers: Origin = ORIGIN


class Ratio(Settings):
    """A column of models.csv, second over first of every pair, lies in a range."""

    kind: Literal["ratio"]
    pairs: Pairs = Field(description="Two variants each.")
    column: Literal["params", "params_full_size", "flops", "training_memory_mb"] = (
        Field(
            description="What is compared: of the study's models, or of the variants "
            "as their files say. Memory, only where both steps have equal images."
        )
    )
    at_least: Number = Field(default=0, description="Smallest ratio.")
    at_most: Number = Field(description="Largest ratio.")


class Attention(Settings):
    """A measure of attention, after training and as training changed it."""

    kind: Literal["attention"]
    variants: Names = Field(description="Every one must show it.")
    metric: Metric = Field(description="A column of measure/attention/<variant>.csv.")
    layers: Layers = Field(
        description="Whose mean is taken; with `minus`, whose means are compared."
    )
    trained_at_least: Number | None = Field(default=None, description="After training.")
    trained_at_most: Number | None = Field(default=None, description="After training.")
    change_more_than: Number | None = Field(
        default=None, description="After training minus before it."
    )
    change_less_than: Number | None = Field(
        default=None,
        description="After training minus before it; one of both bounds is given.",
        validate_default=True,
    )

    @field_validator("change_less_than")
    @classmethod
    def _against_the_start(
        cls, less_than: float | None, info: ValidationInfo
    ) -> float | None:
        more_than = info.data.get("change_more_than", less_than)
        if less_than is None and more_than is None and "change_more_than" in info.data:
            raise ValueError(
                "a claim about attention is compared with the same model before "
                "training; give change_more_than or change_less_than"
            )
        return less_than


class MatchesPublished(Settings):
    """Published accuracies lie where one more run of ours is expected."""

    kind: Literal["matches-published"]
    variants: Names = Field(description="Every one's published accuracy must.")


class ByConstruction(Settings):
    """Follows from how the models are built; no measurement could contradict it."""

    kind: Literal["by-construction"]
    reason: str = Field(min_length=1, description="Why.")


Predicate = Annotated[
    Gain | Equivalent | Ratio | Attention | MatchesPublished | ByConstruction,
    Field(discriminator="kind"),
]
