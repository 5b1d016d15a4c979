"""Attention of every query: what a reader can look into, position by position.

Attention that depends on the shift from query to key alone is kept as one table of
scores a head, in which every shift of the grid stands once; a softmax over the keys
inside of the grid gives the probabilities back. All other attention is kept in half
precision, which changes a weight by at most 2^-11 of itself, or by 2^-25 if it is
below 2^-14.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from reattn.attention.arrays import Arrays
from reattn.models.content_free import ContentFreeAttention
from reattn.models.recording import Recording

LARGEST_FAULT = 1e-5  # of a probability that a table gives back


def gather_every_map(recordings: Sequence[Recording], model: nn.Module) -> Arrays:
    """Every query's map: `shift_scores` where they suffice, else `all_maps`."""
    scores = shift_scores(model)
    if scores is not None and _suffice(scores, recordings):
        return {"shift_scores": scores.float().cpu().numpy()}
    arrays = {"all_maps": _halves(recordings)}
    if recordings[0].token_masses:
        masses = [[mass.to_token for mass in r.token_masses] for r in recordings]
        arrays["all_class_mass"] = _halves(masses)
    return arrays


def gather_every_weight(recordings: Sequence[Recording]) -> Arrays:
    """Every pixel's weights over its neighbourhood, call by call."""
    calls = range(len(recordings[0]))
    return {
        f"all_weights_{call}": _half(torch.cat([r[call] for r in recordings]))
        for call in calls
    }


def shift_scores(model: nn.Module) -> Tensor | None:
    """Scores by the shift of the key, (layers, heads, 2h - 1, 2w - 1).

    The largest of a head is 0. None: not every layer's scores depend on positions
    alone.
    """
    attending = [m for m in model.modules() if hasattr(m, "recorder")]
    if not all(isinstance(module, ContentFreeAttention) for module in attending):
        return None
    with torch.no_grad():
        tables = torch.stack([_by_shift(m.scores().double()) for m in attending])
    passes = model.encoder.layers // len(attending)
    return tables.repeat(passes, 1, 1, 1)


def probabilities_by_shift(scores: Tensor) -> Tensor:
    """The softmax over the keys inside of the grid, (..., h, w, h, w).

    Args:
        scores: (..., 2h - 1, 2w - 1) of `shift_scores`.
    """
    height, width = ((size + 1) // 2 for size in scores.shape[-2:])
    rows, columns = (
        torch.arange(size)[None, :] - torch.arange(size)[:, None] + size - 1
        for size in (height, width)
    )
    spread = scores[..., rows[:, None, :, None], columns[None, :, None, :]]
    return spread.flatten(-2).softmax(-1).unflatten(-1, (height, width))


def _by_shift(scores: Tensor) -> Tensor:
    """(heads, h, w, h, w) to (heads, 2h - 1, 2w - 1), from queries at corners."""
    starts, ends = [], []
    for size in scores.shape[1:3]:
        shifts = torch.arange(1 - size, size)
        start = torch.where(shifts < 0, size - 1, 0)
        starts.append(start)
        ends.append(start + shifts)
    (rows, columns), (key_rows, key_columns) = starts, ends
    table = scores[
        :, rows[:, None], columns[None], key_rows[:, None], key_columns[None]
    ]
    return table - table.amax((-2, -1), keepdim=True)


def _suffice(scores: Tensor, recordings: Sequence[Recording]) -> bool:
    """Whether a softmax of the table is what was recorded, for every image."""
    found = probabilities_by_shift(scores.float().double().cpu())
    return all(
        len(recording) == len(found)
        and all(
            call.shape[1:] == layer.shape
            and float((call[0].double().cpu() - layer).abs().max()) <= LARGEST_FAULT
            for call, layer in zip(recording, found, strict=True)
        )
        for recording in recordings
    )


def _halves(images: Sequence[Sequence[Tensor]]) -> np.ndarray:
    """(n, layers, ...) of one list of layers an image."""
    return _half(torch.stack([torch.cat(list(image)) for image in images]))


def _half(tensor: Tensor) -> np.ndarray:
    return tensor.half().cpu().numpy()
