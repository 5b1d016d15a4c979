"""How long a run trains, and when it is evaluated."""

from dataclasses import dataclass

from reattn.config.studies import TrainingSettings
from reattn.config.variants import Recipe

EVALUATION_INTERVAL = 10  # the authors evaluate after epochs 1, 11, 21, ...


@dataclass(frozen=True)
class Budget:
    """The schedule of one run.

    Attributes:
        epochs: E of the learning-rate formula; E + 1 epochs are run.
        warmup_epochs: W of the formula.
        cosine_epochs: Length of the cosine that follows the warm-up.
        batch: Images a step.
        evaluation_epochs: Epochs after which the authors' protocol evaluates.
    """

    epochs: int
    warmup_epochs: int
    cosine_epochs: int
    batch: int
    evaluation_epochs: tuple[int, ...]

    @property
    def last_epoch(self) -> int:
        """The authors run one epoch more than the schedule has (D16)."""
        return self.epochs + 1


def budget_of(recipe: Recipe, training: TrainingSettings) -> Budget:
    """The recipe's schedule, or the same shape over the study's epochs.

    With N epochs in place of the recipe's E, the warm-up W becomes
    max(1, round(W N / E)) and evaluations keep their place as fractions of E.
    """
    batch = recipe.batch if training.batch == "recipe" else training.batch
    evaluations = range(1, recipe.epochs + 2, EVALUATION_INTERVAL)
    if training.epochs == "recipe":
        return Budget(
            epochs=recipe.epochs,
            warmup_epochs=recipe.warmup_epochs,
            cosine_epochs=recipe.epochs - recipe.warmup_epochs,
            batch=batch,
            evaluation_epochs=tuple(sorted({*evaluations, recipe.epochs + 1})),
        )
    return _scaled(recipe, training.epochs, batch, evaluations)


def _scaled(recipe: Recipe, epochs: int, batch: int, evaluations: range) -> Budget:
    """The recipe's shape over another number of epochs.

    The recipe's cosine is at zero two epochs before the end and has begun to rise
    again by then (D16), by 0.01 % of the peak at 300 epochs but by all of it at 3.
    A scaled schedule reaches zero just after its last epoch instead.
    """
    scale = epochs / recipe.epochs
    warmup = max(1, round(recipe.warmup_epochs * scale))
    scaled = {1 + round((epoch - 1) * scale) for epoch in evaluations}
    return Budget(
        epochs=epochs,
        warmup_epochs=warmup,
        cosine_epochs=epochs + 3 - warmup,
        batch=batch,
        evaluation_epochs=tuple(sorted(scaled | {epochs + 1})),
    )
