"""Weights in few levels, and how far that can move them.

Probabilities span orders of magnitude, so the levels are even in their square roots:
with m the largest weight of the map and L the highest level,

    c = round(L sqrt(p / m)),    p' = m (c / L)^2,
    |p - p'| <= m (sqrt(p / m) / L + 1 / (4 L^2)), and never more than m / L.

Weights of either sign stand on an even scale around 0, with L = 2 l + 1 levels:

    c = round(l v / m) + l,      v' = m (c - l) / l,      |v - v'| <= m / (2 l).
"""

import numpy as np

# Highest levels, from fine to coarse; a byte holds any of them. Images are left out
# before levels get so coarse that they are packed for the first image alone.
FOR_ALL_IMAGES, FOR_THE_FIRST = (255, 63), (31, 15)
HALF_PRECISION = 2.0**-11  # what the arrays may differ by, of the weight


def in_levels(
    weights: np.ndarray, axes: tuple[int, ...], highest: int, *, signed: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Weights as levels, each map by its own largest magnitude.

    Args:
        weights: Any shape; none negative unless signed.
        axes: Of one map; the others count maps.
        highest: The highest level, L for square roots and 2 l for signed weights.
        signed: Whether the scale is even around 0.

    Returns:
        Largest magnitudes as float32, with axes of length 1, and levels as uint8.
    """
    largest = np.abs(weights).max(axis=axes, keepdims=True).astype(np.float32)
    shares = weights.astype(np.float32) / np.where(largest > 0, largest, 1)
    if signed:
        half = highest // 2
        return largest, (np.rint(half * shares) + half).astype(np.uint8)
    return largest, np.rint(highest * np.sqrt(shares)).astype(np.uint8)


def from_levels(
    largest: np.ndarray, levels: np.ndarray, highest: int, *, signed: bool = False
) -> np.ndarray:
    """What a page makes of levels: the inverse of `in_levels`, in double precision."""
    if signed:
        half = highest // 2
        return largest.astype(np.float64) * (levels.astype(np.float64) - half) / half
    return largest.astype(np.float64) * np.square(levels / highest)


def largest_fault(highest: int, *, signed: bool = False) -> float:
    """How far a weight may lie from the recorded one, as a share of its map's largest.

    That the arrays are in half precision is counted in.
    """
    step = 1 / (2 * (highest // 2)) if signed else 1 / highest
    return (step + HALF_PRECISION) * (1 + HALF_PRECISION)


def table_fault(scores: np.ndarray) -> float:
    """How far a probability from a table may lie from the exact one, relatively.

    Scores are in single precision: each differs by up to 2^-24 of itself, which the
    softmax meets twice, above and below the line.
    """
    return float(np.expm1(2 * np.abs(scores).max() * 2.0**-24)) + 2.0**-24
