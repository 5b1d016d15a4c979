"""The matrix products of a piece of work, recorded and timed alone.

What they take is the floor of a form of a model: everything else it does (softmax,
normalisation, sums, copies) comes on top.
"""

import statistics
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

from reattn.measure.stopwatch import Stopwatch, time_iterations

aten = torch.ops.aten
PRODUCTS = {
    *(aten.mm.default, aten.addmm.default, aten.bmm.default, aten.baddbmm.default),
    *(aten.convolution.default, aten.convolution_backward.default),
    aten._scaled_dot_product_flash_attention_for_cpu.default,
    aten._scaled_dot_product_flash_attention_for_cpu_backward.default,
}
if hasattr(torch.ops.mkldnn, "_linear_pointwise"):  # not in every build of torch
    ONEDNN = torch.ops.mkldnn._linear_pointwise
    PRODUCTS |= {ONEDNN.default, ONEDNN.binary}


@dataclass(frozen=True)
class Shape:
    """A tensor without its numbers."""

    size: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: torch.dtype

    @classmethod
    def of(cls, tensor: torch.Tensor) -> "Shape":
        return cls(tuple(tensor.shape), tensor.stride(), tensor.dtype)

    def filled(self, device: str) -> torch.Tensor:
        """A tensor of this shape and layout, with random numbers."""
        reach = [(n - 1) * step for n, step in zip(self.size, self.stride, strict=True)]
        numbers = torch.randn(1 + sum(reach), device=device).to(self.dtype)
        return numbers.as_strided(self.size, self.stride)


@dataclass(frozen=True)
class Product:
    """One operation and the shapes of what it is given."""

    operation: Any
    arguments: str  # of the call, for comparing
    call: Any

    def prepared(self, device: str) -> Callable[[], Any]:
        """The operation on random numbers, ready to be called again and again."""
        arguments, options = tree_map(
            lambda leaf: leaf.filled(device) if isinstance(leaf, Shape) else leaf,
            self.call,
            is_leaf=lambda leaf: isinstance(leaf, Shape),
        )
        return partial(self.operation, *arguments, **options)

    def __hash__(self) -> int:
        return hash((str(self.operation), self.arguments))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Product) and (
            (self.operation, self.arguments) == (other.operation, other.arguments)
        )


class ProductRecorder(TorchDispatchMode):
    """Counts the matrix products that run inside it, by operation and shapes."""

    def __init__(self) -> None:
        super().__init__()
        self.products: Counter[Product] = Counter()

    def __torch_dispatch__(
        self, operation: Any, types: Any, arguments: Any = (), options: Any = None
    ) -> Any:
        options = options or {}
        if operation in PRODUCTS:
            call = tree_map(
                lambda leaf: Shape.of(leaf) if isinstance(leaf, torch.Tensor) else leaf,
                (arguments, options),
            )
            self.products[Product(operation, repr(call), call)] += 1
        return operation(*arguments, **options)


def products_of(work: Callable[[], Any]) -> Counter[Product]:
    """The matrix products and convolutions of a piece of work, with their number."""
    with ProductRecorder() as recorder:
        work()
    return recorder.products


def seconds_alone(
    products: Counter[Product], device: str = "cpu", iterations: int = 5
) -> float:
    """Seconds that the products take by themselves, one after another.

    Args:
        products: What `products_of` found.
        device: A torch device.
        iterations: Timed calls of each; the median counts.
    """
    stopwatch = Stopwatch.of(device)
    total = 0.0
    with torch.no_grad():
        for product, count in products.items():
            work = product.prepared(device)
            times = time_iterations(work, stopwatch, iterations=iterations, warmup=2)
            total += count * statistics.median(times)
    return total
