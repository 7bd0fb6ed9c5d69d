"""Statistics of one episode's signals, over finite values only."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def signal_statistics(name: str, values: npt.NDArray[np.float32]) -> dict[str, object]:
    """Return min, max, mean and standard deviation of each dimension.

    Parameters
    ----------
    name : str
        The signal.
    values : ndarray of float32, shape (N, D)
        Samples; NaN and infinite ones are left out and counted.

    Returns
    -------
    dict
        ``signal``, ``count`` (rows), ``num_not_finite`` (values), and four lists of D float64;
        a dimension without a finite value has NaN in each.
    """
    finite = np.isfinite(values)
    kept = np.where(finite, values, np.nan).astype(np.float64)
    is_empty = ~finite.any(axis=0) if len(values) else np.ones(values.shape[1], dtype=np.bool_)
    kept = np.where(is_empty, 0.0, kept) if len(kept) else np.zeros((1, values.shape[1]))
    numbers = {
        "min": np.nanmin(kept, axis=0),
        "max": np.nanmax(kept, axis=0),
        "mean": np.nanmean(kept, axis=0),
        "std": np.nanstd(kept, axis=0),
    }
    lists = {key: np.where(is_empty, np.nan, value).tolist() for key, value in numbers.items()}
    num_not_finite = int(finite.size - np.count_nonzero(finite))
    return {"signal": name, "count": len(values), "num_not_finite": num_not_finite, **lists}
