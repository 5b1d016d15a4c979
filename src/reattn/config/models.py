"""The settings of each model family: names, types, bounds and defaults.

Every deviation of the authors' code that changes what a model computes stands
behind a named setting whose value `authors` keeps their form. The numbers D1 to
D8 are those of config/deviations.yaml.
"""

from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

Count = Annotated[int, Field(ge=1, lt=2**31, strict=True)]
Epochs = Annotated[int, Field(ge=1, le=1_000_000, strict=True)]
Fraction = Annotated[float, Field(ge=0, lt=1, strict=True, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, strict=True, allow_inf_nan=False)]
NAME = r"^[a-z0-9]+(-[a-z0-9]+)*$"
Identifier = Annotated[str, StringConstraints(pattern=NAME)]
Option = bool | int | float | str


class Settings(BaseModel):
    """A frozen block of configuration in which an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class EncoderSettings(Settings):
    """What all transformer encoders share: blocks over a grid of patches."""

    heads: Count = Field(description="Attention heads a layer.")
    width: Count = Field(description="Features a patch; also each head's dimension.")
    feed_forward: Count = Field(description="Hidden features of the feed-forward part.")
    layers: Count = Field(default=6, description="Encoder blocks (passes, if shared).")
    patch_size: Count = Field(default=2, description="Side of a patch, in pixels.")
    attention_dropout: Fraction = Field(
        default=0.1, description="Dropout on the attention probabilities."
    )
    hierarchical: bool = Field(
        default=False,
        description="One block for all layers; keys come from its first pass alone.",
    )


class Learned2DSettings(EncoderSettings):
    """Learned relative position embeddings, with or without content."""

    family: Literal["learned2d"]
    content: bool = Field(description="Whether scores depend on the image.")
    value_projection: bool = Field(
        description="A value map a head before the output map (16 heads), or the "
        "output map alone on the gathered features (9 heads).",
    )
    content_alignment: Literal["authors", "aligned"] = Field(
        default="authors",
        description="D1: content scores from the transposed position, or the own one.",
    )


class ProjectionsSettings(EncoderSettings):
    """Learned positions beside content, with fewer maps of the features.

    With `separate` everywhere it is the aligned learned encoding with values.
    """

    family: Literal["projections"]
    scores: Literal[
        "separate", "tied", "shared", "no-key", "no-query", "dot", "cosine"
    ] = Field(
        description="What is compared: queries and keys; one map for both (tied), and "
        "for values too (shared); queries with features (no-key); features with keys "
        "(no-query); features themselves, by dot product or cosine."
    )
    values: Literal["separate", "shared", "none", "merged"] = Field(
        description="A map a head before the output map; that of the scores; none; or "
        "none, starting from the product of both maps (merged)."
    )
    temperature: Positive = Field(
        default=0.1, description="What cosines are divided by."
    )
    matched: bool = Field(
        default=False,
        description="Whether the width is enlarged until blocks have about as many "
        "parameters as those with separate maps of `width`.",
    )

    @model_validator(mode="after")
    def _one_map_for_all(self) -> "ProjectionsSettings":
        if (self.scores == "shared") != (self.values == "shared"):
            raise ValueError(
                "scores and values share one map or neither does: set both to "
                "`shared`, or none of them"
            )
        return self


class MechanismSettings(EncoderSettings):
    """An attention of one's own inside the report's encoder."""

    family: Literal["mechanism"]
    mechanism: Identifier = Field(
        description="Module of reattn.models.mechanisms, with _ for -."
    )
    options: dict[str, Option] = Field(
        default_factory=dict, description="Arguments of its class Attention."
    )


class QuadraticSettings(EncoderSettings):
    """Quadratic encoding: each head attends as a Gaussian around a centre."""

    family: Literal["quadratic"]
    isotropic: bool = Field(description="One spread a head, or a 2x2 precision.")
    gaussian_centre: Literal["authors", "corrected"] = Field(
        default="authors",
        description="D2: the authors' target vector, or the equation's.",
    )


class ViTSettings(EncoderSettings):
    """Vision transformer behind a convolutional stem."""

    family: Literal["vit"]
    stem_width: Count = Field(default=64, description="Channels of the stem.")
    class_token: Literal["authors", "learned"] = Field(
        default="authors",
        description="D7: uniform noise at every forward, or a learned vector.",
    )
    residual: Literal["authors", "input"] = Field(
        default="authors",
        description="D8: the residual adds LN(x), or x.",
    )


class SANSettings(Settings):
    """Self-attention network: 3x3 neighbourhoods, stages with pooling."""

    family: Literal["san"]
    operation: Literal["pairwise", "patchwise"] = Field(
        description="Weights from pairs of pixels, or from the whole patch."
    )
    width: Count = Field(default=64, description="Channels of the first stage.")
    stages: Annotated[int, Field(ge=1, le=4, strict=True)] = Field(
        default=4, description="Stages; each begins with a 2x2 max pooling."
    )
    blocks: Count = Field(default=2, description="Bottlenecks a stage.")


class HierarchicalSANSettings(Settings):
    """Hierarchical SAN: one pair of bottlenecks, passed through repeatedly."""

    family: Literal["ha-san"]
    operation: Literal["pairwise", "patchwise"] = Field(
        description="Weights from pairs of pixels, or from the whole patch."
    )
    width: Count = Field(default=256, description="Channels throughout.")
    layers: Count = Field(default=4, description="Passes through the shared pair.")
    pre_activation: Literal["authors", "official"] = Field(
        default="authors",
        description="D5: attention reads x, or relu(bn1(x)).",
    )


class ResNetSettings(Settings):
    """ResNet18 for small images."""

    family: Literal["resnet"]
    width: Count = Field(default=64, description="Channels of the first stage.")


ModelSettings = Annotated[
    Learned2DSettings
    | ProjectionsSettings
    | MechanismSettings
    | QuadraticSettings
    | ViTSettings
    | SANSettings
    | HierarchicalSANSettings
    | ResNetSettings,
    Field(discriminator="family"),
]
FAMILIES = tuple(
    get_args(settings.model_fields["family"].annotation)[0]
    for settings in get_args(get_args(ModelSettings)[0])
)
