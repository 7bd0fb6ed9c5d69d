"""Which small deviation explains masks best: time, focal length, a joint's zero, or the place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.camera_fit import mean_iou
from robot_data_platform.spatial.deviation import (
    CENTRE,
    EXTRINSIC,
    FOCAL,
    JOINT,
    TIME,
    Deviation,
    MaskedCamera,
    drawn_with,
)
from robot_data_platform.spatial.episode_input import SpatialInput
from robot_data_platform.spatial.fit_rows import POINTS_PER_FACT, descended, fit_rows
from robot_data_platform.spatial.joint_hypotheses import arms_of
from robot_data_platform.spatial.place_fit import PLACE, FittedPlace, fitted_place
from robot_data_platform.spatial.usual_columns import finger_ends

SHARED = (TIME, JOINT)
"""Kinds that concern every camera."""
_SIZE = {EXTRINSIC: 6, TIME: 1, FOCAL: 1, CENTRE: 2, JOINT: 1}
_HUBERS_PX = (8.0, 8.0, 8.0, 8.0, 6.0, 4.0, 3.0, 3.0)
"""Of the steps of a fit, one after the other."""
_LARGEST = {
    EXTRINSIC: np.repeat([np.radians(20.0), 0.2], 3),
    TIME: np.array([0.5]),
    FOCAL: np.array([0.25]),
    CENTRE: np.array([80.0, 80.0]),
    JOINT: np.radians([25.0]),
}
"""Rad and m, s, share, px of pictures at most 320 wide, rad. Deviations beyond are not small: a fit
that comes to one has lost itself."""
_ROBUST_PX = 4.0
_NUM_FITTED = 4
"""Groups that are fitted, of those that a first step helps."""
_ALIKE_IOU = 0.03
"""Overlaps that differ by less are no evidence."""


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


def continuous_causes(
    seen: MaskedCamera, place: FittedPlace | None = None
) -> list[FittedDeviation]:
    """Return groups of numbers that are fitted to a camera's masks and help, the best one first.

    Parameters
    ----------
    seen : MaskedCamera
        The camera.
    place : FittedPlace, optional
        What its place is fitted to, where that is known.
    """
    fits = [_fitted(seen, deviation, place) for deviation in _promising(seen)]
    helpful = (fit for fit in fits if fit is not None and _helps(seen, fit))
    return sorted(helpful, key=lambda fit: fit.bic)


def _helps(seen: MaskedCamera, fit: FittedDeviation) -> bool:
    """Return whether a fit covers the masks better than what is declared, and is a small one."""
    is_small = bool((np.abs(fit.values) <= _LARGEST[fit.deviation.kind]).all())
    return is_small and fit.iou > seen.declared_iou


def unchanged_bic(seen: MaskedCamera) -> float:
    """Return the criterion of a camera with nothing changed."""
    rows = fit_rows(seen, Deviation(kind=FOCAL), np.zeros(1), seen.declared)
    return _bic(rows.outline_px, 0, _num_points(seen))


def _num_points(seen: MaskedCamera) -> int:
    return sum(len(points.pixels) for points in seen.declared.outlines)


def _deviations(episode: SpatialInput) -> Iterator[Deviation]:
    yield from (Deviation(kind=kind) for kind in (EXTRINSIC, TIME, FOCAL, CENTRE))
    for arm in arms_of(episode.robot, episode.joints, finger_ends(episode.robot)):
        yield from (Deviation(kind=JOINT, joint=joint) for joint in arm)


def _promising(seen: MaskedCamera) -> list[Deviation]:
    """Return the groups that a first step helps most; the camera's place is always one."""
    gains = {}
    for deviation in _deviations(seen.episode):
        values = np.zeros(_SIZE[deviation.kind])
        rows = fit_rows(seen, deviation, values, seen.declared)
        if rows.is_few:
            return []
        step, _ = rows.solved(_HUBERS_PX[0])
        after = (rows.residual + rows.columns @ step)[: rows.num_outline]
        gains[deviation] = _bic(after, len(values), rows.num_outline, _HUBERS_PX[0])
    best = sorted(gains, key=lambda deviation: gains[deviation])[:_NUM_FITTED]
    return [PLACE, *(d for d in best if d != PLACE)]


def _fitted(
    seen: MaskedCamera, deviation: Deviation, place: FittedPlace | None = None
) -> FittedDeviation | None:
    if deviation == PLACE:
        place = place or fitted_place(seen)
        return None if place is None else _told(seen, deviation, place.twist, place.doubt)
    values = descended(seen, deviation, np.zeros(_SIZE[deviation.kind]), _HUBERS_PX)
    return None if values is None else _told(seen, deviation, values, np.zeros(len(values)))


def _told(
    seen: MaskedCamera, deviation: Deviation, values: Float64Array, doubt: Float64Array
) -> FittedDeviation | None:
    drawn = drawn_with(seen, deviation, values)
    rows = fit_rows(seen, deviation, values, drawn)
    if rows.is_few:
        return None
    _, spread = rows.solved(_ROBUST_PX)
    return FittedDeviation(
        deviation=deviation,
        values=values,
        spread=np.hypot(spread, doubt),
        bic=_bic(rows.outline_px, len(values), _num_points(seen)),
        iou=mean_iou(drawn.masks, seen.masks),
    )


def _bic(
    residual: Float64Array, num_values: int, num_points: int, robust_px: float = _ROBUST_PX
) -> float:
    """Return the criterion; the points are as many for each group, whatever leaves the picture."""
    facts = max(num_points / POINTS_PER_FACT, 2)
    cost = float(np.minimum(residual**2, robust_px**2).mean()) if len(residual) else robust_px**2
    return facts * float(np.log(cost + 0.05)) + num_values * float(np.log(facts))


def refitted(seen: MaskedCamera) -> FittedDeviation | None:
    """Return the place of a camera fitted to its masks."""
    return _fitted(seen, PLACE)


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
