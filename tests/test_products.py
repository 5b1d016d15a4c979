"""Matrix products by oneDNN are torch's own, forward, backward and twice backward."""

import subprocess
import sys

import pytest
import torch
from torch.nn import functional as F

from reattn.models import products
from reattn.models.build import build_model
from reattn.models.forms import set_form
from reattn.models.products import Linear, batched_product, linear

LARGE = 256  # a side whose products oneDNN takes


@pytest.fixture(params=[True, False], ids=["oneDNN", "torch"])
def library(request, monkeypatch) -> bool:
    """Each library in turn, whatever this processor prefers."""
    if request.param and not hasattr(torch.ops.mkldnn, "_linear_pointwise"):
        pytest.skip("this build of torch has no oneDNN")
    monkeypatch.setattr(products, "onednn_is_faster", lambda: request.param)
    return request.param


def layouts(rows: int, columns: int) -> list[torch.Tensor]:
    """Matrices of one size: packed, transposed, with gaps, expanded."""
    return [
        torch.randn(rows, columns),
        torch.randn(columns, rows).t(),
        torch.randn(rows, 3 * columns)[:, ::3],
        torch.randn(1, columns).expand(rows, columns),
    ]


def assert_as_in_double(function, other, *arguments) -> None:
    """Result, gradients and a gradient of gradients, against the other in float64."""
    found = derivatives(function, *arguments)
    wanted = derivatives(other, *(one.double() for one in arguments))
    for one, reference in zip(found, wanted, strict=True):
        error = (one - reference).norm() / reference.norm()
        assert error < 2e-6, error


def derivatives(function, *arguments) -> list[torch.Tensor]:
    leaves = [one.detach().clone().requires_grad_() for one in arguments]
    result = function(*leaves)
    first = torch.autograd.grad(result.square().sum(), leaves, create_graph=True)
    second = torch.autograd.grad(sum(one.square().sum() for one in first), leaves)
    return [result.detach(), *(one.detach() for one in first), *second]


@pytest.mark.parametrize("layout", range(4))
def test_linear_is_torchs(library, layout):
    """In every layout, with bias, and its derivatives."""
    features = layouts(LARGE, LARGE)[layout] / 16
    weight = layouts(LARGE + 8, LARGE)[layout - 1] / 16
    assert_as_in_double(linear, F.linear, features, weight, torch.randn(LARGE + 8))


@pytest.mark.parametrize(
    "bias", [torch.randn(2 * LARGE)[::2], torch.randn(1).expand(LARGE)]
)
def test_a_bias_may_have_gaps(library, bias):
    """oneDNN would read it as if it had none."""
    features, weight = torch.randn(LARGE, LARGE) / 16, torch.randn(LARGE, LARGE) / 16
    assert_as_in_double(linear, F.linear, features, weight, bias.clone())
    found = linear(features, weight, bias)
    torch.testing.assert_close(found, F.linear(features, weight, bias))


def test_what_does_not_fit_is_told_by_torch(library):
    """Shapes and types are named as for torch's own product."""
    features, weight = torch.randn(LARGE, LARGE), torch.randn(LARGE, LARGE + 1)
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        linear(features, weight)
    with pytest.raises(RuntimeError, match="dtype"):
        linear(features, features, torch.randn(LARGE).double())


def test_transformed_functions(library):
    """torch.func's transforms take torch's own product."""
    features, weight = torch.randn(2, LARGE, LARGE), torch.randn(LARGE, LARGE)
    each = torch.func.vmap(lambda one: linear(one, weight))(features)
    torch.testing.assert_close(each, F.linear(features, weight), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("variant", ["learned2d-9h-content", "vit", "ha-san-pairwise"])
def test_models_by_either_library_are_one_function(library, variant, monkeypatch):
    """With every product, however small, forward and backward."""
    monkeypatch.setattr(products, "WORTHWHILE", 0)
    torch.manual_seed(0)
    model = build_model(variant, image_size=16).eval()
    images = torch.randn(2, 3, 16, 16)
    found = {}
    for form in ("plain", "shipped"):
        model.zero_grad()
        torch.manual_seed(1)  # of the class token
        output = set_form(model, form)(images)
        output.square().sum().backward()
        reached = [one.grad for one in model.parameters() if one.grad is not None]
        gradients = torch.cat([one.flatten() for one in reached])
        found[form] = output.detach(), gradients
    for one, other in zip(*found.values(), strict=True):
        assert (one - other).norm() / other.norm() < 1e-5


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("add", [False, True])
def test_batched_product_is_torchs(library, shared, add):
    """A left side of each image or of all, with and without something to add."""
    left = torch.randn(*(() if shared else (3,)), LARGE + 4, LARGE) / 16
    right = torch.randn(3, LARGE, LARGE + 8).transpose(1, 2) / 16
    added = [torch.randn(3, LARGE + 4, LARGE + 8)] * add

    def plain(left, right, added=0):
        return left @ right.transpose(1, 2) + added

    assert_as_in_double(batched_product, plain, left, right, *added)


def test_only_what_is_asked_for_gets_a_gradient(library):
    """As for an input that needs none."""
    weight = torch.randn(LARGE, LARGE, requires_grad=True)
    features = torch.randn(LARGE, LARGE)
    linear(features, weight).sum().backward()
    assert features.grad is None
    torch.testing.assert_close(weight.grad[0], features.sum(0), rtol=1e-4, atol=1e-4)


def test_small_products_and_mixed_precision_are_torchs(library):
    """Bit for bit: oneDNN would only cost there."""
    features, weight = torch.randn(4, 8), torch.randn(8, 8)
    assert torch.equal(linear(features, weight), F.linear(features, weight))
    features, weight = torch.randn(LARGE, LARGE), torch.randn(LARGE, LARGE)
    with torch.autocast("cpu", torch.bfloat16):
        product = linear(features, weight)
        assert product.dtype == torch.bfloat16
        assert torch.equal(product, F.linear(features, weight))


def test_the_same_product_has_the_same_bits(library):
    """Twice, and for an image alone or among others."""
    left, right = torch.randn(3, LARGE, LARGE), torch.randn(3, LARGE, LARGE)
    together = batched_product(left, right)
    assert torch.equal(together, batched_product(left, right))
    if library:
        assert torch.equal(together[1:2], batched_product(left[1:2], right[1:2]))


def test_a_linear_map_has_torchs_parameters():
    """Weights of either can be loaded into the other."""
    torch.manual_seed(0)
    ours = Linear(3, 5)
    torch.manual_seed(0)
    theirs = torch.nn.Linear(3, 5)
    ours.load_state_dict(theirs.state_dict())
    torch.manual_seed(0)
    assert torch.equal(Linear(3, 5).weight, theirs.weight)


FAULTS = """
import resource, sys, torch
from reattn.allocation import keep_freed_memory
if sys.argv[1] == "kept":
    keep_freed_memory()
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    torch.ones(2**24)
before = faults()
for _ in range(4):
    torch.ones(2**24)
print(faults() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's malloc is Linux'")
def test_freed_memory_is_used_again():
    """Without page faults: 64 MB four times are 65,536 pages otherwise."""
    counts = {
        way: int(
            subprocess.run(
                [sys.executable, "-c", FAULTS, way],
                capture_output=True,
                text=True,
                check=True,
            ).stdout
        )
        for way in ("kept", "default")
    }
    if counts["default"] < 1000:
        pytest.skip("this C library keeps freed memory by itself")
    assert counts["kept"] < 100
