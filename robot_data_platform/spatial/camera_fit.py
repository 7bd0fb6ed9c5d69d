"""By how much the projected robot has to move to fit its masks: the camera's misplacement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.optional_packages import import_spatial
from robot_data_platform.spatial.outline import Outline, outline
from robot_data_platform.spatial.overlap import signed_distance_px
from robot_data_platform.spatial.projection import Pinhole
from robot_data_platform.spatial.robot_mesh import RobotMesh
from robot_data_platform.spatial.silhouettes import Silhouettes, silhouettes

MIN_FRAMES = 3
_TURN_STEPS, _FREE_STEPS, _FINE_STEPS = 6, 6, 4
_WIDE_PX, _FINE_PX = 8.0, 3.0
"""Residuals beyond these weigh as outliers do (Huber), while far off and when near."""
_SETTLED_PX = 0.02
"""Steps that move the robot by less end a stage."""
_DAMPING = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CameraFit:
    """The camera that fits the masks best, and how far the declared one is from it."""

    cam_from_declared_cam: Float64Array
    """(4, 4) takes points of the declared camera to the fitted one."""
    misplacement_px: float
    """Mean way that the robot's outline moves in the picture."""
    misplacement_mrad: float
    iou_declared: float
    """Mean overlap over the frames."""
    iou_fitted: float
    residual_px: float
    """Mean distance that remains."""

    def fitted(self, parent_from_cam: Float64Array) -> Float64Array:
        """Return the declared place of the camera, corrected."""
        return np.asarray(parent_from_cam @ np.linalg.inv(self.cam_from_declared_cam))


def fit_camera(
    mesh: RobotMesh,
    base_from_link: Float64Array,
    base_from_cam: Float64Array,
    lens: Pinhole,
    masks: npt.NDArray[np.bool_],
) -> CameraFit | None:
    """Return the place of a camera that fits masks best; None = nothing to fit.

    Parameters
    ----------
    mesh : RobotMesh
        The robot's surface.
    base_from_link : ndarray of float64, shape (S, L, 4, 4)
        Pose of each link in each frame.
    base_from_cam : ndarray of float64, shape (S, 4, 4)
        Declared place of the camera in each frame.
    lens : Pinhole
        Lens for the size of the masks.
    masks : ndarray of bool, shape (S, H, W)
        Where the robot is.

    Notes
    -----
    Gauss-Newton on the distance from projected outline to mask edge. It turns the camera first:
    moved in all six ways from far off, it loses itself half of the time.
    """
    distances = [signed_distance_px(mask) for mask in masks]
    poses = np.eye(4)

    def projected(pose: Float64Array) -> Silhouettes:
        return silhouettes(mesh, base_from_link, base_from_cam @ np.linalg.inv(pose), lens)

    declared = projected(poses)
    if _num_usable(declared, masks) < MIN_FRAMES:
        return None
    stages = (
        (_TURN_STEPS, 3, _WIDE_PX),
        (_FREE_STEPS, 6, _WIDE_PX),
        (_FINE_STEPS, 6, _FINE_PX),
    )
    for steps, freedom, huber_px in stages:
        for _ in range(steps):
            step, moved_px = _step(projected(poses), distances, lens, freedom, huber_px)
            poses = step @ poses
            if moved_px < _SETTLED_PX:
                break
    found = projected(poses)
    misplacement = _misplacement_px(declared, poses, lens)
    return CameraFit(
        cam_from_declared_cam=poses,
        misplacement_px=misplacement,
        misplacement_mrad=1e3 * misplacement / lens.focal_px,
        iou_declared=mean_iou(declared.masks, masks),
        iou_fitted=mean_iou(found.masks, masks),
        residual_px=_mean_residual_px(found, distances),
    )


def mean_iou(masks: npt.NDArray[np.bool_], others: npt.NDArray[np.bool_]) -> float:
    """Return the mean overlap of masks (S, H, W); frames without any pixel are left out."""
    union = (masks | others).sum(axis=(1, 2))
    shared = (masks & others).sum(axis=(1, 2))
    return float((shared[union > 0] / union[union > 0]).mean()) if union.any() else 0.0


def _num_usable(declared: Silhouettes, masks: npt.NDArray[np.bool_]) -> int:
    return int((declared.masks.any(axis=(1, 2)) & masks.any(axis=(1, 2))).sum())


def _outlines(found: Silhouettes) -> Sequence[Outline]:
    return [outline(*frame) for frame in zip(found.labels, found.depth_m, strict=True)]


