"""Accuracy in eval mode, and by the authors' protocol."""

import copy
import logging
from collections.abc import Iterator

import numpy as np
import torch
from torch import nn

from reattn.costs.memory import EVALUATION_BATCH, halvings
from reattn.errors import DeviceError
from reattn.training.batches import Images
from reattn.training.randomness import own_randomness
from reattn.training.steps import is_out_of_memory

log = logging.getLogger(__name__)


def log_probabilities(model: nn.Module, images: Images, seed: int) -> np.ndarray:
    """Log-probabilities of all images in eval mode.

    Args:
        model: Any model; its mode is put back afterwards.
        images: The images.
        seed: Of ViT's class token, which is fresh noise at every forward.

    Returns:
        (images, classes), float32.
    """
    was_training = model.training
    model.eval()
    try:
        outputs = _in_batches_that_fit(model, images, seed)
    finally:
        model.train(was_training)
    return torch.cat(outputs).log_softmax(dim=-1).cpu().numpy()


def _in_batches_that_fit(
    model: nn.Module, images: Images, seed: int
) -> list[torch.Tensor]:
    """All outputs; in eval mode the batch changes nothing, so it may be halved."""
    for batch in halvings(EVALUATION_BATCH):
        try:
            return list(_outputs(model, images, batch, seed))
        except (RuntimeError, MemoryError) as fault:
            if not is_out_of_memory(fault):
                raise
    raise DeviceError("out of memory when evaluating one image at a time")


def _outputs(
    model: nn.Module, images: Images, batch: int, seed: int
) -> Iterator[torch.Tensor]:
    with own_randomness(seed), torch.no_grad():
        for pixels, _ in images.batches(np.arange(len(images)), batch):
            yield model(pixels).float()


def percent_correct(log_probability: np.ndarray, labels: np.ndarray) -> float:
    """Accuracy in percent."""
    return float(100 * np.mean(log_probability.argmax(axis=1) == labels))


def authors_accuracy(
    model: nn.Module, images: Images, batch: int, seed: int
) -> float | None:
    """Accuracy in training mode, as the authors evaluate (D3), in percent.

    Attention dropout is active and batch normalisation uses the statistics of
    each test batch. Accuracy is the mean over batches, so that a smaller last
    batch weighs more than its share (D17). A copy of the model is evaluated:
    weights, buffers and the training's random streams stay as they are.

    Args:
        model: The model in training.
        images: Test images.
        batch: The recipe's batch.
        seed: Of this evaluation's dropout and class token.

    Returns:
        The accuracy, or None where a batch does not fit into memory: split, it
        would have other statistics.

    Source: NishantPrabhu/Self-Attention-and-Convolutions@57f8244,
    main/main.py:505-513 and main/utils/common.py:60-67.
    """
    try:
        twin = copy.deepcopy(model).train()
        outputs = list(_outputs(twin, images, batch, seed))
    except (RuntimeError, MemoryError) as fault:
        if not is_out_of_memory(fault):
            raise
        log.warning("the authors' evaluation does not fit into memory: %s", fault)
        return None
    labels = (labels for _, labels in images.batches(np.arange(len(images)), batch))
    shares = [
        (output.argmax(dim=1) == label).double().mean().item()
        for output, label in zip(outputs, labels, strict=True)
    ]
    return 100 * sum(shares) / len(shares)
