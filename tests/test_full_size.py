"""Every model at its full size, on real images: a training step and a figure."""

import contextlib
import os
from pathlib import Path

import numpy as np
import pytest
import torch

from reattn.attention.arrays import load_arrays, save_arrays
from reattn.attention.extract import extract_attention
from reattn.config import load_resolved
from reattn.config.studies import DataSettings
from reattn.costs.formulas import flops_by_formula
from reattn.costs.parameters import parameters_by_formula
from reattn.data import Dataset, open_data, prepare
from reattn.data.augment import augment
from reattn.data.pixels import normalise
from reattn.figures.attention import draw_attention_figures
from reattn.measure.flops import count_flops
from reattn.models.build import build_model
from reattn.training.state import optimizer_of
from reattn.training.steps import Step

VARIANTS = load_resolved("paper")[1]

# Trainable parameters, counted on the authors' own modules.
PARAMETERS = {
    "resnet18": 11_173_962,
    "learned2d-9h-content": 28_478_682,
    "learned2d-9h-nocontent": 11_316_390,
    "quadratic-9h-isotropic": 11_124_444,
    "quadratic-9h-anisotropic": 11_124_606,
    "learned2d-16h-content": 26_459_754,
    "learned2d-16h-nocontent": 13_973_802,
    "quadratic-16h-anisotropic": 7_538_346,
    "san-pairwise": 2_446_318,
    "san-patchwise": 2_512_654,
    "vit": 37_394_506,
    "ha-learned2d-9h-content": 4_754_122,
    "ha-learned2d-16h-content": 4_414_874,
    "ha-san-pairwise": 352_750,
    "ha-san-patchwise": 356_282,
    "ha-vit": 6_531_946,
}


@pytest.fixture(scope="module")
def images(tmp_path_factory) -> Dataset:
    """CIFAR-10 from the archive in REATTN_TEST_IMAGES, or the digits at its size."""
    archive = os.environ.get("REATTN_TEST_IMAGES")
    folder = tmp_path_factory.mktemp("data")
    source = "image-folder" if archive else "digits"
    path = Path(archive) if archive else None
    prepare(DataSettings(source=source, image_size=32), folder, path)
    return open_data(folder)


def test_the_table_of_parameters_is_of_the_report_s_models():
    """None is left out."""
    assert list(VARIANTS) == list(PARAMETERS)


@pytest.mark.parametrize("variant_id", VARIANTS)
def test_parameters_are_the_authors(variant_id: str):
    """Counted on the model, and known before it is built."""
    with torch.device("meta"):
        model = build_model(variant_id)
    counted = sum(parameter.numel() for parameter in model.parameters())
    assert counted == PARAMETERS[variant_id]
    formula = parameters_by_formula(VARIANTS[variant_id].model, 32, 10)
    assert formula == PARAMETERS[variant_id]


@pytest.mark.parametrize("variant_id", VARIANTS)
def test_operations_are_those_of_the_hand_formula(variant_id: str):
    """Torch's counter and the equations agree to the last operation."""
    formula = flops_by_formula(VARIANTS[variant_id].model, 32, 10)
    assert count_flops(build_model(variant_id), 32) == formula


@pytest.mark.parametrize("variant_id", VARIANTS)
def test_a_training_step_at_full_size(images: Dataset, variant_id: str):
    """Real images, the recipe's augmentation and optimiser; weights move."""
    recipe = VARIANTS[variant_id].recipe
    torch.manual_seed(0)
    model = build_model(variant_id)
    pixels = torch.from_numpy(np.array(images.train_images[:4]))
    labels = torch.from_numpy(np.array(images.train_labels[:4]))
    pixels = augment(pixels, recipe.augmentation, torch.Generator().manual_seed(0))
    batch = normalise(pixels, images.mean, images.std)
    before = [parameter.clone() for parameter in model.parameters()]
    optimizer = optimizer_of(model, recipe)
    step = Step(model.train(), optimizer, 0.0, 4, contextlib.nullcontext)
    loss, _ = step.take(batch, labels)
    assert 1.5 < loss < 5
    moved = [
        not torch.equal(old, new)
        for old, new in zip(before, model.parameters(), strict=True)
    ]
    assert np.mean(moved) > 0.8, "most parameters take part in a step"


@pytest.mark.parametrize("variant_id", VARIANTS)
def test_an_attention_figure_at_full_size(images: Dataset, variant_id: str, tmp_path):
    """From the model through the arrays to the figure, as the workflow does."""
    arrays = extract_attention(
        build_model(variant_id),
        images=np.array(images.test_images[:1]),
        names=["test image 0"],
        queries_pixels=[(12, 12)],
        mean=images.mean,
        std=images.std,
        meta={
            "study": "test",
            "variant": variant_id,
            "label": VARIANTS[variant_id].label,
            "family": VARIANTS[variant_id].model.family,
            "seed": 0,
        },
    )
    save_arrays(tmp_path / "arrays.npz", arrays)
    records = draw_attention_figures(load_arrays(tmp_path / "arrays.npz"), tmp_path)
    files = [record["file"] for record in records if record["file"]]
    assert bool(files) == (variant_id != "resnet18")
    for name in files:
        assert (tmp_path / name).read_text().lstrip().startswith("<svg")
