"""Where the heads of a quadratic encoding look, and how widely.

A head's score for the offset d = key - query (rows, columns) is the quadratic form
s(d) = t . (d1, d2, d1^2, d2^2, d1 d2) (Cordonnier et al., ICLR 2020, section 3.2).
The softmax over offsets is then a Gaussian on the grid, whose centre and covariance
follow from t alone. They are read from t, the scores as computed, and not from the
parameter called centre, since the authors' code (deviation D2) shifts the two apart.
"""

import numpy as np

_FLAT = 1e-9  # a precision below this spreads over more than any map


def centres_and_covariances(targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centre and covariance of exp(t . r), one a head.

    Args:
        targets: (..., 5), the factors t of (d1, d2, d1^2, d2^2, d1 d2).

    Returns:
        Centres (..., 2), in patches, row offset then column offset, and covariances
        (..., 2, 2). Both are NaN where the form is not peaked, that is where its
        precision has no inverse or is not positive.
    """
    targets = np.asarray(targets, dtype=np.float64)
    first, second, rows, columns, mixed = np.moveaxis(targets, -1, 0)
    linear = np.stack([first, second], axis=-1)
    precision = np.stack(
        [np.stack([-2 * rows, -mixed], -1), np.stack([-mixed, -2 * columns], -1)], -2
    )
    peaked = np.linalg.eigvalsh(precision)[..., 0] > _FLAT
    safe = np.where(peaked[..., None, None], precision, np.eye(2))
    covariances = np.linalg.inv(safe)
    centres = np.einsum("...ij,...j->...i", covariances, linear)
    centres[~peaked], covariances[~peaked] = np.nan, np.nan
    return centres, covariances
