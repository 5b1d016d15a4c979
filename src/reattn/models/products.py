"""Matrix products by the library that is fastest on this processor.

torch multiplies float32 matrices on a CPU with Intel's MKL, which takes AVX2 on
processors that are not Intel's. There oneDNN, which torch carries for convolutions and
mixed precision, takes AVX-512 and is twice as fast, with rounding errors of the same
size. torch's own compiler calls the operation that is used here.

Which library multiplies depends on the processor and on the sizes, never on a timing,
so that the same processor gives the same bits.
"""

from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from reattn.models.forms import Form

# Below as many multiplications, a call of oneDNN costs more than it spares.
WORTHWHILE = 2**22
_NOT_INTELS = "AuthenticAMD"


@cache
def onednn_is_faster() -> bool:
    """Whether float32 products on this machine's CPU are faster in oneDNN."""
    return (
        torch.backends.mkldnn.is_available()
        and hasattr(torch.ops.mkldnn, "_linear_pointwise")
        and torch.backends.cpu.get_cpu_capability() == "AVX512"
        and _NOT_INTELS in _processor()
    )


def _processor() -> str:
    try:
        return Path("/proc/cpuinfo").read_text()
    except OSError:
        return ""


def linear(features: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """torch.nn.functional.linear.

    Args:
        features: (..., inputs).
        weight: (outputs, inputs).
        bias: (outputs,).

    Returns:
        (..., outputs).
    """
    fits = bias is None or (bias.dtype, bias.shape) == (weight.dtype, weight.shape[:1])
    if not fits or not _suits(features, weight, features.numel() * len(weight)):
        return F.linear(features, weight, bias)
    rows = features.reshape(-1, features.shape[-1])
    return _Product.apply(rows, weight, bias).view(*features.shape[:-1], -1)


def batched_product(left: Tensor, right: Tensor, added: Tensor | None = None) -> Tensor:
    """left @ right^T + added, for each image.

    Args:
        left: (batch, m, k), or (m, k) for all images.
        right: (batch, n, k).
        added: (batch, m, n).

    Returns:
        (batch, m, n).
    """
    if _suits(left, right, left.shape[-2] * right.shape[1] * right.shape[2]):
        return _BatchedProduct.apply(left, right, added)
    transposed = right.transpose(1, 2)
    if added is None:
        return left @ transposed
    return torch.baddbmm(added, left.expand(len(right), -1, -1), transposed)


class Linear(nn.Linear):
    """torch.nn.Linear, whose shipped form takes the faster library."""

    form: Form = "shipped"

    def forward(self, features: Tensor) -> Tensor:
        if self.form == "plain":
            return super().forward(features)
        return linear(features, self.weight, self.bias)


def _suits(left: Tensor, right: Tensor, multiplications: int) -> bool:
    return (
        multiplications >= WORTHWHILE
        and left.dtype == right.dtype == torch.float32
        and left.device.type == right.device.type == "cpu"
        and left.shape[-1] == right.shape[-1]
        and not torch.is_autocast_enabled("cpu")
        and not torch.compiler.is_compiling()
        and not torch._C._are_functorch_transforms_active()
        and onednn_is_faster()
    )


def _multiply(left: Tensor, right: Tensor, bias: Tensor | None = None) -> Tensor:
    """left @ right^T + bias, (m, n)."""
    operands = _packed(left), _packed(right)
    bias = None if bias is None else bias.contiguous()
    return torch.ops.mkldnn._linear_pointwise(*operands, bias, "none", [], "")


def _multiply_and_add(left: Tensor, right: Tensor, added: Tensor | None) -> Tensor:
    """left @ right^T + added, (m, n)."""
    if added is None:
        return _multiply(left, right)
    operands = _packed(left), added, _packed(right)
    return torch.ops.mkldnn._linear_pointwise.binary(*operands, None, "add")


def _packed(matrix: Tensor) -> Tensor:
    """The matrix without gaps; with them oneDNN takes its slowest implementation."""
    if matrix.is_contiguous() or matrix.t().is_contiguous():
        return matrix
    return matrix.contiguous()


def _save_operands(context: Any, inputs: tuple, output: Tensor) -> None:
    context.save_for_backward(*inputs[:2])


class _Product(torch.autograd.Function):
    """left (m, k), right (n, k), bias (n,) to (m, n)."""

    @staticmethod
    def forward(left: Tensor, right: Tensor, bias: Tensor | None) -> Tensor:
        return _multiply(left, right, bias)

    setup_context = staticmethod(_save_operands)

    @staticmethod
    def backward(context, gradient: Tensor) -> tuple[Tensor | None, ...]:
        left, right = context.saved_tensors
        to_left, to_right, to_bias = context.needs_input_grad
        return (
            linear(gradient, right.t()) if to_left else None,
            linear(gradient.t(), left.t()) if to_right else None,
            gradient.sum(0) if to_bias else None,
        )


class _BatchedProduct(torch.autograd.Function):
    """As `batched_product`; one product an image."""

    @staticmethod
    def forward(left: Tensor, right: Tensor, added: Tensor | None) -> Tensor:
        lefts = left.expand(len(right), *left.shape[-2:])
        sums = [None] * len(right) if added is None else added
        products = left.new_empty(*lefts.shape[:2], right.shape[1])
        for product, *operands in zip(products, lefts, right, sums, strict=True):
            product.copy_(_multiply_and_add(*operands))
        return products

    setup_context = staticmethod(_save_operands)

    @staticmethod
    def backward(context, gradient: Tensor) -> tuple[Tensor | None, ...]:
        left, right = context.saved_tensors
        to_left, to_right, to_added = context.needs_input_grad
        return (
            _to_left(gradient, right, left.dim()) if to_left else None,
            _to_right(gradient, left) if to_right else None,
            gradient if to_added else None,
        )


def _to_left(gradient: Tensor, right: Tensor, dimensions: int) -> Tensor:
    if dimensions == 3:
        return batched_product(gradient, right.transpose(1, 2))
    pairs = zip(gradient, right.transpose(1, 2), strict=True)
    start = gradient.new_zeros(gradient.shape[1], right.shape[2])
    return sum((linear(one, other) for one, other in pairs), start)


def _to_right(gradient: Tensor, left: Tensor) -> Tensor:
    swapped = gradient.transpose(1, 2)
    if left.dim() == 3:
        return batched_product(swapped, left.transpose(1, 2))
    return batched_product(left.t(), swapped).transpose(1, 2)
