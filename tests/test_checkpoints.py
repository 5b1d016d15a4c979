"""The authors' checkpoints: their layout, their outputs, and files that do not fit.

golden/authors_checkpoint_keys.csv: components, keys and shapes of the state_dicts of
the authors' own modules. golden/authors_outputs.json: what those modules computed in
float64 with the weights and images that the functions below make.
"""

import csv
import json
import zlib
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import reattn
from reattn.errors import CheckpointError
from reattn.models.checkpoints import MOST_SHOWN, authors_state
from reattn.models.forms import set_form

GOLDEN = Path(__file__).with_name("golden")
OUTPUTS = json.loads((GOLDEN / "authors_outputs.json").read_text())
NARROW = {
    variant: next(case for case in cases if case["overrides"] or len(cases) == 1)
    for variant, cases in OUTPUTS.items()
}
FULL = {
    variant: case
    for variant, cases in OUTPUTS.items()
    for case in cases
    if not case["overrides"]
}
TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-5}


def authors_shapes() -> dict[str, dict[tuple[str, str], str]]:
    """Variant to (component, key) to shape, as in the file."""
    shapes: dict[str, dict[tuple[str, str], str]] = defaultdict(dict)
    with (GOLDEN / "authors_checkpoint_keys.csv").open() as file:
        for row in csv.DictReader(file):
            shapes[row["variant"]][row["component"], row["key"]] = row["shape"]
    return shapes


SHAPES = authors_shapes()


def uniform(name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers in [-1, 1) that depend on the name alone, on any machine."""
    # RandomState's stream is frozen by NumPy's policy; torch's is not.
    stream = np.random.RandomState(zlib.crc32(name.encode()))
    return stream.uniform(-1, 1, shape)


def authors_weight(name: str, shape: tuple[int, ...]) -> Tensor:
    """A weight for the authors' component.key: not trained, but of a likely size."""
    if name.endswith("num_batches_tracked"):
        return torch.tensor(7)
    numbers = uniform(name, shape)
    if name.endswith("running_var"):
        numbers = 1.0 + 0.5 * numbers
    elif name.endswith("attention_centers"):
        numbers = 2.0 * numbers
    elif name.endswith("attention_spreads"):
        identity = np.eye(2) if len(shape) == 3 else 1.0
        numbers = 0.7 * identity + 0.2 * numbers
    elif "embedding" not in name and len(shape) > 1:
        # Patchwise weights have no softmax to bound them: they start small.
        size = 0.3 if name.endswith("conv_w.5.weight") else 1.0
        numbers = size * numbers * np.sqrt(3 / np.prod(shape[1:]))
    elif "embedding" not in name:
        numbers = 0.25 * numbers + (1.0 if name.endswith("weight") else 0.0)
    return torch.from_numpy(np.asarray(numbers))


def authors_input() -> tuple[Tensor, Tensor]:
    """Two images, and two noise tokens for ViT, in float64."""
    images = torch.from_numpy(uniform("images", (2, 3, 32, 32)))
    tokens = torch.from_numpy(uniform("tokens", (2, 256, 1))).abs()
    return images, tokens


def fill(state: dict[str, dict[str, Tensor]]) -> dict[str, dict[str, Tensor]]:
    """The same layout with the weights of `authors_weight`."""
    return {
        component: {
            key: tensor
            if key.endswith(("attention.R", "relative_indices"))
            else authors_weight(f"{component}.{key}", tuple(tensor.shape))
            for key, tensor in tensors.items()
        }
        for component, tensors in state.items()
    }


def outputs(model: nn.Module) -> Tensor:
    """Of the images above, in the model's own floating-point type."""
    images, tokens = authors_input()
    dtype = next(model.parameters()).dtype
    vit = type(model).__name__ == "VisionTransformer"
    token = {"class_token": tokens.to(dtype)} if vit else {}
    with torch.no_grad():
        return model(images.to(dtype), **token)


@pytest.fixture
def checkpoint(tmp_path: Path) -> Callable[..., Path]:
    """Writes a file as the authors' code would have, for a model of ours."""

    def write(model: nn.Module, change: Callable[[dict], None] | None = None) -> Path:
        state = fill(authors_state(model))
        if change is not None:
            change(state)
        torch.save(state, tmp_path / "best_model.ckpt")
        return tmp_path / "best_model.ckpt"

    return write


def assert_equal(ours: Tensor, authors: list[list[float]]) -> None:
    """To the precision of our type, relative to the largest output."""
    expected = torch.tensor(authors, dtype=torch.float64)
    error = (ours.double() - expected).abs().max() / expected.abs().max()
    assert error < TOLERANCE[ours.dtype]


def shown(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape)) or "scalar"


