"""From recordings, one an image, to arrays over images."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from reattn.attention.arrays import Arrays
from reattn.attention.gaussians import centres_and_covariances
from reattn.models.recording import Recording


def grid_queries(
    pixels: np.ndarray, image_size: Sequence[int], grid: Sequence[int]
) -> np.ndarray:
    """The grid cells that query pixels lie in: floor(pixel * grid / image).

    Args:
        pixels: (q, 2), row and column in the image.
        image_size: Height and width.
        grid: Rows and columns.
    """
    return pixels * np.asarray(grid) // np.asarray(image_size)


def gather_maps(
    recordings: Sequence[Recording], pixels: np.ndarray, image_size: Sequence[int]
) -> Arrays:
    """Maps of queries, and averages over all queries, of attention over a grid."""
    queries = grid_queries(pixels, image_size, recordings[0][0].shape[2:4])
    arrays = {
        "queries": queries,
        "query_maps": _stacked(recordings, lambda call: _picked(call, queries)),
        "average_maps": _stacked(recordings, lambda call: call.mean((2, 3))),
    }
    if recordings[0].token_masses:
        masses = [[mass.to_token for mass in r.token_masses] for r in recordings]
        arrays |= {
            "class_mass": _stacked(masses, lambda mass: _picked(mass, queries)),
            "average_class_mass": _stacked(masses, lambda mass: mass.mean((2, 3))),
        }
    return arrays


def gather_local_weights(
    recordings: Sequence[Recording], pixels: np.ndarray, image_size: Sequence[int]
) -> Arrays:
    """Weights over 3x3 neighbourhoods, of queries and averaged over all pixels."""
    sizes = np.array([call.shape[2:4] for call in recordings[0]])
    arrays = {"map_sizes": sizes}
    for number, size in enumerate(sizes):
        queries = grid_queries(pixels, image_size, size)
        calls = torch.cat([recording[number] for recording in recordings])
        arrays[f"queries_{number}"] = queries
        arrays[f"query_weights_{number}"] = _numpy(_picked(calls, queries))
        arrays[f"average_weights_{number}"] = _numpy(calls.mean((2, 3)))
    return arrays


def gather_gaussians(model: nn.Module) -> Arrays:
    """Centres and covariances, if scores are quadratic forms of the offset.

    They are if attention modules have `targets()`, the factors of the form; a
    module that serves several layers is told of once a layer.
    """
    modules = [module for module in model.modules() if hasattr(module, "targets")]
    if not modules:
        return {}
    with torch.no_grad():
        targets = torch.stack([module.targets().double().cpu() for module in modules])
    passes = model.encoder.layers // len(modules)
    centers, covariances = centres_and_covariances(targets.numpy())
    return {
        "centers": centers.repeat(passes, axis=0).astype(np.float32),
        "covariances": covariances.repeat(passes, axis=0).astype(np.float32),
    }


def _picked(attention: Tensor, queries: np.ndarray) -> Tensor:
    """(n, heads, h, w, ...) at some positions: (n, heads, q, ...)."""
    rows, columns = torch.from_numpy(queries).unbind(1)
    return attention[:, :, rows, columns]


def _stacked(images: Sequence[Sequence[Tensor]], reduce) -> np.ndarray:
    """(n, layers, ...) of one list of layers an image, each reduced first."""
    layers = [torch.cat([reduce(layer) for layer in image]) for image in images]
    return _numpy(torch.stack(layers))


def _numpy(tensor: Tensor) -> np.ndarray:
    return tensor.float().cpu().numpy()
