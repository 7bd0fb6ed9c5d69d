"""Which small deviation explains masks best: time, focal length, a joint's zero, or the place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.camera_fit import SAME_SIDE_PX, mean_iou, sampled
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
from robot_data_platform.spatial.episode_input import SpatialInput
from robot_data_platform.spatial.joint_hypotheses import arms_of
from robot_data_platform.spatial.projection import Pinhole
from robot_data_platform.spatial.usual_columns import finger_ends

SHARED = (TIME, JOINT)
"""Kinds that concern every camera."""
_STEPS = {EXTRINSIC: 1e-3, TIME: 5e-3, FOCAL: 5e-3, CENTRE: 0.5, JOINT: 5e-3}
"""Change by which slopes are told: rad and m, s, share, px, rad."""
_SIZE = {EXTRINSIC: 6, TIME: 1, FOCAL: 1, CENTRE: 2, JOINT: 1}
_HUBERS_PX = (8.0, 8.0, 8.0, 8.0, 6.0, 4.0, 3.0, 3.0)
"""Of the steps of a fit, one after the other."""
_TURNS = 3
"""Steps in which a camera is turned only."""
_ROBUST_PX = 4.0
_NUM_FITTED = 4
"""Groups that are fitted, of those that a first step helps."""
_ALIKE_IOU = 0.03
"""Overlaps that differ by less are no evidence."""
_POINTS_PER_FACT = 10
"""Neighbours on an outline err alike: so many points say as much as one."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FittedDeviation:
    """A group fitted to a camera's masks."""

    deviation: Deviation
    values: Float64Array
    """In the units of its kind: rotation vector and metres, seconds, share, px, rad."""
    spread: Float64Array
    """One standard deviation of each."""
    bic: float
    """Lower is better."""
    iou: float
    """Mean overlap with it applied."""


def continuous_causes(seen: MaskedCamera) -> list[FittedDeviation]:
    """Return every group of numbers fitted to a camera's masks, the best one first."""
    fits = [_fitted(seen, deviation) for deviation in _promising(seen)]
    return sorted((fit for fit in fits if fit is not None), key=lambda fit: fit.bic)


def unchanged_bic(seen: MaskedCamera) -> float:
    """Return the criterion of a camera with nothing changed."""
    residual, _ = _residual(seen, Deviation(kind=FOCAL), np.zeros(1), seen.declared)
    return _bic(residual, 0)


def _deviations(episode: SpatialInput) -> Iterator[Deviation]:
    yield from (Deviation(kind=kind) for kind in (EXTRINSIC, TIME, FOCAL, CENTRE))
    for arm in arms_of(episode.robot, episode.joints, finger_ends(episode.robot)):
        yield from (Deviation(kind=JOINT, joint=joint) for joint in arm)


def _promising(seen: MaskedCamera) -> list[Deviation]:
    """Return the groups that a first step helps most; the camera's place is always one."""
    gains = {}
    for deviation in _deviations(seen.episode):
        values = np.zeros(_SIZE[deviation.kind])
        residual, columns = _residual(seen, deviation, values, seen.declared)
        if len(residual) < 10 * len(values):
            return []
        step, _ = _solved(residual, columns, _HUBERS_PX[0])
        gains[deviation] = _bic(residual + columns @ step, len(values), _HUBERS_PX[0])
    best = sorted(gains, key=lambda deviation: gains[deviation])[:_NUM_FITTED]
    return [Deviation(kind=EXTRINSIC), *(d for d in best if d.kind != EXTRINSIC)]


def _fitted(seen: MaskedCamera, deviation: Deviation) -> FittedDeviation | None:
    values, drawn, way_px = np.zeros(_SIZE[deviation.kind]), seen.declared, 0.0
    for number, huber_px in enumerate(_HUBERS_PX):
        # A camera that only turns sees the same outline.
        if way_px > SAME_SIDE_PX and number >= _TURNS:
            drawn, way_px = drawn_with(seen, deviation, values), 0.0
        residual, columns = _residual(seen, deviation, values, drawn)
        if len(residual) < 10 * len(values):
            return None
        # Moved in all six ways from far off, a camera loses itself: it is turned first.
        free = 3 if deviation.kind == EXTRINSIC and number < _TURNS else len(values)
        step, _ = _solved(residual, columns[:, :free], huber_px)
        values = values + np.pad(step, (0, len(values) - free))
        way_px += float(np.abs(columns[:, :free] @ step).mean())
    drawn = drawn_with(seen, deviation, values)
    residual, columns = _residual(seen, deviation, values, drawn)
    if len(residual) < 10 * len(values):
        return None
    _, spread = _solved(residual, columns, _ROBUST_PX)
    return FittedDeviation(
        deviation=deviation,
        values=values,
        spread=spread,
        bic=_bic(residual, len(values)),
        iou=mean_iou(drawn.masks, seen.masks),
    )


