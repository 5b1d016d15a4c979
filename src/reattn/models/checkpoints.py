"""Weights of the authors' own code, read into the models here.

Their `best_model.ckpt` is a dictionary from a component's name to its state_dict.
"""

import pickle
from collections.abc import Iterator, Mapping, Set
from pathlib import Path

import torch
from torch import Tensor, nn

from reattn.errors import CheckpointError
from reattn.models.authors_names import Key, authors_keys, derived_shapes

MOST_SHOWN = 10  # faults of a checkpoint; one of another variant has hundreds
Shapes = dict[Key, tuple[int, ...]]


def load_authors_checkpoint(model: nn.Module, path: Path | str) -> None:
    """Read the authors' `best_model.ckpt` into a model of `build_model`.

    The file is memory-mapped and unpickled with weights_only. Every key is used,
    or is a buffer that follows from the settings and whose shape is checked. The
    model changes only if all of them fit.

    Args:
        model: The variant that the checkpoint was trained as, at its settings; the
            weights take its floating-point type and device.
        path: Their file.

    Raises:
        CheckpointError: the file cannot be read, or keys are missing, unexpected,
            of another shape or not finite; the first ten are named.
    """
    path, keys = Path(path), authors_keys(model)
    found = _read(path)
    faults = list(_faults(found, _expected_shapes(model, keys), {*keys.values()}))
    if faults:
        shown = faults[:MOST_SHOWN]
        if len(faults) > MOST_SHOWN:
            rest = len(faults) - MOST_SHOWN
            shown.append(f"and {rest} more: is it of another variant?")
        heading = f"{path} does not fit this model:"
        raise CheckpointError("\n  - ".join([heading, *shown]))
    model.load_state_dict({name: found[key] for name, key in keys.items()})


def authors_state(model: nn.Module) -> dict[str, dict[str, Tensor]]:
    """A model's weights in the authors' layout: component, key, tensor.

    Their derived buffers have the right shape, but are zeros that take no memory:
    `load_authors_checkpoint` does not read them.
    """
    keys, ours = authors_keys(model), model.state_dict()
    tensors = {key: ours[name] for name, key in keys.items()}
    for key, shape in _expected_shapes(model, keys).items():
        tensors.setdefault(key, torch.zeros(()).expand(shape))
    state: dict[str, dict[str, Tensor]] = {}
    for (component, key), tensor in tensors.items():
        state.setdefault(component, {})[key] = tensor
    return state


def _expected_shapes(model: nn.Module, keys: Mapping[str, Key]) -> Shapes:
    ours = model.state_dict()
    shapes = {key: tuple(ours[name].shape) for name, key in keys.items()}
    return shapes | derived_shapes(shapes)


def _read(path: Path) -> dict[Key, object]:
    if not path.is_file():
        raise CheckpointError(f"{path} is not a file.")
    try:
        content = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
    except (RuntimeError, pickle.UnpicklingError, EOFError, OSError) as fault:
        reason = str(fault).partition("\n")[0]
        raise CheckpointError(
            f"{path} cannot be read as weights: it is cut off, or it is not a file "
            f"of torch.save ({reason})"
        ) from None
    return _by_key(content, path)


def _by_key(content: object, path: Path) -> dict[Key, object]:
    components = content if isinstance(content, dict) else {}
    if not components or not all(isinstance(c, dict) for c in components.values()):
        raise CheckpointError(
            f"{path} is not a checkpoint of the authors' code: that is a dictionary "
            "of state_dicts, such as {'encoder': ..., 'clf': ...}."
        )
    return {
        (component, key): value
        for component, state in components.items()
        for key, value in state.items()
    }


def _faults(
    found: Mapping[Key, object], expected: Shapes, read: Set[Key]
) -> Iterator[str]:
    for key, shape in expected.items():
        if key not in found:
            yield f"missing: {_shown(key)}"
        elif not isinstance(found[key], Tensor):
            yield f"not a tensor: {_shown(key)}"
        elif tuple(found[key].shape) != shape:
            yield (
                f"wrong shape: {_shown(key)} is {_product(found[key].shape)}, "
                f"the model needs {_product(shape)}"
            )
        elif key in read and not found[key].isfinite().all():
            yield f"not finite: {_shown(key)}"
    for key in found:
        if key not in expected:
            yield f"unexpected: {_shown(key)}"


def _shown(key: Key) -> str:
    component, name = key
    return f"{name} of {component}"


def _product(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape)) or "a scalar"
