"""The loss that every variant is trained with."""

import torch
from torch.nn import functional


def classification_loss(
    outputs: torch.Tensor, labels: torch.Tensor, smoothing: float
) -> torch.Tensor:
    """Cross-entropy summed over images, with the authors' label smoothing.

    The label gets 1 - s and each of the other K - 1 classes s / (K - 1). Torch
    spreads its smoothing over all K classes, label included, so s K / (K - 1) of
    it is the same target. Log-probabilities may be given for logits: log_softmax
    leaves them unchanged.

    Args:
        outputs: (images, classes), logits or log-probabilities.
        labels: (images,), class indices.
        smoothing: s, from 0 to below 1.

    Source: NishantPrabhu/Self-Attention-and-Convolutions@57f8244,
    SAN/utils/losses.py.
    """
    classes = outputs.shape[-1]
    return functional.cross_entropy(
        outputs.float(),
        labels,
        label_smoothing=smoothing * classes / (classes - 1),
        reduction="sum",
    )
