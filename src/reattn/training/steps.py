"""One optimiser step over a batch, in micro-batches that fit."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from reattn.errors import DeviceError
from reattn.models.dropout import one_dropout_mask
from reattn.training.loss import classification_loss

OUT_OF_MEMORY = (
    *("out of memory", "can't allocate memory", "bad_alloc", "STATUS_ALLOC_FAILED"),
)


class DivergenceError(Exception):
    """The loss is no longer finite."""


@dataclass
class Step:
    """What a step needs to know.

    Attributes:
        model: The model in training mode.
        optimizer: Its optimiser.
        smoothing: Label smoothing of the recipe.
        micro_batch: Images in memory at once; halved when memory runs out.
        autocast: Makes the context of the forward passes.
    """

    model: nn.Module
    optimizer: torch.optim.Optimizer
    smoothing: float
    micro_batch: int
    autocast: Callable

    def take(self, images: torch.Tensor, labels: torch.Tensor) -> tuple[float, int]:
        """Update the weights once; return the mean loss and the correct answers.

        The loss is the sum over all images divided by the full batch, whatever
        the micro-batch, so the gradient is that of one large batch. When memory
        runs out the micro-batch is halved and the step begins again from the
        state that it began from.

        Args:
            images: (batch, 3, height, width), normalised.
            labels: (batch,).

        Raises:
            DivergenceError: the loss is not finite; the weights are not updated.
            DeviceError: not even one image fits into memory.
        """
        while True:
            state = _State.of(self.model, images.device)
            try:
                loss, correct = self._accumulate(images, labels)
                break
            except (RuntimeError, MemoryError) as fault:
                if not is_out_of_memory(fault):
                    raise
            state.restore(self.model)
            self._halve()
        if not torch.isfinite(loss):
            raise DivergenceError(f"the loss is {loss.item()}")
        self.optimizer.step()
        return loss.item(), int(correct)

    def _accumulate(
        self, images: torch.Tensor, labels: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        self.optimizer.zero_grad(set_to_none=True)
        total = torch.zeros((), device=images.device)
        correct = torch.zeros((), dtype=torch.long, device=images.device)
        with one_dropout_mask(self.model):
            for pixels, targets in zip(
                images.split(self.micro_batch),
                labels.split(self.micro_batch),
                strict=True,
            ):
                with self.autocast():
                    outputs = self.model(pixels)
                loss = classification_loss(outputs, targets, self.smoothing)
                loss = loss / len(images)
                loss.backward()
                total += loss.detach()
                correct += (outputs.detach().argmax(dim=1) == targets).sum()
        return total, correct

    def _halve(self) -> None:
        if self.micro_batch == 1:
            raise DeviceError(
                "out of memory with one image at a time; use a device with more memory"
            )
        self.optimizer.zero_grad(set_to_none=True)
        self.micro_batch = (self.micro_batch + 1) // 2
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


def is_out_of_memory(fault: BaseException) -> bool:
    """Whether an error says that memory ran out, on a card or on the CPU."""
    if isinstance(fault, torch.OutOfMemoryError | MemoryError):
        return True
    return any(words in str(fault) for words in OUT_OF_MEMORY)


@dataclass(frozen=True)
class _State:
    """What a half-done step changes besides gradients."""

    buffers: dict[str, torch.Tensor]
    cpu_stream: torch.Tensor
    card_stream: torch.Tensor | None

    @classmethod
    def of(cls, model: nn.Module, device: torch.device) -> "_State":
        on_card = device.type == "cuda"
        return cls(
            buffers={name: value.clone() for name, value in model.named_buffers()},
            cpu_stream=torch.get_rng_state(),
            card_stream=torch.cuda.get_rng_state(device) if on_card else None,
        )

    def restore(self, model: nn.Module) -> None:
        with torch.no_grad():
            for name, value in model.named_buffers():
                value.copy_(self.buffers[name])
        torch.set_rng_state(self.cpu_stream)
        if self.card_stream is not None:
            torch.cuda.set_rng_state(self.card_stream)