def _solved(
    residual: Float64Array, columns: Float64Array, huber_px: float
) -> tuple[Float64Array, Float64Array]:
    """Return the step of a least-squares fit, and the deviation of what it leads to."""
    weight = np.minimum(1.0, huber_px / np.maximum(np.abs(residual), 1e-9))
    normal = columns.T @ (weight[:, None] * columns)
    normal += np.diag(1e-3 * np.diag(normal) + 1e-9)
    step = -np.linalg.solve(normal, columns.T @ (weight * residual))
    variance = float((weight * residual**2).mean()) * _POINTS_PER_FACT
    spread = np.sqrt(np.maximum(variance * np.diag(np.linalg.inv(normal)), 0))
    return np.asarray(step), np.asarray(spread)


def _bic(residual: Float64Array, num_values: int, robust_px: float = _ROBUST_PX) -> float:
    facts = max(len(residual) / _POINTS_PER_FACT, 2)
    cost = float(np.minimum(residual**2, robust_px**2).mean()) if len(residual) else robust_px**2
    return facts * float(np.log(cost + 0.05)) + num_values * float(np.log(facts))


def _residual(
    seen: MaskedCamera,
    deviation: Deviation,
    values: Float64Array,
    drawn: Drawing,
) -> tuple[Float64Array, Float64Array]:
    """Return how far outline points are from the masks' edges, (N,), and the slopes, (N, K).

    The points are those of ``drawn``, followed to where the values take them.
    """
    _, lens, links = applied(seen, deviation, values)
    at = followed(drawn, lens, links)
    found = [sampled(d, np.nan_to_num(px)) for d, px in zip(seen.distances, at, strict=True)]
    columns = []
    for place in range(len(values)):
        nudge = np.zeros(len(values))
        nudge[place] = _STEPS[deviation.kind]
        after = followed(drawn, *applied(seen, deviation, values + nudge)[1:])
        slopes = [(f[1] * (b - a)).sum(axis=1) for f, a, b in zip(found, at, after, strict=True)]
        columns.append(np.concatenate(slopes) / _STEPS[deviation.kind])
    residual = np.concatenate([distance for distance, _ in found])
    kept = _inside(np.concatenate(at), lens) & np.isfinite(columns).all(axis=0)
    return residual[kept], np.stack(columns, axis=1)[kept]


def _inside(pixels: Float64Array, lens: Pinhole) -> npt.NDArray[np.bool_]:
    with np.errstate(invalid="ignore"):
        last = [lens.width_px - 1, lens.height_px - 1]
        return np.asarray(((pixels >= 0) & (pixels <= last)).all(axis=1))


def refitted(seen: MaskedCamera) -> FittedDeviation | None:
    """Return the place of a camera fitted to its masks."""
    return _fitted(seen, Deviation(kind=EXTRINSIC))


def _own_choice(fits: Sequence[FittedDeviation]) -> FittedDeviation:
    """Return the best group of a camera's own numbers.

    Small shifts of camera and principal point look alike; cameras are moved, and lenses seldom.
    """
    best = next((f for f in fits if f.deviation.kind not in SHARED), fits[0])
    if best.deviation.kind == CENTRE:
        moved = (f for f in fits if f.deviation.kind == EXTRINSIC)
        return next((f for f in moved if f.iou >= best.iou - _ALIKE_IOU), best)
    return best


def shared_choice(
    fits_by_camera: Mapping[str, Sequence[FittedDeviation]],
) -> dict[str, FittedDeviation]:
    """Return the best group of each camera; one that concerns all where it serves them better."""
    own = {name: _own_choice(fits) for name, fits in fits_by_camera.items()}
    best, total = own, sum(fit.bic for fit in own.values())
    first = next(iter(fits_by_camera.values()))
    for candidate in (f.deviation for f in first if f.deviation.kind in SHARED):
        common = {
            name: next((f for f in fits if f.deviation == candidate), None)
            for name, fits in fits_by_camera.items()
        }
        known = {name: fit for name, fit in common.items() if fit is not None}
        if len(known) == len(own) and sum(fit.bic for fit in known.values()) < total:
            best, total = known, sum(fit.bic for fit in known.values())
    return best
