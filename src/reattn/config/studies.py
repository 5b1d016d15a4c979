"""A study: data, variants, seeds and a budget."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from reattn.config.models import Count, Epochs, Settings
from reattn.config.variants import Group, Identifier

Unit = Annotated[float, Field(ge=0, le=1)]
Mean = tuple[Unit, Unit, Unit]
Deviation = Annotated[float, Field(gt=0, le=1)]
Deviations = tuple[Deviation, Deviation, Deviation]
Seed = Annotated[int, Field(ge=0, lt=2**31, strict=True)]


class DataSettings(Settings):
    """Where images come from and how they enter the models."""

    source: Literal["digits", "cifar10", "image-folder"] = Field(
        description="digits: in the package; cifar10: the official archive; "
        "image-folder: train/<class>/* and test/<class>/*, or an archive of it."
    )
    path: str | None = Field(
        default=None, description="Folder or archive; --config data_path=PATH wins."
    )
    image_size: Annotated[int, Field(ge=4, le=512, strict=True)] = Field(
        default=32, description="Side of an image, in pixels."
    )
    mean: Mean | None = Field(
        default=None, description="Channel means; none: those of the training images."
    )
    std: Deviations | None = Field(
        default=None, description="Channel deviations; none: the training images'."
    )
    note: str | None = Field(
        default=None, description="What a reader must know of these images."
    )


class TrainingSettings(Settings):
    """The budget of every run and the machine that it is meant for."""

    device: Literal["cpu", "gpu"] = Field(description="What the runs need.")
    epochs: Literal["recipe"] | Epochs = Field(
        default="recipe", description="The recipe's, or a number for all variants."
    )
    batch: Literal["recipe"] | Count = Field(
        default="recipe", description="The recipe's, or a number for all variants."
    )
    epoch_images: Literal["all"] | Count = Field(
        default="all",
        description="Training images an epoch; a number: that many a time of a "
        "shuffled whole, so that consecutive epochs see different images.",
    )
    evaluation_images: Literal["all"] | Count = Field(
        default="all",
        description="Test images of the evaluations on the way (the authors' "
        "protocol); the last epoch's accuracy always takes all.",
    )
    micro_batch: Literal["auto"] | Count = Field(
        default="auto", description="Images in memory at once; a step adds them up."
    )
    precision: Literal["fp32", "tf32", "bf16"] = Field(
        default="fp32", description="Arithmetic of the runs."
    )
    threads: Annotated[int, Field(ge=1, le=1024, strict=True)] = Field(
        default=1, description="CPU threads a run."
    )
    wandb: Literal["off", "offline", "online"] = Field(
        default="offline", description="Weights & Biases tracking."
    )


class Validation(Settings):
    """A part of the training images held out to watch the runs."""

    images: Annotated[int, Field(ge=0, strict=True)] = Field(
        default=0, description="Images held out; 0: none."
    )
    reason: str | None = Field(default=None, description="Why there is none.")

    @model_validator(mode="after")
    def _reason_for_none(self) -> "Validation":
        if self.images == 0 and not self.reason:
            raise ValueError("no validation images need a reason: add `reason:`")
        return self


class MeasurementSettings(Settings):
    """How often wall times are taken; the defaults are the report's."""

    iterations: Count = Field(default=300, description="Forwards at batch 1.")
    warmup: Count = Field(default=10, description="Forwards before, not counted.")
    throughput_batch: Count = Field(default=16, description="Images a large batch.")
    throughput_iterations: Count = Field(
        default=100, description="Forwards at the large batch."
    )


class AttentionSettings(Settings):
    """Which images the attention figures show and the attention metrics take."""

    images: list[Annotated[int, Field(ge=0, strict=True)] | str] = Field(
        min_length=1,
        description="Indices of test images, image files, or sample:china.jpg and "
        "sample:flower.jpg, scikit-learn's two photographs.",
    )
    queries: list[tuple[Count | Literal[0], Count | Literal[0]]] = Field(
        min_length=1, description="Query pixels of the image: row, column."
    )
    metric_images: Count = Field(
        default=100,
        description="Test images, the first ones, that attention metrics are means "
        "over; at most all.",
    )


class ReportSettings(Settings):
    """How the report is made."""

    page_megabytes: Annotated[float, Field(gt=0, le=1000)] = Field(
        default=3,
        description="Most that report.html may take, in millions of bytes; the "
        "attention explorer gets what the rest of the page leaves.",
    )


class Overrides(Settings):
    """Settings of models that this study changes, from general to particular."""

    all: dict[str, Any] = Field(default_factory=dict, description="Every family.")
    families: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="One family; wins over `all`."
    )
    variants: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="One variant; wins over its family."
    )


class Study(Settings):
    """One YAML file of config/studies, whose name is the study's."""

    title: str = Field(min_length=1, description="One line for headings.")
    reduced: str | None = Field(
        default=None,
        description="How it falls short of the report; stands beside its numbers.",
    )
    data: DataSettings
    groups: list[Group] = Field(default_factory=list, description="Groups to train.")
    variants: list[Identifier] = Field(
        default_factory=list, description="Single variants to train besides."
    )
    seeds: list[Seed] = Field(min_length=1, description="One run a seed.")
    training: TrainingSettings
    validation: Validation
    measurement: MeasurementSettings = Field(default_factory=MeasurementSettings)
    attention: AttentionSettings
    report: ReportSettings = Field(default_factory=ReportSettings)
    overrides: Overrides = Field(default_factory=Overrides)

    @model_validator(mode="after")
    def _reduced_if_smaller(self) -> "Study":
        smaller = self._smaller_than_the_report()
        if smaller and not self.reduced:
            raise ValueError(
                f"{', '.join(smaller)} differ from the report's: add `reduced:`, a "
                "sentence that will stand beside every number"
            )
        return self

    def _smaller_than_the_report(self) -> list[str]:
        training, data = self.training, self.data
        differences = {
            "data.source": data.source != "cifar10",
            "data.image_size": data.image_size != 32,
            "training.epochs": training.epochs != "recipe",
            "training.batch": training.batch != "recipe",
            "training.epoch_images": training.epoch_images != "all",
            "training.evaluation_images": training.evaluation_images != "all",
            "overrides": self.overrides != Overrides(),
        }
        return [key for key, differs in differences.items() if differs]

    @model_validator(mode="after")
    def _something_to_train(self) -> "Study":
        if not self.groups and not self.variants:
            raise ValueError("nothing to train: name `groups:` or `variants:`")
        if len(set(self.seeds)) != len(self.seeds):
            raise ValueError(f"seeds repeat: {self.seeds}; every run needs its own")
        return self