def _step(
    found: Silhouettes,
    distances: Sequence[npt.NDArray[np.float32]],
    lens: Pinhole,
    freedom: int,
    huber_px: float,
) -> tuple[Float64Array, float]:
    """Return the next small motion of the camera, and how far it moves the outline on average."""
    residuals, columns = [], []
    for points, distance in zip(_outlines(found), distances, strict=True):
        residual, slope = _sampled(distance, points.pixels)
        residuals.append(residual)
        columns.append(np.einsum("ni,nij->nj", slope, pixel_motion(points, lens)))
    residual, jacobian = np.concatenate(residuals), np.concatenate(columns)[:, :freedom]
    if len(residual) < 4 * freedom:
        return np.eye(4), 0.0
    weight = np.minimum(1.0, huber_px / np.maximum(np.abs(residual), 1e-9))
    normal = jacobian.T @ (weight[:, None] * jacobian)
    normal += np.diag(_DAMPING * np.diag(normal) + 1e-9)
    change = np.zeros(6)
    change[:freedom] = -np.linalg.solve(normal, jacobian.T @ (weight * residual))
    return twist_motion(change), float(np.abs(jacobian @ change[:freedom]).mean())


def pixel_motion(points: Outline, lens: Pinhole) -> Float64Array:
    """Return how outline points move in the picture with a twist of the robot before the camera.

    Returns
    -------
    ndarray of float64, shape (N, 2, 6)
        Pixels per radian about, and per metre along, the camera's x, y and z.
    """
    xyz = _points_cam_m(points, lens)
    zero = np.zeros(len(xyz))
    x, y, z = xyz.T
    fx, skew, fy = lens.intrinsics_px[0, 0], lens.intrinsics_px[0, 1], lens.intrinsics_px[1, 1]
    by_xyz = np.stack(
        [
            np.stack([zero + fx / z, zero + skew / z, -(fx * x + skew * y) / z**2], axis=1),
            np.stack([zero, zero + fy / z, -fy * y / z**2], axis=1),
        ],
        axis=1,
    )
    about = np.stack(
        [
            np.stack([zero, z, -y], axis=1),
            np.stack([-z, zero, x], axis=1),
            np.stack([y, -x, zero], axis=1),
        ],
        axis=1,
    )
    return np.concatenate([by_xyz @ about, by_xyz], axis=2)


def _points_cam_m(points: Outline, lens: Pinhole) -> Float64Array:
    homogeneous = np.column_stack([points.pixels, np.ones(len(points.pixels))])
    return np.asarray(homogeneous @ np.linalg.inv(lens.intrinsics_px).T * points.depth_m[:, None])


def twist_motion(twist: Float64Array) -> Float64Array:
    """Return the rigid transform that turns by a rotation vector, then moves, from (6,)."""
    cv2 = import_spatial("cv2")
    motion = np.eye(4)
    motion[:3, :3] = cv2.Rodrigues(twist[:3])[0]
    motion[:3, 3] = twist[3:]
    return motion


def _sampled(
    distance: npt.NDArray[np.float32], pixels: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Return the distance at pixels (N,), between samples, and its slope (N, 2)."""
    height, width = distance.shape
    x = np.clip(pixels[:, 0], 0, width - 1.001)
    y = np.clip(pixels[:, 1], 0, height - 1.001)
    left, top = x.astype(np.int64), y.astype(np.int64)
    u, v = x - left, y - top
    corners = [distance[top + down, left + right] for down in (0, 1) for right in (0, 1)]
    a, b, c, d = (corner.astype(np.float64) for corner in corners)
    value = (a * (1 - u) + b * u) * (1 - v) + (c * (1 - u) + d * u) * v
    slope = np.stack([(b - a) * (1 - v) + (d - c) * v, (c - a) * (1 - u) + (d - b) * u], axis=1)
    return value, slope


def _misplacement_px(declared: Silhouettes, motion: Float64Array, lens: Pinhole) -> float:
    ways = []
    for points in _outlines(declared):
        xyz = _points_cam_m(points, lens)
        moved = lens.project(xyz @ motion[:3, :3].T + motion[:3, 3])
        ways.append(np.linalg.norm(moved - points.pixels, axis=1))
    return float(np.nanmean(np.concatenate(ways)))


def _mean_residual_px(found: Silhouettes, distances: Sequence[npt.NDArray[np.float32]]) -> float:
    pairs = zip(_outlines(found), distances, strict=True)
    residuals = [_sampled(distance, points.pixels)[0] for points, distance in pairs]
    return float(np.abs(np.concatenate(residuals)).mean())
