"""A variant: one model to train and the recipe that it is trained by."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from reattn.config.models import (
    Count,
    Epochs,
    Fraction,
    Identifier,
    ModelSettings,
    Positive,
    Settings,
)

Group = Literal["report", "audit", "projections", "depth", "own"]
Augmentation = Literal["crop-flip", "flip", "crop-flip-rotation-jitter"]


class Recipe(Settings):
    """How the report trained a variant.

    Source of every default: the training code of Prabhu and Varma, summarised
    in docs/models.md with file and commit.
    """

    epochs: Epochs = Field(description="Epochs E of the schedule; E+1 are run.")
    batch: Count = Field(description="Images a step.")
    learning_rate: Positive = Field(description="Rate that the warm-up heads for.")
    warmup_epochs: Count = Field(description="Length W of the warm-up.")
    momentum: Fraction = Field(default=0.9, description="Nesterov momentum.")
    weight_decay: Annotated[float, Field(ge=0, strict=True, allow_inf_nan=False)] = (
        Field(default=1.0e-4, description="On every parameter.")
    )
    label_smoothing: Fraction = Field(
        default=0.0, description="Mass shared by the classes that are not the label."
    )
    augmentation: Augmentation = Field(description="Random changes of training images.")

    @model_validator(mode="after")
    def _time_after_the_warmup(self) -> "Recipe":
        if self.warmup_epochs >= self.epochs:
            raise ValueError(
                f"warmup_epochs = {self.warmup_epochs} leave nothing of "
                f"epochs = {self.epochs}; lower warmup_epochs"
            )
        return self


class Variant(Settings):
    """One YAML file of config/variants, whose name is the variant's id."""

    label: str = Field(min_length=1, description="Name in tables, as in the report.")
    group: Group = Field(description="Which part of the study it belongs to.")
    order: Count = Field(description="Place in tables.")
    ordinary: Identifier | None = Field(
        default=None, description="Of a hierarchical variant: its ordinary version."
    )
    compared_with: Identifier | None = Field(
        default=None,
        description="The variant that differs from it in one thing alone: of a twin "
        "the report's model, of projections the one with all maps, of one's own what "
        "it began from.",
    )
    deviation: str | None = Field(
        default=None,
        pattern=r"^D[1-9][0-9]*$",
        description="Of a twin: the deviation of the authors that it puts right.",
    )
    source: str = Field(min_length=1, description="Where its settings come from.")
    model: ModelSettings
    recipe: Recipe
