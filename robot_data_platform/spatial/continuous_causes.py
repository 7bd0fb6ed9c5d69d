"""Which small deviation explains masks best: time, focal length, a joint's zero, or the place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.camera_fit import mean_iou, points_cam_m, sampled, twist_motion
from robot_data_platform.spatial.camera_view import camera_view
from robot_data_platform.spatial.episode_input import CameraInput, SpatialInput
from robot_data_platform.spatial.joint_hypotheses import arms_of
from robot_data_platform.spatial.outline import Outline, outline
from robot_data_platform.spatial.overlap import signed_distance_px
from robot_data_platform.spatial.projection import Pinhole, transformed
from robot_data_platform.spatial.robot_mesh import robot_mesh
from robot_data_platform.spatial.silhouettes import Silhouettes, cam_from_links, silhouettes
from robot_data_platform.spatial.usual_columns import finger_ends

EXTRINSIC, TIME, FOCAL, CENTRE, JOINT = "extrinsic", "time", "focal", "principal_point", "joint"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """A group of numbers that may deviate together."""

    kind: str
    joint: int | None = None


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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MaskedCamera:
    """A camera with masks of the robot in some of its frames."""

    episode: SpatialInput
    camera: CameraInput
    parent_from_cam: Float64Array
    t_ns: npt.NDArray[np.int64]
    """(S,)."""
    lens: Pinhole
    """For the size of the masks."""
    masks: npt.NDArray[np.bool_]
    """(S, H, W)."""


def continuous_causes(seen: MaskedCamera) -> list[FittedDeviation]:
    """Return every group of numbers fitted to a camera's masks, the best one first."""
    distances = [signed_distance_px(mask) for mask in seen.masks]
    fits = [_fitted(seen, deviation, distances) for deviation in _promising(seen, distances)]
    return sorted((fit for fit in fits if fit is not None), key=lambda fit: fit.bic)


def unchanged_bic(seen: MaskedCamera) -> float:
    """Return the criterion of a camera with nothing changed."""
    distances = [signed_distance_px(mask) for mask in seen.masks]
    residual, _ = _residual(seen, Deviation(kind=FOCAL), np.zeros(1), distances)
    return _bic(residual, 0)


def applied(
    seen: MaskedCamera, deviation: Deviation, values: Float64Array
) -> tuple[Float64Array, Pinhole, Float64Array]:
    """Return a camera with a deviation applied: its place, its lens, and the links before it."""
    episode, lens, pose, t_ns = seen.episode, seen.lens, seen.parent_from_cam, seen.t_ns
    if deviation.kind == EXTRINSIC:
        pose = pose @ np.linalg.inv(twist_motion(values))
    elif deviation.kind == TIME:
        t_ns = t_ns - np.int64(round(1e9 * float(values[0])))
    elif deviation.joint is not None:
        joints = episode.joints.copy()
        joints[:, deviation.joint] += values[0]
        episode = replace(episode, joints=joints)
    else:
        lens = _other_lens(lens, deviation.kind, values)
    view = camera_view(episode, seen.camera, pose, t_ns)
    return pose, lens, cam_from_links(view.base_from_link, view.base_from_cam)


def _other_lens(lens: Pinhole, kind: str, values: Float64Array) -> Pinhole:
    intrinsics = lens.intrinsics_px.copy()
    if kind == FOCAL:
        intrinsics[[0, 1], [0, 1]] *= 1 + values[0]
    else:
        intrinsics[:2, 2] += values
    return replace(lens, intrinsics_px=intrinsics)


def _deviations(episode: SpatialInput) -> Iterator[Deviation]:
    yield from (Deviation(kind=kind) for kind in (EXTRINSIC, TIME, FOCAL, CENTRE))
    for arm in arms_of(episode.robot, episode.joints, finger_ends(episode.robot)):
        yield from (Deviation(kind=JOINT, joint=joint) for joint in arm)