@pytest.mark.parametrize("variant", SHAPES)
def test_layout_is_the_authors(variant: str) -> None:
    """Every component, key and shape of the authors' file, and no other."""
    state = authors_state(reattn.build_model(variant))
    ours = {
        (component, key): shown(tensor.shape)
        for component, tensors in state.items()
        for key, tensor in tensors.items()
    }
    assert ours == SHAPES[variant]


@pytest.mark.parametrize("variant", SHAPES)
def test_round_trip_is_the_identity(variant: str, tmp_path: Path) -> None:
    """Weights that go out in the authors' layout come back bit by bit."""
    overrides = NARROW[variant]["overrides"]
    source = reattn.build_model(variant, **overrides)
    torch.save(authors_state(source), tmp_path / "best_model.ckpt")
    target = reattn.build_model(variant, **overrides)
    reattn.load_authors_checkpoint(target, tmp_path / "best_model.ckpt")
    for name, tensor in source.state_dict().items():
        assert torch.equal(tensor, target.state_dict()[name]), name


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("form", ["shipped", "plain"])
@pytest.mark.parametrize("variant", NARROW)
def test_outputs_are_the_authors(
    variant: str, form: str, dtype: torch.dtype, checkpoint: Callable[..., Path]
) -> None:
    """With the authors' weights, both forms give what the authors' modules give."""
    model = reattn.build_model(variant, **NARROW[variant]["overrides"])
    model = set_form(model.to(dtype).eval(), form)
    reattn.load_authors_checkpoint(model, checkpoint(model))
    assert_equal(outputs(model), NARROW[variant]["evaluation"])


@pytest.mark.parametrize("variant", FULL)
def test_outputs_at_full_size_are_the_authors(
    variant: str, checkpoint: Callable[..., Path]
) -> None:
    """The same at the report's widths and depths."""
    model = reattn.build_model(variant).eval()
    reattn.load_authors_checkpoint(model, checkpoint(model))
    assert_equal(outputs(model), FULL[variant]["evaluation"])


@pytest.mark.parametrize(
    "variant", [name for name, case in NARROW.items() if "training" in case]
)
def test_outputs_on_batch_statistics_are_the_authors(
    variant: str, checkpoint: Callable[..., Path]
) -> None:
    """In training mode batch normalisation sees the same values as theirs."""
    model = reattn.build_model(variant, **NARROW[variant]["overrides"]).double()
    reattn.load_authors_checkpoint(model, checkpoint(model))
    assert_equal(outputs(model.train()), NARROW[variant]["training"])


@pytest.mark.parametrize(
    ("variant", "corrected"),
    [
        ("learned2d-9h-content", {"content_alignment": "aligned"}),
        ("ha-learned2d-16h-content", {"content_alignment": "aligned"}),
        ("quadratic-9h-anisotropic", {"gaussian_centre": "corrected"}),
        ("ha-san-pairwise", {"pre_activation": "official"}),
        ("vit", {"residual": "input"}),
    ],
)
def test_outputs_tell_the_deviations_apart(
    variant: str, corrected: dict[str, str], checkpoint: Callable[..., Path]
) -> None:
    """The comparison above would notice any deviation of the authors put right."""
    model = reattn.build_model(variant, **NARROW[variant]["overrides"], **corrected)
    reattn.load_authors_checkpoint(model.double().eval(), checkpoint(model))
    with pytest.raises(AssertionError):
        assert_equal(outputs(model), NARROW[variant]["evaluation"])


def drop(component: str, key: str) -> Callable[[dict], None]:
    return lambda state: state[component].pop(key)


def put(component: str, key: str, value: object) -> Callable[[dict], None]:
    return lambda state: state.setdefault(component, {}).update({key: value})


