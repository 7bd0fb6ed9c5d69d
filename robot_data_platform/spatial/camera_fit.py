"""By how much the projected robot has to move to fit its masks: the camera's misplacement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
_STAGES = ((6, 3, 8.0), (6, 6, 8.0), (4, 6, 3.0))
"""Steps, ways to move (turns first), and px beyond which residuals weigh as outliers (Huber)."""
MAX_FITTED_FRAMES = 8
"""More masks hardly make a fit better."""
_SETTLED_PX = 0.02
"""Steps that move the robot by less end a stage."""
SAME_SIDE_PX = 1.0
"""Motion within which the robot's outline stays one of the same points, and is not drawn anew."""
_MAX_DRAWINGS = 4
"""Of a stage."""
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

    def fitted(self, parent_from_cam: Float64Array) -> Float64Array:
        """Return the declared place of the camera, corrected."""
        return np.asarray(parent_from_cam @ np.linalg.inv(self.cam_from_declared_cam))


def fit_camera(
    mesh: RobotMesh,
    base_from_link: Float64Array,
    base_from_cam: Float64Array,
    lens: Pinhole,
    masks: npt.NDArray[np.bool_],
    declared: Silhouettes | None = None,
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
    declared : Silhouettes, optional
        Where it is projected as declared, if that is known.

    Notes
    -----
    Gauss-Newton on the distance from projected outline to mask edge. Points of an outline are
    followed for some steps before it is drawn anew. It turns the camera first:
    moved in all six ways from far off, it loses itself half of the time. Where no stage of it
    covers the masks better, the declared place stands, and the misplacement is 0.
    """
    distances = [signed_distance_px(mask) for mask in masks]

    def projected(pose: Float64Array) -> Silhouettes:
        return silhouettes(mesh, base_from_link, base_from_cam @ np.linalg.inv(pose), lens)

    declared = declared or projected(np.eye(4))
    if _num_usable(declared, masks) < MIN_FRAMES:
        return None
    candidates = [(np.eye(4), declared)]
    for stage in _STAGES:
        candidates.append(_after_stage(projected, distances, candidates[-1], stage))
    overlaps = [mean_iou(drawn.masks, masks) for _, drawn in candidates]
    best = int(np.argmax(overlaps))
    pose = candidates[best][0]
    misplacement = _misplacement_px(declared, pose, lens)
    return CameraFit(
        cam_from_declared_cam=pose,
        misplacement_px=misplacement,
        misplacement_mrad=1e3 * misplacement / lens.focal_px,
        iou_declared=overlaps[0],
        iou_fitted=overlaps[best],
    )


def _after_stage(
    projected: Callable[[Float64Array], Silhouettes],
    distances: Sequence[npt.NDArray[np.float32]],
    start: tuple[Float64Array, Silhouettes],
    stage: tuple[int, int, float],
) -> tuple[Float64Array, Silhouettes]:
    """Return cam_from_declared_cam after a stage, and what is seen from there."""
    pose, drawn = start
    for _ in range(_MAX_DRAWINGS):
        motion, moved_px = _followed(drawn, distances, stage)
        if moved_px < _SETTLED_PX:
            break
        pose = motion @ pose
        drawn = projected(pose)
        if moved_px < SAME_SIDE_PX:
            break
    return pose, drawn


def _followed(
    drawn: Silhouettes, distances: Sequence[npt.NDArray[np.float32]], stage: tuple[int, int, float]
) -> tuple[Float64Array, float]:
    """Return the motion that some steps with one outline come to, and its size in pixels."""
    steps, freedom, huber_px = stage
    outlines, motion, way_px = _outlines(drawn), np.eye(4), 0.0
    for _ in range(steps):
        moved = [moved_outline(points, motion, drawn.lens) for points in outlines]
        step, moved_px = _step(moved, distances, drawn.lens, freedom, huber_px)
        motion, way_px = step @ motion, way_px + moved_px
        if moved_px < _SETTLED_PX:
            break
    return motion, way_px


def moved_outline(points: Outline, motion: Float64Array, lens: Pinhole) -> Outline:
    """Return outline points that moved before the camera, those that left the picture left out.

    Parameters
    ----------
    points : Outline
        N points.
    motion : ndarray of float64, shape (4, 4) or (N, 4, 4)
        Of all points, or of each.
    lens : Pinhole
        Lens for the size of the picture.
    """
    xyz = points_cam_m(points, lens)
    after = (motion[..., :3, :3] @ xyz[:, :, None])[:, :, 0] + motion[..., :3, 3]
    pixels = lens.project(after)
    with np.errstate(invalid="ignore"):
        kept = ((pixels >= 0) & (pixels <= [lens.width_px - 1, lens.height_px - 1])).all(axis=1)
    return Outline(
        pixels=pixels[kept],
        normals=points.normals[kept],
        depth_m=after[kept, 2],
        labels=points.labels[kept],
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
    outlines: Sequence[Outline],
    distances: Sequence[npt.NDArray[np.float32]],
    lens: Pinhole,
    freedom: int,
    huber_px: float,
) -> tuple[Float64Array, float]:
    """Return the next small motion of the camera, and how far it moves the outline on average."""
    residuals, columns = [], []
    for points, distance in zip(outlines, distances, strict=True):
        residual, slope = sampled(distance, points.pixels)
        across = slope_across(points, slope)
        residuals.append(residual)
        columns.append(np.einsum("ni,nij->nj", across, pixel_motion(points, lens)))
    residual, jacobian = np.concatenate(residuals), np.concatenate(columns)[:, :freedom]
    if len(residual) < 4 * freedom:
        return np.eye(4), 0.0
    weight = np.minimum(1.0, huber_px / np.maximum(np.abs(residual), 1e-9))
    normal = jacobian.T @ (weight[:, None] * jacobian)
    normal += np.diag(_DAMPING * np.diag(normal) + 1e-9)
    change = np.zeros(6)
    change[:freedom] = -np.linalg.solve(normal, jacobian.T @ (weight * residual))
    return twist_motion(change), float(np.abs(jacobian @ change[:freedom]).mean())


def slope_across(points: Outline, slope: Float64Array) -> Float64Array:
    """Return the part of slopes, (N, 2), that is across the outline at its points.

    Notes
    -----
    Along an outline nothing can be told. Edges of masks are jagged, so that slopes have a part
    along it all the same, of noise; it would hold back whatever slides an outline along itself.
    """
    share = (slope * points.normals).sum(axis=1, keepdims=True)
    return np.asarray(share * points.normals)


def pixel_motion(points: Outline, lens: Pinhole) -> Float64Array:
    """Return how outline points move in the picture with a twist of the robot before the camera.

    Returns
    -------
    ndarray of float64, shape (N, 2, 6)
        Pixels per radian about, and per metre along, the camera's x, y and z.
    """
    xyz = points_cam_m(points, lens)
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


def points_cam_m(points: Outline, lens: Pinhole) -> Float64Array:
    """Return outline points before the camera, (N, 3)."""
    homogeneous = np.column_stack([points.pixels, np.ones(len(points.pixels))])
    return np.asarray(homogeneous @ np.linalg.inv(lens.intrinsics_px).T * points.depth_m[:, None])


def twist_motion(twist: Float64Array) -> Float64Array:
    """Return the rigid transform that turns by a rotation vector, then moves, from (6,)."""
    cv2 = import_spatial("cv2")
    motion = np.eye(4)
    motion[:3, :3] = cv2.Rodrigues(twist[:3])[0]
    motion[:3, 3] = twist[3:]
    return motion


def motion_twist(motion: Float64Array) -> Float64Array:
    """Return what `twist_motion` makes a rigid transform of, (6,)."""
    cv2 = import_spatial("cv2")
    return np.concatenate([cv2.Rodrigues(motion[:3, :3])[0][:, 0], motion[:3, 3]])


def sampled(
    distance: npt.NDArray[np.float32], pixels: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Return the distance at pixels (N, 2), between samples, (N,), and its slope, (N, 2)."""
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
        xyz = points_cam_m(points, lens)
        moved = lens.project(xyz @ motion[:3, :3].T + motion[:3, 3])
        ways.append(np.linalg.norm(moved - points.pixels, axis=1))
    return float(np.nanmean(np.concatenate(ways)))
