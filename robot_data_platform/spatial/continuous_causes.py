"""Which small deviation explains masks best: time, focal length, a joint's zero, or the place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.camera_fit import (
    SAME_SIDE_PX,
    fit_camera,
    mean_iou,
    motion_twist,
    sampled,
)
from robot_data_platform.spatial.camera_search import searched_motion
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
from robot_data_platform.spatial.robot_mesh import robot_mesh
from robot_data_platform.spatial.usual_columns import finger_ends

SHARED = (TIME, JOINT)
"""Kinds that concern every camera."""
_STEPS = {EXTRINSIC: 1e-3, TIME: 5e-3, FOCAL: 5e-3, CENTRE: 0.5, JOINT: 5e-3}
"""Change by which slopes are told: rad and m, s, share, px, rad."""
_SIZE = {EXTRINSIC: 6, TIME: 1, FOCAL: 1, CENTRE: 2, JOINT: 1}
_HUBERS_PX = (8.0, 8.0, 8.0, 8.0, 6.0, 4.0, 3.0, 3.0)
"""Of the steps of a fit, one after the other."""
_LAST_HUBERS_PX = (4.0, 3.0, 3.0)
"""Of the steps from a place that fits already."""
_FITTED_PX = 1.5
"""Mean distance of an outline from the edges of masks, up to which a place fits."""
_COARSE_M = 0.008
"""Of the robot's surface, where a place is searched for."""
_LARGEST = {
    EXTRINSIC: np.repeat([np.radians(20.0), 0.2], 3),
    TIME: np.array([0.5]),
    FOCAL: np.array([0.25]),
    CENTRE: np.array([80.0, 80.0]),
    JOINT: np.radians([25.0]),
}
"""In the units of `_STEPS`, pixels of pictures at most 320 wide. Deviations beyond are not small:
a fit that comes to one has lost itself."""
_ROBUST_PX = 4.0
_NUM_FITTED = 4
"""Groups that are fitted, of those that a first step helps."""
_ALIKE_IOU = 0.03
"""Overlaps that differ by less are no evidence."""
_ALIKE_PLACE_IOU = 0.02
"""Places whose overlaps differ by less fit as well as each other: masks are not better."""
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
    """Return groups of numbers that are fitted to a camera's masks and help, the best one first."""
    fits = [_fitted(seen, deviation) for deviation in _promising(seen)]
    helpful = (fit for fit in fits if fit is not None and _helps(seen, fit))
    return sorted(helpful, key=lambda fit: fit.bic)


def _helps(seen: MaskedCamera, fit: FittedDeviation) -> bool:
    """Return whether a fit covers the masks better than what is declared, and is a small one."""
    is_small = bool((np.abs(fit.values) <= _LARGEST[fit.deviation.kind]).all())
    return is_small and fit.iou > seen.declared_iou


def unchanged_bic(seen: MaskedCamera) -> float:
    """Return the criterion of a camera with nothing changed."""
    residual, _ = _residual(seen, Deviation(kind=FOCAL), np.zeros(1), seen.declared)
    return _bic(residual, 0, _num_points(seen))


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
        residual, columns = _residual(seen, deviation, values, seen.declared)
        if len(residual) < 10 * len(values):
            return []
        step, _ = _solved(residual, columns, _HUBERS_PX[0])
        after = residual + columns @ step
        gains[deviation] = _bic(after, len(values), len(residual), _HUBERS_PX[0])
    best = sorted(gains, key=lambda deviation: gains[deviation])[:_NUM_FITTED]
    return [Deviation(kind=EXTRINSIC), *(d for d in best if d.kind != EXTRINSIC)]


def _fitted(seen: MaskedCamera, deviation: Deviation) -> FittedDeviation | None:
    is_place = deviation.kind == EXTRINSIC
    size = _SIZE[deviation.kind]
    place = _place(seen) if is_place else None
    values, doubt = (place.twist, place.doubt) if place else (np.zeros(size), np.zeros(size))
    drawn, way_px = drawn_with(seen, deviation, values) if is_place else seen.declared, 0.0
    for huber_px in _LAST_HUBERS_PX if is_place else _HUBERS_PX:
        if way_px > SAME_SIDE_PX:
            drawn, way_px = drawn_with(seen, deviation, values), 0.0
        residual, columns = _residual(seen, deviation, values, drawn)
        if len(residual) < 10 * len(values):
            return None
        step, _ = _solved(residual, columns, huber_px)
        values = values + step
        way_px += float(np.abs(columns @ step).mean())
    return _told(seen, deviation, values, doubt)


def _told(
    seen: MaskedCamera, deviation: Deviation, values: Float64Array, doubt: Float64Array
) -> FittedDeviation | None:
    drawn = drawn_with(seen, deviation, values)
    residual, columns = _residual(seen, deviation, values, drawn)
    if len(residual) < 10 * len(values):
        return None
    _, spread = _solved(residual, columns, _ROBUST_PX)
    return FittedDeviation(
        deviation=deviation,
        values=values,
        spread=np.hypot(spread, doubt),
        bic=_bic(residual, len(values), _num_points(seen)),
        iou=mean_iou(drawn.masks, seen.masks),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Place:
    """A place that fits masks."""

    twist: Float64Array
    """(6,) from the declared one."""
    iou: float
    doubt: Float64Array
    """(6,) how far places are from it that fit as well."""


def _place(seen: MaskedCamera) -> _Place:
    """Return the place that fits best, searched for from two sides where none is near."""
    found = _place_from(seen, np.eye(4))
    if found is None:
        return _Place(twist=np.zeros(6), iou=0.0, doubt=np.zeros(6))
    if _distance_px(seen, found.twist) <= _FITTED_PX:
        return found
    searched = (_place_from(seen, _searched_motion(seen, side)) for side in (1.0, -1.0))
    places = [found, *(place for place in searched if place is not None)]
    best = max(places, key=lambda place: place.iou)
    alike = [place.twist for place in places if place.iou >= best.iou - _ALIKE_PLACE_IOU]
    return replace(best, doubt=np.abs(np.array(alike) - best.twist).max(axis=0))


def _place_from(seen: MaskedCamera, start: Float64Array) -> _Place | None:
    """Return the place that a fit comes to from cam_from_declared_cam, (4, 4)."""
    mesh, links = robot_mesh(seen.episode.robot), seen.base_from_link
    fit = fit_camera(mesh, links, seen.places @ np.linalg.inv(start), seen.lens, seen.masks)
    if fit is None:
        return None
    twist = motion_twist(fit.cam_from_declared_cam @ start)
    return _Place(twist=twist, iou=fit.iou_fitted, doubt=np.zeros(6))


def _searched_motion(seen: MaskedCamera, side: float) -> Float64Array:
    mesh = robot_mesh(seen.episode.robot, _COARSE_M)
    return searched_motion(mesh, seen.base_from_link, seen.places, seen.lens, seen.masks, side)


def _distance_px(seen: MaskedCamera, twist: Float64Array) -> float:
    """Return how far the outline from a place is from the masks' edges, on average."""
    place = Deviation(kind=EXTRINSIC)
    residual, _ = _residual(seen, place, twist, drawn_with(seen, place, twist))
    return float(np.abs(residual).mean()) if len(residual) else np.inf


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


def _bic(
    residual: Float64Array, num_values: int, num_points: int, robust_px: float = _ROBUST_PX
) -> float:
    """Return the criterion; the points are as many for each group, whatever leaves the picture."""
    facts = max(num_points / _POINTS_PER_FACT, 2)
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
