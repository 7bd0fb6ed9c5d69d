"""Windows around a row: seconds to steps, steps to rows of its episode, and what is padding."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from robot_data_platform.errors import ErrorKind, InvalidInputError

Int64Array = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

MAX_STEPS = 1 << 31
"""Steps that a window may reach: ``frame_index`` is int32, so no episode has more rows."""

NOMINAL_RATE_TOLERANCE = 0.01
"""Share by which a measured rate may differ from the whole number of Hz it stands for."""


def nominal_rate_hz(rate_hz: FloatArray) -> FloatArray:
    """Return the whole number of Hz that a measured rate stands for; the rate where none is near.

    Examples
    --------
    >>> nominal_rate_hz(np.array([99.7, 30.0, 12.5]))
    array([100. ,  30. ,  12.5])
    """
    whole = np.rint(rate_hz)
    return np.where(np.abs(whole - rate_hz) <= NOMINAL_RATE_TOLERANCE * rate_hz, whole, rate_hz)


def window_steps(
    delta_timestamps_s: Sequence[float], rate_hz: FloatArray, tolerance_s: float, key: str
) -> Int64Array:
    """Return the offsets of a window as whole rows, for rows of several rates.

    A window is on the grid of a rate where each offset is a whole number of row periods, at the
    rate as measured or at the nominal one: the clock of a 100 Hz robot may be measured as 99.7 Hz.

    Parameters
    ----------
    delta_timestamps_s : sequence of float, length K
        Offsets from the row, in seconds; negative = before it.
    rate_hz : ndarray of float64, shape (R,)
        Measured rows in a second.
    tolerance_s : float
        How far, in seconds, an offset may be from a whole number of row periods.
    key : str
        The item key the window is for; named in errors.

    Returns
    -------
    ndarray of int64, shape (R, K)
        The nearest whole number of rows to each offset.

    Raises
    ------
    InvalidInputError
        ``window-off-grid``: an offset is no multiple of the row period within the tolerance.
        ``invalid-argument``: the window is empty.

    Examples
    --------
    >>> window_steps([-0.1, 0.0, 1 / 30], np.array([30.0]), 1e-4, "action")
    array([[-3,  0,  1]])
    """
    delta_s = np.asarray(delta_timestamps_s, dtype=np.float64)
    if delta_s.ndim != 1 or not len(delta_s):
        raise InvalidInputError(
            f"The window of {key!r} in delta_timestamps has shape {delta_s.shape}: expected a "
            "list of one or more seconds. Leave the key out for the row alone.",
            kind=ErrorKind.INVALID_ARGUMENT,
            key=key,
        )
    measured, is_on_grid = _steps(delta_s, rate_hz, tolerance_s)
    nominal, is_on_nominal_grid = _steps(delta_s, nominal_rate_hz(rate_hz), tolerance_s)
    is_measured = is_on_grid.all(axis=1, keepdims=True)
    is_off = ~is_measured & ~is_on_nominal_grid
    if is_off.any():
        rate, delta = np.argwhere(is_off)[0]
        raise _off_grid(key, float(delta_s[delta]), float(rate_hz[rate]), tolerance_s)
    return np.where(is_measured, measured, nominal).astype(np.int64)


def _steps(
    delta_s: FloatArray, rate_hz: FloatArray, tolerance_s: float
) -> tuple[FloatArray, BoolArray]:
    steps = np.rint(delta_s * rate_hz[:, np.newaxis])  # (R, K)
    with np.errstate(invalid="ignore"):
        error_s = np.abs(steps / rate_hz[:, np.newaxis] - delta_s)
    return steps, (error_s <= tolerance_s) & (np.abs(steps) < MAX_STEPS)


def _off_grid(key: str, delta_s: float, rate_hz: float, tolerance_s: float) -> InvalidInputError:
    return InvalidInputError(
        f"The window of {key!r} in delta_timestamps asks for {delta_s:g} s: got "
        f"{delta_s * rate_hz:.3f} rows at {rate_hz:g} Hz, expected a multiple of "
        f"{1 / rate_hz:.6f} s within tolerance_s={tolerance_s:g}. Ask for a multiple, or raise "
        "tolerance_s to take the nearest row.",
        kind=ErrorKind.WINDOW_OFF_GRID,
        key=key,
        delta_s=delta_s,
        rate_hz=rate_hz,
        tolerance_s=tolerance_s,
    )


def clamp_window(
    row: Int64Array, start: Int64Array, stop: Int64Array, steps: Int64Array
) -> tuple[Int64Array, BoolArray]:
    """Return the rows of each window, held inside the episode, and which of them are padding.

    Parameters
    ----------
    row : ndarray of int64, shape (N,)
        The rows the windows are around.
    start, stop : ndarray of int64, shape (N,)
        First row of each row's episode, and the one after its last.
    steps : ndarray of int64, shape (N, K) or (K,)
        Offsets in rows.

    Returns
    -------
    rows : ndarray of int64, shape (N, K)
        ``start <= rows < stop``: an offset that leaves the episode gives its edge row.
    is_pad : ndarray of bool, shape (N, K)
        True where the offset left the episode.

    Examples
    --------
    >>> one = np.array([1]), np.array([0]), np.array([3])
    >>> rows, is_pad = clamp_window(*one, np.array([-2, 0, 1, 2]))
    >>> rows, is_pad
    (array([[0, 1, 2, 2]]), array([[ True, False, False,  True]]))
    """
    wanted = row[:, np.newaxis] + steps
    rows = np.clip(wanted, start[:, np.newaxis], stop[:, np.newaxis] - 1)
    return rows, rows != wanted
