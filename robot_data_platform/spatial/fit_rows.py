"""Rows of a least-squares fit: outlines on edges of masks, and points on epipolar lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.background import Background
from robot_data_platform.spatial.camera_fit import SAME_SIDE_PX, sampled, slope_across
from robot_data_platform.spatial.deviation import (
    CENTRE,
    EXTRINSIC,
    FOCAL,
    JOINT,
    TIME,
    Deviation,
    Drawing,
    MaskedCamera,
    applied,
    drawn_with,
    followed,
)
from robot_data_platform.spatial.projection import Pinhole

POINTS_PER_FACT = 10
"""Neighbours on an outline err alike: so many points say as much as one."""
_STEPS = {EXTRINSIC: 1e-3, TIME: 5e-3, FOCAL: 5e-3, CENTRE: 0.5, JOINT: 5e-3}
"""Change by which slopes are told: rad and m, s, share, px, rad."""
_TRACK_WEIGHT = 6.0
"""Px of an outline that a px of a followed point counts for. It errs by half as much, and alone:
2 times the root of `POINTS_PER_FACT`."""
_MIN_POINTS_PER_VALUE = 10


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """N residuals and how they change with K values."""

    residual: Float64Array
    """(N,) px; those of outline points come first."""
    columns: Float64Array
    """(N, K)."""
    num_outline: int
    """How many are of outline points."""

    @property
    def is_few(self) -> bool:
        """Whether outline points are too few to fit anything."""
        return self.num_outline < _MIN_POINTS_PER_VALUE * len(self.columns.T)

    @property
    def outline_px(self) -> Float64Array:
        """Distance of outline points from the edges of masks."""
        return self.residual[: self.num_outline]

    def way_px(self, step: Float64Array) -> float:
        """Return how far a step, (K,), moves the outline on average."""
        return float(np.abs(self.columns[: self.num_outline] @ step).mean())

    def solved(self, huber_px: float) -> tuple[Float64Array, Float64Array]:
        """Return the step of a fit, (K,), and one standard deviation of what it leads to."""
        residual, columns = self.residual, self.columns
        weight = np.minimum(1.0, huber_px / np.maximum(np.abs(residual), 1e-9))
        normal = columns.T @ (weight[:, None] * columns)
        normal += np.diag(1e-3 * np.diag(normal) + 1e-9)
        step = -np.linalg.solve(normal, columns.T @ (weight * residual))
        variance = float((weight * residual**2).mean()) * POINTS_PER_FACT
        spread = np.sqrt(np.maximum(variance * np.diag(np.linalg.inv(normal)), 0))
        return np.asarray(step), np.asarray(spread)


def fit_rows(
    seen: MaskedCamera, deviation: Deviation, values: Float64Array, drawn: Drawing
) -> Rows:
    """Return the rows of a fit of some values of a deviation.

    The outline's points are those of ``drawn``, followed to where the values take them. For a
    place there are also those of the background, where it is known.
    """
    rows = _outline_rows(seen, deviation, values, drawn)
    if deviation.kind != EXTRINSIC or seen.background is None:
        return rows
    return _with_background(rows, seen, seen.background, values)


def descended(
    seen: MaskedCamera,
    deviation: Deviation,
    start: Float64Array,
    hubers_px: Sequence[float],
    same_side_px: float = SAME_SIDE_PX,
) -> Float64Array | None:
    """Return the values that Gauss-Newton steps come to; None = outline points are too few.

    Parameters
    ----------
    seen : MaskedCamera
        The camera.
    deviation : Deviation
        What deviates.
    start : ndarray of float64, shape (K,)
        Values to begin with.
    hubers_px : sequence of float
        Residual beyond which rows weigh as outliers, of each step.
    same_side_px : float
        Motion within which the outline is followed and not drawn anew.
    """
    values, way_px = start, 0.0
    drawn = drawn_with(seen, deviation, values) if values.any() else seen.declared
    for huber_px in hubers_px:
        if way_px > same_side_px:
            drawn, way_px = drawn_with(seen, deviation, values), 0.0
        rows = fit_rows(seen, deviation, values, drawn)
        if rows.is_few:
            return None
        step, _ = rows.solved(huber_px)
        values = values + step
        way_px += rows.way_px(step)
    return values


def _outline_rows(
    seen: MaskedCamera, deviation: Deviation, values: Float64Array, drawn: Drawing
) -> Rows:
    _, lens, links = applied(seen, deviation, values)
    at = followed(drawn, lens, links)
    found = [sampled(d, np.nan_to_num(px)) for d, px in zip(seen.distances, at, strict=True)]
    across = [slope_across(o, f[1]) for o, f in zip(drawn.outlines, found, strict=True)]
    columns = []
    for nudge in _nudges(deviation.kind, len(values)):
        after = followed(drawn, *applied(seen, deviation, values + nudge)[1:])
        slopes = [(s * (b - a)).sum(axis=1) for s, a, b in zip(across, at, after, strict=True)]
        columns.append(np.concatenate(slopes) / _STEPS[deviation.kind])
    kept = _inside(np.concatenate(at), lens) & np.isfinite(columns).all(axis=0)
    return Rows(
        residual=np.concatenate([distance for distance, _ in found])[kept],
        columns=np.stack(columns, axis=1)[kept],
        num_outline=int(kept.sum()),
    )


def _with_background(
    rows: Rows, seen: MaskedCamera, background: Background, twist: Float64Array
) -> Rows:
    at = background.offsets_px(seen.moved(twist))
    nudged = (background.offsets_px(seen.moved(twist + nudge)) for nudge in _nudges(EXTRINSIC, 6))
    slopes = [(after - at) / _STEPS[EXTRINSIC] for after in nudged]
    return Rows(
        residual=np.concatenate([rows.residual, _TRACK_WEIGHT * at]),
        columns=np.vstack([rows.columns, _TRACK_WEIGHT * np.stack(slopes, axis=1)]),
        num_outline=rows.num_outline,
    )


def _nudges(kind: str, size: int) -> Float64Array:
    return np.asarray(_STEPS[kind] * np.eye(size))


def _inside(pixels: Float64Array, lens: Pinhole) -> npt.NDArray[np.bool_]:
    with np.errstate(invalid="ignore"):
        last = [lens.width_px - 1, lens.height_px - 1]
        return np.asarray(((pixels >= 0) & (pixels <= last)).all(axis=1))