FAULTS = {
    "missing": (
        "learned2d-9h-content",
        drop("clf", "fc.bias"),
        "missing: fc.bias of clf",
    ),
    "missing buffer": (
        "learned2d-9h-content",
        drop("encoder", "blocks.1.attention.relative_indices"),
        "missing: blocks.1.attention.relative_indices of encoder",
    ),
    "unexpected": (
        "san-pairwise",
        put("encoder", "layer9.weight", torch.zeros(1)),
        "unexpected: layer9.weight of encoder",
    ),
    "unexpected component": (
        "vit",
        put("optim", "state", torch.zeros(1)),
        "unexpected: state of optim",
    ),
    "wrong shape": (
        "ha-san-patchwise",
        put("encoder", "fc.weight", torch.zeros(100, 32)),
        "wrong shape: fc.weight of encoder is 100x32, the model needs 10x32",
    ),
    "wrong shape of a buffer": (
        "quadratic-9h-isotropic",
        put("encoder", "blocks.0.attention.R", torch.zeros(2, 3)),
        "wrong shape: blocks.0.attention.R of encoder is 2x3, "
        "the model needs 50x50x50x50x5",
    ),
    "not a tensor": (
        "ha-vit",
        put("clf", "fc.bias", 3),
        "not a tensor: fc.bias of clf",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named_and_changes_nothing(
    fault: str, checkpoint: Callable[..., Path]
) -> None:
    """Missing, unexpected and ill-shaped keys are named; the model stays as it is."""
    variant, change, sentence = FAULTS[fault]
    model = reattn.build_model(variant, **NARROW[variant]["overrides"])
    before = {name: value.clone() for name, value in model.state_dict().items()}
    path = checkpoint(model, change)
    with pytest.raises(CheckpointError) as error:
        reattn.load_authors_checkpoint(model, path)
    assert str(path) in str(error.value)
    assert str(error.value).splitlines()[1:] == [f"  - {sentence}"]
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name]), name


def test_all_faults_are_named_together(checkpoint: Callable[..., Path]) -> None:
    """A checkpoint of another variant: one error, whose first lines name keys."""
    path = checkpoint(reattn.build_model("san-patchwise", width=32))
    with pytest.raises(CheckpointError) as error:
        reattn.load_authors_checkpoint(reattn.build_model("resnet18"), path)
    keys = len(SHAPES["resnet18"]) + len(SHAPES["san-patchwise"])
    lines = str(error.value).splitlines()
    assert len(lines) == 1 + MOST_SHOWN + 1
    assert f"and {keys - MOST_SHOWN} more" in lines[-1]


def test_derived_buffers_are_not_read(checkpoint: Callable[..., Path]) -> None:
    """The 600 MB of `attention.R` in a file of theirs are left on the disk."""
    model = reattn.build_model("quadratic-9h-isotropic", width=8, feed_forward=8)
    path = checkpoint(model)
    assert path.stat().st_size < 1e6
    reattn.load_authors_checkpoint(model, path)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


FOREIGN = {
    "cut off": truncate,
    "empty": lambda path: path.write_bytes(b""),
    "text": lambda path: path.write_text("accuracy,0.93"),
    "absent": Path.unlink,
    "bare state_dict": lambda path: torch.save({"fc.bias": torch.zeros(10)}, path),
    "list": lambda path: torch.save([torch.zeros(10)], path),
    "object": lambda path: torch.save({"encoder": CheckpointError("x")}, path),
    "old format": lambda path: torch.save(
        {"encoder": {}}, path, _use_new_zipfile_serialization=False
    ),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_foreign_file_is_named(kind: str, checkpoint: Callable[..., Path]) -> None:
    """What is not a checkpoint of theirs is refused with its name, unexecuted."""
    model = reattn.build_model("ha-san-pairwise", width=32)
    path = checkpoint(model)
    FOREIGN[kind](path)
    with pytest.raises(CheckpointError, match=path.name):
        reattn.load_authors_checkpoint(model, path)


def test_models_that_the_authors_had_not_are_refused(tmp_path: Path) -> None:
    """A parameter without a counterpart is named, whatever the file."""
    model = reattn.build_model(
        "vit", class_token="learned", width=16, feed_forward=16, layers=1
    )
    with pytest.raises(CheckpointError, match=r"patches\.token"):
        reattn.load_authors_checkpoint(model, tmp_path / "any.ckpt")
    with pytest.raises(CheckpointError, match="Linear"):
        reattn.load_authors_checkpoint(nn.Linear(1, 1), tmp_path / "any.ckpt")
