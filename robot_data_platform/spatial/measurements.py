"""What was measured of a camera in an episode, as plain values; None = not measured, never 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from robot_data_platform.spatial.mask_sources import MaskSource


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameMeasurements:
    """One sampled frame."""

    frame_index: int
    t_ns: int
    visible_frac: float
    """Share of the robot's surface points that fall into the picture."""
    robot_px: int
    """Pixels that the robot should cover, at the working size."""
    mask_iou: float | None = None
    contour_mean_px: float | None = None
    contour_p95_px: float | None = None
    edge_score: float | None = None
    """Of this frame at the projected place, 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CameraMeasurements:
    """One camera of one episode; pixels are those of the working size."""

    camera: str
    is_static: bool
    focal_px: float | None = None
    num_frames: int = 0
    visible_frac: float | None = None
    """Median over the frames."""
    mask_source: MaskSource = MaskSource.NONE
    iou_median: float | None = None
    contour_mean_px: float | None = None
    misplacement_px: float | None = None
    misplacement_mrad: float | None = None
    iou_fitted: float | None = None
    """Overlap after the camera is moved by the misplacement."""
    edge_offset_px: float | None = None
    edge_offset_dx_px: float | None = None
    edge_offset_dy_px: float | None = None
    edge_z: float | None = None
    edge_offset_distal_px: float | None = None
    edge_z_distal: float | None = None
    motion_auc: float | None = None
    lag_ms: float | None = None
    lag_corr: float | None = None
    epipolar_px: float | None = None
    epipolar_px_per_10px: float | None = None
    frames: tuple[FrameMeasurements, ...] = ()
    not_measured: Mapping[str, str] = field(default_factory=dict)
    """Why, by what is not measured."""
