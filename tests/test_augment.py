"""Augmentation against torchvision's transforms, image by image."""

from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from scipy import stats
from torchvision import transforms
from torchvision.transforms import functional

from reattn.data import colour, geometry
from reattn.data.augment import augment, draw_jitter, random_rotation
from reattn.data.pixels import normalise
from reattn.errors import DataError

KINDS = ("flip", "crop-flip", "crop-flip-rotation-jitter")


def some_images(count=20, height=32, width=32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    shape = (count, 3, height, width)
    return torch.randint(1, 256, shape, generator=generator, dtype=torch.uint8)


def natural_image(size=32):
    from sklearn.datasets import load_sample_image

    photograph = Image.fromarray(load_sample_image("china.jpg"))
    return as_tensor(photograph.crop((100, 100, 356, 356)).resize((size, size)))


def seeded(seed):
    return torch.Generator().manual_seed(seed)


def as_pillow(image):
    return Image.fromarray(image.permute(1, 2, 0).numpy())


def as_tensor(image):
    return torch.from_numpy(np.array(image)).permute(2, 0, 1)


def one_by_one(operation, images, parameters):
    """torchvision on Pillow images, one after the other, as the authors apply it."""
    return torch.stack(
        [
            as_tensor(operation(as_pillow(image), float(parameter)))
            for image, parameter in zip(images, parameters, strict=True)
        ]
    )


@pytest.mark.parametrize("kind", KINDS)
def test_every_image_draws_its_own_parameters(kind):
    """One image repeated in a batch must not come out the same everywhere."""
    batch = natural_image().expand(128, -1, -1, -1)
    results = augment(batch, kind, seeded(1))
    different = {result.numpy().tobytes() for result in results}
    fewest, most = (2, 2) if kind == "flip" else (60, 128)
    assert fewest <= len(different) <= most


@pytest.mark.parametrize("kind", KINDS)
def test_only_the_given_generator_is_used(kind):
    """The same generator gives the same images; the global stream stays untouched."""
    images, before = some_images(), torch.get_rng_state()
    untouched = images.clone()
    first = augment(images, kind, seeded(3))
    assert torch.equal(first, augment(images, kind, seeded(3)))
    assert not torch.equal(first, augment(images, kind, seeded(4)))
    assert torch.equal(before, torch.get_rng_state())
    assert torch.equal(images, untouched)
    assert (first.shape, first.dtype) == (images.shape, torch.uint8)


@pytest.mark.parametrize("kind", KINDS)
def test_parameters_do_not_depend_on_the_pixels(kind):
    """What is drawn depends on kind and count alone, so a resumed run agrees."""
    generators = seeded(5), seeded(5)
    augment(some_images(seed=1), kind, generators[0])
    augment(some_images(seed=2), kind, generators[1])
    assert torch.equal(generators[0].get_state(), generators[1].get_state())


def test_unknown_kind_names_the_known_ones():
    """A misspelt kind must not train without augmentation."""
    with pytest.raises(DataError, match=r"'mixup'.*crop-flip"):
        augment(some_images(2), "mixup", seeded(0))


@given(height=st.integers(8, 24), width=st.integers(8, 24), seed=st.integers(0, 999))
@settings(max_examples=15, deadline=None)
def test_crop_equals_torchvision(height, width, seed):
    """Padding and cut agree exactly, at any shape."""
    images = some_images(6, height, width, seed)
    top, left = torch.randint(9, (2, 6), generator=seeded(seed))
    expected = [
        functional.crop(functional.pad(image, [4]), i, j, height, width)
        for image, i, j in zip(images, top.tolist(), left.tolist(), strict=True)
    ]
    assert torch.equal(geometry.crop(images, top, left, 4), torch.stack(expected))


def test_flip_equals_torchvision():
    """Chosen images are mirrored, the others are left alone."""
    images, chosen = some_images(4), torch.tensor([True, False, False, True])
    flipped = geometry.flip(images, chosen)
    assert torch.equal(flipped[chosen], functional.hflip(images[chosen]))
    assert torch.equal(flipped[~chosen], images[~chosen])


@given(
    height=st.integers(8, 33), width=st.integers(8, 33), limit=st.sampled_from([5, 180])
)
@settings(max_examples=10, deadline=None)
def test_rotation_equals_torchvision(height, width, limit):
    """Nearest-neighbour rotation agrees pixel by pixel, at any shape and angle."""
    images = some_images(12, height, width)
    drawn = torch.rand(12, generator=seeded(height))
    degrees = (2 * drawn - 1) * limit
    degrees[0] = 0
    expected = one_by_one(functional.rotate, images, degrees)
    assert torch.equal(geometry.rotate(images, degrees), expected)


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("brightness", 0.6, 1.4),
        ("contrast", 0.6, 1.4),
        ("saturation", 0.6, 1.4),
        ("hue", -0.1, 0.1),
    ],
)
def test_colour_operations_equal_torchvision(name, low, high):
    """8-bit results agree exactly, for random, natural and grey images."""
    grey = natural_image()[:1].expand(3, -1, -1)
    images = torch.cat([some_images(40), torch.stack([natural_image(), grey])])
    factors = torch.linspace(low, high, len(images))
    expected = one_by_one(getattr(functional, f"adjust_{name}"), images, factors)
    result = getattr(colour, f"adjust_{name}")(images, factors)
    assert torch.equal(result, expected)


