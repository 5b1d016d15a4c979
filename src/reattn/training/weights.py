"""Trained weights, read back."""

from torch import nn

from reattn.config.runs import Run
from reattn.errors import CheckpointError
from reattn.models.build import build_model
from reattn.training import checkpoints
from reattn.training.accuracy import log_probabilities, percent_correct
from reattn.training.devices import autocast_for, use_device
from reattn.training.randomness import derived_seed
from reattn.training.sets import open_sets


def load_weights(run: Run, image_size: tuple[int, int], classes: int) -> nn.Module:
    """A run's model with its final weights, on the CPU, in eval mode.

    Args:
        run: A finished run.
        image_size: Height and width of its images, in pixels.
        classes: Classes of its data.

    Raises:
        CheckpointError: model.pt is missing, torn, empty or of another model.
    """
    path = run.folder / "model.pt"
    if not path.exists():
        raise CheckpointError(f"{path} is missing. Train {run.name} first.")
    weights = checkpoints.load(path)["model"]
    if not weights:
        raise CheckpointError(
            f"{path} holds no weights, since {run.name} failed before it had any. Its "
            "status.json says why; train it again."
        )
    model = build_model(run.variant, image_size=image_size, num_classes=classes)
    try:
        model.load_state_dict(weights)
    except (AttributeError, TypeError, RuntimeError) as fault:
        problem = " ".join(str(fault).split())[:200]
        raise CheckpointError(
            f"{path} holds the weights of another model: {problem} Train {run.name} "
            "again."
        ) from None
    return model.eval()


def evaluate_run(run: Run) -> float:
    """Test accuracy of a run's weights in eval mode, in percent.

    Raises:
        CheckpointError: there are no usable weights.
        DataError: the data is not prepared.
    """
    device = use_device(run.study.training)
    sets = open_sets(run, device)
    size = tuple(sets.test.pixels.shape[-2:])
    model = load_weights(run, size, len(sets.dataset.classes)).to(device)
    with autocast_for(run.study.training, device)():
        outputs = log_probabilities(model, sets.test, derived_seed(run.seed, "test"))
    return percent_correct(outputs, sets.test.labels.cpu().numpy())