def _promising(seen: MaskedCamera, distances: Sequence[npt.NDArray[np.float32]]) -> list[Deviation]:
    """Return the groups that a first step helps most; the camera's place is always one."""
    drawn = _drawn(seen, Deviation(kind=FOCAL), np.zeros(1))
    gains = {}
    for deviation in _deviations(seen.episode):
        values = np.zeros(_SIZE[deviation.kind])
        residual, columns = _residual(seen, deviation, values, distances, drawn)
        if len(residual) < 10 * len(values):
            return []
        step, _ = _solved(residual, columns, _HUBERS_PX[0])
        gains[deviation] = _bic(residual + columns @ step, len(values), _HUBERS_PX[0])
    best = sorted(gains, key=lambda deviation: gains[deviation])[:_NUM_FITTED]
    return [Deviation(kind=EXTRINSIC), *(d for d in best if d.kind != EXTRINSIC)]


def _fitted(
    seen: MaskedCamera, deviation: Deviation, distances: Sequence[npt.NDArray[np.float32]]
) -> FittedDeviation | None:
    values = np.zeros(_SIZE[deviation.kind])
    for number, huber_px in enumerate(_HUBERS_PX):
        residual, columns = _residual(seen, deviation, values, distances)
        if len(residual) < 10 * len(values):
            return None
        # Moved in all six ways from far off, a camera loses itself: it is turned first.
        free = 3 if deviation.kind == EXTRINSIC and number < _TURNS else len(values)
        step, _ = _solved(residual, columns[:, :free], huber_px)
        values = values + np.pad(step, (0, len(values) - free))
    residual, columns = _residual(seen, deviation, values, distances)
    if len(residual) < 10 * len(values):
        return None
    _, spread = _solved(residual, columns, _ROBUST_PX)
    return FittedDeviation(
        deviation=deviation,
        values=values,
        spread=spread,
        bic=_bic(residual, len(values)),
        iou=mean_iou(_drawn(seen, deviation, values)[0].masks, seen.masks),
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


def _drawn(
    seen: MaskedCamera, deviation: Deviation, values: Float64Array
) -> tuple[Silhouettes, Float64Array]:
    _, lens, cam_from_link = applied(seen, deviation, values)
    mesh = robot_mesh(seen.episode.robot)
    return silhouettes(mesh, cam_from_link, np.eye(4), lens), cam_from_link


def _residual(
    seen: MaskedCamera,
    deviation: Deviation,
    values: Float64Array,
    distances: Sequence[npt.NDArray[np.float32]],
    known: tuple[Silhouettes, Float64Array] | None = None,
) -> tuple[Float64Array, Float64Array]:
    """Return how far outline points are from the masks' edges, (N,), and the slopes, (N, K).

    ``known`` is what is drawn at these values, where it is known.
    """
    drawn, links = known or _drawn(seen, deviation, values)
    outlines = [outline(*frame) for frame in zip(drawn.labels, drawn.depth_m, strict=True)]
    found = [sampled(d, points.pixels) for d, points in zip(distances, outlines, strict=True)]
    columns = []
    for place in range(len(values)):
        nudge = np.zeros(len(values))
        nudge[place] = _STEPS[deviation.kind]
        _, lens, nudged = applied(seen, deviation, values + nudge)
        way = [
            _moved(points, drawn.lens, links[k], lens, nudged[k])
            for k, points in enumerate(outlines)
        ]
        slopes = [(f[1] * w).sum(axis=1) for f, w in zip(found, way, strict=True)]
        columns.append(np.concatenate(slopes) / _STEPS[deviation.kind])
    residual = np.concatenate([distance for distance, _ in found])
    kept = np.isfinite(residual) & np.isfinite(columns).all(axis=0)
    return residual[kept], np.stack(columns, axis=1)[kept]


def _moved(
    points: Outline, lens: Pinhole, links: Float64Array, other: Pinhole, moved_links: Float64Array
) -> Float64Array:
    """Return how outline points move in the picture when links and lens change, (N, 2) px."""
    if not len(points.pixels):
        return np.zeros((0, 2))
    motion = moved_links @ np.linalg.inv(links)
    xyz = points_cam_m(points, lens)
    after = transformed(motion[points.labels.astype(int) - 1], xyz[:, None])[:, 0]
    return np.asarray(other.project(after) - points.pixels)


def refitted(seen: MaskedCamera) -> FittedDeviation | None:
    """Return the place of a camera fitted to its masks."""
    distances = [signed_distance_px(mask) for mask in seen.masks]
    return _fitted(seen, Deviation(kind=EXTRINSIC), distances)


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