def test_jitter_equals_torchvision_in_every_order():
    """All 24 orders of the four operations, each on its own image."""
    orders = torch.cartesian_prod(*[torch.arange(4)] * 4)
    orders = orders[[len(set(order.tolist())) == 4 for order in orders]]
    images = some_images(len(orders))
    parameters = draw_jitter(len(orders), seeded(7))
    applied = torch.arange(len(orders)) % 4 > 0
    parameters = colour.JitterParameters(applied, orders, parameters.factors)
    expected = [
        jittered_by_torchvision(image, order, factors) if used else image
        for image, order, factors, used in zip(
            images, orders.tolist(), parameters.factors, applied, strict=True
        )
    ]
    assert torch.equal(colour.jitter(images, parameters), torch.stack(expected))


def jittered_by_torchvision(image, order, factors):
    names = ("brightness", "contrast", "saturation", "hue")
    picture = as_pillow(image)
    for operation in order:
        adjust = getattr(functional, f"adjust_{names[operation]}")
        picture = adjust(picture, float(factors[operation]))
    return as_tensor(picture)


@pytest.mark.parametrize("size", [16, 32])
def test_crop_and_flip_are_uniform(size):
    """9 x 9 shifts and two sides come equally often; padding is 4 at any size."""
    image = natural_image(size)
    padded = functional.pad(image, [4])
    possible = {}
    for place in range(81):
        cut = functional.crop(padded, place // 9, place % 9, size, size)
        possible[cut.numpy().tobytes()] = (place, False)
        possible[functional.hflip(cut).numpy().tobytes()] = (place, True)
    assert len(possible) == 162
    results = augment(image.expand(8100, -1, -1, -1), "crop-flip", seeded(size))
    seen = Counter(possible[result.numpy().tobytes()] for result in results)
    counts = [seen[outcome] for outcome in possible.values()]
    assert stats.chisquare(counts).pvalue > 1e-3


def test_flip_rate_is_one_half():
    """The mirrored share lies within the binomial's 99.9 % range."""
    image = natural_image()
    results = augment(image.expand(4000, -1, -1, -1), "flip", seeded(11))
    flipped = int((results != image).flatten(1).any(dim=1).sum())
    assert stats.binomtest(flipped, 4000, 0.5).pvalue > 1e-3


def test_jitter_parameters_follow_their_distributions():
    """Uniform ranges, probability 0.8, all 24 orders equally often."""
    parameters = draw_jitter(12_000, seeded(13))
    applied = int(parameters.applied.sum())
    assert stats.binomtest(applied, 12_000, 0.8).pvalue > 1e-3
    orders = Counter(tuple(order) for order in parameters.order.tolist())
    assert len(orders) == 24
    assert stats.chisquare(list(orders.values())).pvalue > 1e-3
    for column, (low, high) in enumerate([(0.6, 1.4)] * 3 + [(-0.1, 0.1)]):
        uniform = stats.uniform(low, high - low)
        drawn = parameters.factors[:, column].numpy()
        assert stats.kstest(drawn, uniform.cdf).pvalue > 1e-3


def test_angles_are_uniform_within_five_degrees(monkeypatch):
    """The drawn angles cover -5 to 5 degrees evenly."""
    drawn = []
    monkeypatch.setattr(
        "reattn.data.augment.rotate",
        lambda images, degrees: drawn.append(degrees) or images,
    )
    random_rotation(some_images(1).expand(5000, -1, -1, -1), seeded(17))
    assert stats.kstest(drawn[0].numpy(), stats.uniform(-5, 10).cdf).pvalue > 1e-3


def test_whole_pipeline_is_distributed_as_torchvisions():
    """Brightness, spread and colour of the results come from one distribution."""
    image = natural_image()
    ours = augment(
        image.expand(1500, -1, -1, -1), "crop-flip-rotation-jitter", seeded(19)
    )
    pipeline = transforms.Compose(
        [
            transforms.RandomCrop(32, padding=4),
            transforms.RandomHorizontalFlip(),
            transforms.RandomRotation(5),
            transforms.RandomApply([transforms.ColorJitter(0.4, 0.4, 0.4, 0.1)], p=0.8),
        ]
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(23)
        picture = as_pillow(image)
        theirs = torch.stack([as_tensor(pipeline(picture)) for _ in range(1500)])
    for name, of_ours, of_theirs in zip(
        ("mean", "spread", "colour", "lean"),
        summaries(ours),
        summaries(theirs),
        strict=True,
    ):
        assert stats.ks_2samp(of_ours, of_theirs).pvalue > 1e-3, name


def summaries(images):
    images = images.float()
    return (
        images.mean(dim=(1, 2, 3)),
        images.std(dim=(1, 2, 3)),
        images[:, 0].mean(dim=(1, 2)) - images[:, 2].mean(dim=(1, 2)),
        images[..., :16].mean(dim=(1, 2, 3)) - images[..., 16:].mean(dim=(1, 2, 3)),
    )


def test_normalise_equals_torchvision():
    """Division by 255, then mean and deviation, to float32 rounding."""
    mean, std = (0.4914, 0.4822, 0.4465), (0.2023, 0.1994, 0.2010)
    images = some_images()
    expected = transforms.Normalize(mean, std)(images.float() / 255)
    torch.testing.assert_close(normalise(images, mean, std), expected)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("kind", KINDS)
def test_device_does_not_change_the_result(kind):
    """With a CPU generator, images on a GPU change as on the CPU."""
    images = some_images(64)
    on_gpu = augment(images.cuda(), kind, seeded(29))
    assert on_gpu.is_cuda
    difference = on_gpu.cpu().int() - augment(images, kind, seeded(29)).int()
    assert difference.abs().max() <= 1
