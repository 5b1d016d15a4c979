"""Trains a run epoch by epoch, from wherever it stands to its end."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from reattn.config.runs import Run
from reattn.data.augment import augment
from reattn.training.accuracy import (
    authors_accuracy,
    log_probabilities,
    percent_correct,
)
from reattn.training.batches import Images
from reattn.training.history import Epoch
from reattn.training.progress import RunProgress
from reattn.training.randomness import derived_seed, generator_for, training_order
from reattn.training.schedule import learning_rate
from reattn.training.sets import Sets
from reattn.training.state import TrainingState
from reattn.training.steps import DivergenceError, Step


@dataclass
class Loop:
    """One run in training.

    Attributes:
        run: What to train.
        state: Where it stands; advanced in place.
        sets: Its images.
        checkpoint: Where the state is saved after every epoch.
        fingerprint: Of settings and data; a checkpoint with another is not resumed.
        autocast: Makes the context of the forward passes.
        on_epoch: Called after every epoch.
        provenance: Where this process runs, kept with the epochs that it trains.
    """

    run: Run
    state: TrainingState
    sets: Sets
    checkpoint: Path
    fingerprint: str
    autocast: Callable
    on_epoch: Callable[[Epoch], None]
    provenance: dict[str, Any]

    def train(self) -> None:
        """Run all epochs that are left.

        Raises:
            DivergenceError: the loss is not finite; the message says where it
                happened, and the checkpoint is that of the last epoch's end.
        """
        budget = self.run.budget
        with RunProgress(
            self.run.name,
            epochs=budget.last_epoch,
            done=self.state.epoch,
            epoch_images=self.epoch_images,
        ) as progress:
            first = self.state.epoch + 1
            if first <= budget.last_epoch:
                self.state.sessions.append({"first_epoch": first, **self.provenance})
            for epoch in range(first, budget.last_epoch + 1):
                line = self._epoch(epoch, progress)
                self._require_finite_weights(epoch)
                self.state.history.append(line)
                self.state.save(self.checkpoint, self.fingerprint)
                progress.epoch(line)
                self.on_epoch(line)

    @property
    def epoch_images(self) -> int:
        """Training images that an epoch shows."""
        return self.run.epoch_images(len(self.sets.train))

    def _require_finite_weights(self, epoch: int) -> None:
        """The last step of an epoch may break weights without breaking its loss."""
        for name, value in self.state.model.state_dict().items():
            if value.is_floating_point() and not value.isfinite().all():
                raise DivergenceError(f"{name} is not finite after epoch {epoch}")

    def _epoch(self, epoch: int, progress: RunProgress) -> Epoch:
        started = time.monotonic()
        rate = learning_rate(
            self.run.budget, self.run.variant.recipe.learning_rate, epoch
        )
        for group in self.state.optimizer.param_groups:
            group["lr"] = rate
        loss, accuracy = self._steps(epoch, progress)
        seconds = time.monotonic() - started
        return Epoch(
            epoch=epoch,
            learning_rate=rate,
            train_loss=loss,
            train_accuracy=accuracy,
            seconds=round(seconds, 3),
            **self._evaluations(epoch),
        )

    def _steps(self, epoch: int, progress: RunProgress) -> tuple[float, float]:
        """One pass over the epoch's images: mean loss, accuracy in percent."""
        run, images = self.run, self.sets.train
        order = training_order(run.seed, epoch, len(images), self.epoch_images)
        generator = generator_for(run.seed, "augmentation", epoch, images.pixels.device)
        torch.manual_seed(derived_seed(run.seed, "dropout", epoch))
        step = self._step()
        self.state.model.train()
        total, correct = 0.0, 0
        for number, first in enumerate(range(0, len(order), run.budget.batch), 1):
            pixels, labels = images.select(order[first : first + run.budget.batch])
            pixels = augment(pixels, run.variant.recipe.augmentation, generator)
            try:
                loss, right = step.take(images.normalised(pixels), labels)
            except DivergenceError as fault:
                raise DivergenceError(
                    f"{fault} in epoch {epoch}, step {number}"
                ) from None
            total, correct = total + loss * len(labels), correct + right
            progress.step(epoch, len(labels), loss)
        self.state.micro_batch = step.micro_batch
        return total / len(order), 100 * correct / len(order)

    def _step(self) -> Step:
        return Step(
            model=self.state.model,
            optimizer=self.state.optimizer,
            smoothing=self.run.variant.recipe.label_smoothing,
            micro_batch=self.state.micro_batch,
            autocast=self.autocast,
        )

    def _evaluations(self, epoch: int) -> dict[str, float | None]:
        if epoch not in self.run.budget.evaluation_epochs:
            return {
                "test_accuracy_eval": None,
                "test_accuracy_authors": None,
                "validation_accuracy": None,
            }
        seed = derived_seed(self.run.seed, "evaluation", epoch)
        model, batch = self.state.model, self.run.budget.batch
        with self.autocast():
            return {
                "test_accuracy_eval": self._accuracy(self.sets.evaluation, seed),
                "test_accuracy_authors": authors_accuracy(
                    model, self.sets.evaluation, batch, seed
                ),
                "validation_accuracy": self._accuracy(self.sets.validation, seed),
            }

    def _accuracy(self, images: Images | None, seed: int) -> float | None:
        if images is None:
            return None
        outputs = log_probabilities(self.state.model, images, seed)
        return percent_correct(outputs, images.labels.cpu().numpy())
