"""What is kept of weights is theirs as they are, and is gone when they learn."""

import copy
import pickle
import sys
import threading
from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor, nn

from reattn.models.kept import Kept


class Doubled(nn.Module):
    """Twice a weight, and how often that was computed."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([1.0, 2.0]))
        self.register_buffer("shift", torch.zeros(2))
        self.kept = Kept()
        self.made = 0

    def forward(self) -> Tensor:
        return self.kept.get(self.make, [self.weight, self.shift])

    def make(self) -> Tensor:
        self.made += 1
        return 2 * self.weight + self.shift


@pytest.fixture
def module() -> Iterator[Doubled]:
    """One that has been read without gradients, in a test that has none."""
    module = Doubled()
    with torch.no_grad():
        module()
        yield module


def test_made_once(module: Doubled) -> None:
    """As long as nothing changes the very same tensor is handed out."""
    assert module() is module()
    assert module.made == 1


def changed_in_place(module: Doubled) -> None:
    module.weight.mul_(3)


def buffer_changed_in_place(module: Doubled) -> None:
    module.shift.add_(1)


def another_parameter(module: Doubled) -> None:
    module.weight = nn.Parameter(module.weight.detach() * 3)


def other_data(module: Doubled) -> None:
    module.weight.data = module.weight.data * 3


def loaded(module: Doubled) -> None:
    state = {"weight": torch.tensor([5.0, 6.0]), "shift": torch.ones(2)}
    module.load_state_dict(state)


def loaded_by_assignment(module: Doubled) -> None:
    state = {"weight": torch.tensor([5.0, 6.0]), "shift": torch.ones(2)}
    module.load_state_dict(state, assign=True)


def other_type(module: Doubled) -> None:
    module.double()


@pytest.mark.parametrize(
    "change",
    [
        *(changed_in_place, buffer_changed_in_place, another_parameter, other_data),
        *(loaded, loaded_by_assignment, other_type),
    ],
)
def test_made_anew(module: Doubled, change: Callable[[Doubled], None]) -> None:
    """Whatever is done to a source, what comes next is made of what it is now."""
    change(module)
    expected = 2 * module.weight + module.shift
    for _ in range(2):
        assert torch.equal(module(), expected)
        assert module().dtype == expected.dtype


def rounded(layer: nn.Module) -> None:
    layer.bfloat16().float()


def given_other_data(layer: nn.Module) -> None:
    values = layer.weight.data * 3
    layer.weight.data = torch.empty(0)
    layer.weight.data = values.clone()


@torch.no_grad()
@pytest.mark.parametrize("numbers", [1000, 3000, 1_000_000])
@pytest.mark.parametrize("change", [rounded, given_other_data])
def test_other_numbers_at_the_same_address(numbers: int, change: Callable) -> None:
    """Memory that a weight gave back may become its own again, with other numbers.

    The allocator decides whether it does, but often it does.
    """
    kept, layer = Kept(), nn.Linear(numbers, 1, bias=False)

    def make() -> Tensor:
        return 2 * layer.weight

    for _ in range(20):
        nn.init.constant_(layer.weight, 1 / 3)
        kept.get(make, [layer.weight])
        change(layer)
        assert torch.equal(kept.get(make, [layer.weight]), make())


def test_other_device(module: Doubled) -> None:
    """A module that moves takes nothing kept along."""
    module.to("meta")
    assert module().device.type == "meta"


def test_more_sources(module: Doubled) -> None:
    """A source that comes or goes counts as well."""
    weight, shift = module.weight, module.shift
    of_one = module.kept.get(lambda: weight + 1, [weight])
    of_two = module.kept.get(lambda: weight + 2, [weight, shift])
    again = module.kept.get(lambda: weight + 3, [weight])
    assert [each[0].item() for each in (of_one, of_two, again)] == [2, 3, 4]


def test_nothing_is_kept_while_gradients_are_enabled(module: Doubled) -> None:
    """Results then have a gradient, every time, and nothing survives."""
    with torch.enable_grad():
        first, second = module(), module()
        first.sum().backward()
    assert first is not second
    assert first.requires_grad
    assert module.weight.grad.tolist() == [2, 2]
    before = module.made
    assert not module().requires_grad
    assert module.made == before + 1


def test_inference_mode(module: Doubled) -> None:
    """Weights made in it have no version, so nothing is kept of them."""
    with torch.inference_mode():
        assert module().tolist() == [2, 4]
        inferred = Doubled()
        inferred()
        inferred.weight.mul_(2)
        assert inferred().tolist() == [4, 8]
    assert module().tolist() == [2, 4]


def test_transformed_functions(module: Doubled) -> None:
    """Weights of a batch of models have no address, so nothing is kept of them."""
    stacked = torch.tensor([[1.0, 2.0], [3.0, 4.0]])

    def call(weight: Tensor) -> Tensor:
        return torch.func.functional_call(module, {"weight": weight}, ())

    assert torch.func.vmap(call)(stacked).tolist() == [[2, 4], [6, 8]]
    assert module().tolist() == [2, 4]


def test_mixed_precision(module: Doubled) -> None:
    """Made in full precision, handed out in that of the products that read it."""
    module.weight.mul_(1 / 3)
    exact = module()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        lower = module()
    assert lower.dtype == torch.bfloat16
    assert torch.equal(lower, exact.bfloat16())
    assert torch.equal(module(), exact)
    assert module().dtype == torch.float32


def test_nested_tuples(module: Doubled) -> None:
    """What is kept may have parts."""
    weight = module.weight

    def make() -> tuple:
        return weight + 1, (weight + 2, None)

    with torch.autocast("cpu", dtype=torch.bfloat16):
        first, (second, nothing) = module.kept.get(make, [weight])
    assert first.dtype == second.dtype == torch.bfloat16
    assert nothing is None


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda module: pickle.loads(pickle.dumps(module))]
)
def test_no_part_of_copies_or_states(module: Doubled, copied: Callable) -> None:
    """A copy makes its own, and a checkpoint has nothing of it."""
    other = copied(module)
    assert list(module.state_dict()) == ["weight", "shift"]
    assert other().tolist() == [2, 4]
    assert other.made == module.made + 1
    assert other() is not module()


def test_threads_that_keep_and_forget_at_once() -> None:
    """Each gets its own: with gradients, without, in the other precision."""
    module, faults = Doubled(), []

    def read(gradients: bool, mixed: bool) -> None:
        with (
            torch.set_grad_enabled(gradients),
            torch.autocast("cpu", dtype=torch.bfloat16, enabled=mixed),
        ):
            for _ in range(3000):
                result = module()
                wanted = torch.bfloat16 if mixed else torch.float32
                if result is None or (not gradients and result.dtype != wanted):
                    faults.append((gradients, mixed, result))
                    return

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    kinds = [(False, False), (True, False), (False, True)]
    threads = [threading.Thread(target=read, args=kind) for kind in kinds]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not faults
