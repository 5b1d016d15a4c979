"""A run between two epochs: everything that it needs to go on."""

import hashlib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn

from reattn.config.variants import Recipe
from reattn.training import checkpoints
from reattn.training.history import Epoch


@dataclass
class TrainingState:
    """Weights, optimiser and history after some epochs.

    Attributes:
        model: The model, on the device that trains.
        optimizer: Its optimiser.
        micro_batch: Images in memory at once.
        initial_weights: Digest of the weights before the first step, if known.
        history: One entry a finished epoch.
        sessions: One entry a process that trained: its first epoch and where it ran.
    """

    model: nn.Module
    optimizer: torch.optim.Optimizer
    micro_batch: int
    initial_weights: str | None = None
    history: list[Epoch] = field(default_factory=list)
    sessions: list[dict[str, Any]] = field(default_factory=list)

    @property
    def epoch(self) -> int:
        """How many epochs are finished."""
        return len(self.history)

    def save(self, path: Path, fingerprint: str) -> None:
        """Write the state, whole or not at all."""
        content = {
            "fingerprint": fingerprint,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "micro_batch": self.micro_batch,
            "history": [asdict(epoch) for epoch in self.history],
            "sessions": self.sessions,
        }
        checkpoints.save(path, content)

    def resume(self, path: Path, fingerprint: str) -> None:
        """Continue from a checkpoint, if a usable one is there.

        One that does not fit, such as one of other code, is set aside; one that was
        set aside while the settings were others is taken up again.
        """
        content = checkpoints.resume(path, fingerprint)
        if content and not self._fits(content):
            problem = f"{path} holds another model, optimiser or history than this code"
            checkpoints.set_aside(path, problem)
            content = None
        content = content or checkpoints.resume_set_aside(path, fingerprint)
        if content and self._fits(content):
            self._take(content)

    def _take(self, content: dict[str, Any]) -> None:
        self.model.load_state_dict(content["model"])
        self.optimizer.load_state_dict(content["optimizer"])
        self.micro_batch = content["micro_batch"]
        self.history = [Epoch(**values) for values in content["history"]]
        self.sessions = content["sessions"]

    def _fits(self, content: dict[str, Any]) -> bool:
        """Whether a checkpoint can be loaded; decided before anything is changed."""
        try:
            _ = [Epoch(**values) for values in content["history"]]
            return _shapes(content["model"]) == _shapes(self.model.state_dict()) and (
                _group_sizes(content["optimizer"])
                == _group_sizes(self.optimizer.state_dict())
            )
        except (AttributeError, KeyError, TypeError):
            return False


def weights_digest(model: nn.Module) -> str:
    """A digest of names and values: equal for models that start alike.

    Args:
        model: On any device.

    Returns:
        Sixteen hexadecimal digits.
    """
    digest = hashlib.sha256()
    for name, value in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(value.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()[:16]


def _shapes(state: dict[str, torch.Tensor]) -> dict[str, torch.Size]:
    return {name: value.shape for name, value in state.items()}


def _group_sizes(optimizer: dict[str, Any]) -> list[int]:
    return [len(group["params"]) for group in optimizer["param_groups"]]


def optimizer_of(model: nn.Module, recipe: Recipe) -> torch.optim.Optimizer:
    """The authors' optimiser: Nesterov momentum, weight decay on everything (D10)."""
    return torch.optim.SGD(
        model.parameters(),
        lr=recipe.learning_rate,
        momentum=recipe.momentum,
        nesterov=recipe.momentum > 0,
        weight_decay=recipe.weight_decay,
    )
