"""What the authors' code calls each part of a model.

Source: Prabhu and Varma's repository at commits 57f8244 (encoders, ViT, ResNet18),
10fce8b (SAN) and 4ea7d09 (hierarchical SAN).
"""

import re
from collections.abc import Mapping

from torch import nn

from reattn.errors import CheckpointError

# (component of a checkpoint, key in its state_dict)
Key = tuple[str, str]
# Path of a module or parameter here -> component and path there. {i} and {j} are
# numbers that both share, {block} and {output} depend on the model.
Names = Mapping[str, Key]

# Buffers of theirs that follow from the settings, and what shapes they have.
_OFFSET_TERMS_SHAPE = (50, 50, 50, 50, 5)


def _component(component: str, names: Mapping[str, str]) -> dict[str, Key]:
    return {ours: (component, theirs) for ours, theirs in names.items()}


def _within(ours: str, theirs: str, names: Mapping[str, str]) -> dict[str, str]:
    return {f"{ours}.{one}": f"{theirs}.{other}" for one, other in names.items()}


_BOTTLENECK = {
    "norm": "bn1",
    "attention.query": "attention.conv1",
    "attention.key": "attention.conv2",
    "attention.value": "attention.conv3",
    "attention.weigh": "attention.conv_w",
    "attention.position": "attention.conv_p",
    "attention_norm": "bn2",
    "expand": "conv",
}
_SAN_ENDS = {"stem.convolution": "conv_in", "stem.norm": "bn_in", "classifier": "fc"}
_ENCODER_BLOCK = {
    "attention.query": "attention.query",
    "attention.key": "attention.key",
    "attention.values.projection": "attention.value",
    "attention.values.output": "attention.{output}",
    "attention_norm": "attention.layer_norm",
    "feed_forward_norm": "feedfwd.layer_norm",
}
_RELATIVE_BLOCK = _ENCODER_BLOCK | {
    "attention.tables.row": "attention.row_embeddings",
    "attention.tables.column": "attention.col_embeddings",
    "attention.row_keys": "attention.head_keys_row",
    "attention.column_keys": "attention.head_keys_col",
    "attention.centres": "attention.attention_centers",
    "attention.spreads": "attention.attention_spreads",
    "feed_forward.expand": "feedfwd.fc1",
    "feed_forward.contract": "feedfwd.fc2",
}
_VIT_BLOCK = _ENCODER_BLOCK | {
    "feed_forward.expand": "feedfwd.fc_1",
    "feed_forward.contract": "feedfwd.fc_2",
}
_VIT_PATCHES = {
    "patches.stem": "resnet",
    "patches.projection": "feature_upscale",
    "patches.position": "position_embedding",
}

_NAMES: dict[str, Names] = {
    "ResNet": _component("model", {"features": "backbone", "classifier": "fc_out"}),
    "SAN": _component(
        "encoder",
        _SAN_ENDS
        | {"stages.{i}.widen": "conv{i}", "stages.{i}.norm": "bn{i}"}
        | _within("stages.{i}.blocks.{j}", "layer{i}.{j}", _BOTTLENECK),
    ),
    "HierarchicalSAN": _component(
        "encoder",
        _SAN_ENDS
        | {"passes.{i}.convolution": "conv{i}", "passes.{i}.norm": "bn{i}"}
        | _within("shared.{j}", "enc_layer.{j}", _BOTTLENECK),
    ),
    "EncoderClassifier": _component("conv", {"patches.projection": "feature_upscale"})
    | _component("encoder", _within("encoder.blocks.{i}", "{block}", _RELATIVE_BLOCK))
    | _component("clf", {"classifier": "fc"}),
    "VisionTransformer": _component("patcher", _VIT_PATCHES)
    | _component("encoder", _within("encoder.blocks.{i}", "{block}", _VIT_BLOCK))
    | _component("clf", {"classifier": "fc"}),
}


def authors_keys(model: nn.Module) -> dict[str, Key]:
    """The authors' component and key for every entry of a model's state_dict.

    Raises:
        CheckpointError: the model, or a part of it, is not one of theirs.
    """
    kind = type(model).__name__
    if kind not in _NAMES:
        raise CheckpointError(f"{kind} is not one of the models that the authors had.")
    keys = {name: _translate(name, model) for name in model.state_dict()}
    strangers = [name for name, key in keys.items() if key is None]
    if strangers:
        raise CheckpointError(
            f"the authors' model had no {', '.join(strangers)}: read their weights "
            "into the variant with the settings that they had."
        )
    return keys


def derived_shapes(
    shapes: Mapping[Key, tuple[int, ...]],
) -> dict[Key, tuple[int, ...]]:
    """Shapes of the buffers that the authors kept and that nothing here needs.

    `attention.R` are the offsets between the positions of a 50x50 grid and their
    products, `attention.relative_indices` rows of the tables of embeddings.

    Args:
        shapes: Those of the parameters, by the authors' keys.
    """
    derived = {}
    for (component, key), shape in shapes.items():
        attention, _, parameter = key.partition("attention.")
        if parameter == "attention_centers":
            derived[component, f"{attention}attention.R"] = _OFFSET_TERMS_SHAPE
        if parameter == "row_embeddings.weight":
            side = (shape[0] + 1) // 2
            derived[component, f"{attention}attention.relative_indices"] = (side, side)
    return derived


def _translate(name: str, model: nn.Module) -> Key | None:
    for ours, (component, theirs) in _NAMES[type(model).__name__].items():
        found = re.match(rf"{_pattern(ours)}(?P<rest>$|\..*)", name)
        if found:
            parts = found.groupdict()
            words = parts | _dialect(model, parts)
            return component, theirs.format(**words) + parts["rest"]
    return None


def _pattern(path: str) -> str:
    """A regular expression for a path in which {i} and {j} are numbers."""
    return re.sub(r"\\{(\w)\\}", r"(?P<\1>\\d+)", re.escape(path))


def _dialect(model: nn.Module, parts: Mapping[str, str]) -> dict[str, str]:
    """The words that depend on the model: a lone block, and who is called value."""
    encoder = getattr(model, "encoder", None)
    if encoder is None or "i" not in parts:
        return {}
    projects = encoder.blocks[0].attention.values.projection is not None
    return {
        "block": "block" if encoder.hierarchical else f"blocks.{parts['i']}",
        "output": "out" if projects else "value",
    }
