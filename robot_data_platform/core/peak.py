"""Where a sampled curve is highest, between its samples."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def peak_shift(values: npt.NDArray[np.float64], best: int) -> float:
    """Return how many samples beside its highest one a curve's peak is.

    Parameters
    ----------
    values : ndarray of float64, shape (N,)
        The curve, evenly sampled.
    best : int
        Index of the highest sample.

    Returns
    -------
    float
        -0.5 to 0.5, by the parabola through the sample and its neighbours; 0 at an end, and where
        there is no bend.

    Examples
    --------
    >>> peak_shift(np.array([0.0, 3.0, 4.0, 3.0]), 2)
    0.0
    >>> peak_shift(np.array([1.0, 4.0, 4.0]), 1)
    0.5
    """
    if not 0 < best < len(values) - 1:
        return 0.0
    before, at, after = values[best - 1 : best + 2].tolist()
    bend = before - 2 * at + after
    return float(np.clip((after - before) / (-2 * bend), -0.5, 0.5)) if bend < 0 else 0.0
