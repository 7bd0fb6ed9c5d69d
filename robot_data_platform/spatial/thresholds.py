"""Every threshold of the spatial checks: where doubt starts, where error starts, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from robot_data_platform.core.finding import Severity
from robot_data_platform.core.fingerprint import digest

CHECKS_VERSION = "4"
"""Raised by hand when the same input would be measured or judged differently."""


@dataclass(frozen=True, slots=True)
class Band:
    """How far a measurement may go: up to ``ok`` it passes, past ``fail`` it is wrong.

    Where more is better, ``fail`` lies below ``ok``.
    """

    ok: float
    fail: float
    unit: str
    reason: str
    """Why these values and no others, so that they can be argued with."""

    def severity_of(self, value: float) -> Severity | None:
        """Return how much a measurement weighs; None = it passes."""
        side = 1 if self.fail >= self.ok else -1
        if side * value <= side * self.ok:
            return None
        return Severity.WARN if side * value <= side * self.fail else Severity.FAIL


@dataclass(frozen=True, slots=True, kw_only=True)
class SpatialThresholds:
    """The limits of all spatial checks; another instance judges the same measurements anew."""

    # what is declared, before any picture
    rotation_deviation: Band = Band(
        2e-3,
        2e-2,
        "1",
        "Three decimals round a rotation by 1e-3; past one degree (2e-2) it is no rounding.",
    )
    camera_distance_m: Band = Band(
        5, 50, "m", "Arms reach 1 m and cameras see it from a few; 1000 m are millimetres."
    )
    focal_ratio: Band = Band(
        0.05, 0.2, "1", "Pixels are square within a per cent; a stretched picture is off by 33 %."
    )
    principal_point: Band = Band(
        0.2,
        0.35,
        "1",
        "Lenses sit within a tenth of the middle; another resolution is off by 50 %.",
    )
    session_shift_m: Band = Band(
        0.01, 0.05, "m", "Calibrating twice agrees within 1 cm where nobody touched the camera."
    )
    session_turn_deg: Band = Band(
        1.0, 5.0, "deg", "Calibrating twice agrees within 1 degree where nobody touched the camera."
    )
    outside_joint_limits: Band = Band(
        0.01, 0.1, "1", "Encoders overshoot a limit in passing; degrees read as radians stay out."
    )
    in_view: Band = Band(
        0.05, 0.005, "1", "Less than a twentieth of the robot in view is too little to check."
    )
    end_effector_m: Band = Band(
        2e-3, 1e-2, "m", "Forward kinematics of one model agree to microns; another tool, to cm."
    )
    end_effector_deg: Band = Band(
        1.0, 5.0, "deg", "As for positions: rounding and filters stay below a degree."
    )

    # what the pictures show
    misplacement_mrad: Band = Band(
        5, 10, "mrad", "6 mm at 1.2 m: the worst of 40 clean cameras was fitted 4.6 mrad off."
    )
    edge_offset_mrad: Band = Band(
        9.5, 16, "mrad", "2.5 px of a 320 px picture; clean cameras were off by at most 2.2 px."
    )
    edge_lock: Band = Band(
        3.5,
        1.5,
        "1",
        "Clean cameras lock at 4.6 to 16 standard deviations; arms of wrong joints at less than 1.",
    )
    motion_auc: Band = Band(
        0.945, 0.85, "1", "Clean cameras reach 0.96 to 0.99; 100 ms late at most 0.94."
    )
    lag_ms: Band = Band(
        40, 80, "ms", "The estimate errs by up to 14 ms, and a frame at 30 Hz lasts 33 ms."
    )
    mask_iou: Band = Band(
        0.86, 0.75, "1", "Clean masks with 1.5 px of noise overlap by 0.868 or more at 320 px."
    )
    epipolar_px_per_10px: Band = Band(
        1.5, 2.5, "px", "Clean wrist cameras reach at most 1.4 px per 10 px of motion."
    )


MISPLACEMENT_FLOOR_PX = 1.25
"""Px of the working size below which a fit to masks is noise, whatever the focal length."""
EPIPOLAR_FLOOR_PX = 1.0
"""Px of the working size below which followed points are no more exact."""
EDGE_FLOOR_PX = 2.5
"""Px of the working size below which an edge offset is noise, whatever the focal length."""
GROSS_IOU = 0.5
"""Overlap with a mask below which this test alone is proof."""
GROSS_MOTION_AUC = 0.7
"""Motion AUC below which this test alone is proof; clean cameras reach 0.96."""
GROSS_EPIPOLAR_PX = 5.0
"""Px per 10 px of motion above which this test alone is proof; clean cameras stay below 1.5."""
MIN_LAG_CORRELATION = 0.8
"""Correlation below which the lag of a camera is not measured: something else moves there."""
MIN_MOTION_PX = 100
"""Pixels that the robot has to uncover or cover, over all pairs, before motion says anything."""
MIN_PARALLAX_PX = 2.0
"""Median motion of tracked points, in px, below which their geometry says nothing."""
MIN_TRACKS = 40
"""Tracked points, over all pairs, below which a wrist camera's geometry is not measured."""
MIN_ROBOT_PX = 60
"""Pixels of robot in a frame of the working size, below which its outline says nothing."""


THRESHOLDS = SpatialThresholds()
"""The thresholds in use."""


def checks_version(
    limits: SpatialThresholds, accepted: Sequence[str] = (), segmenter: str | None = None
) -> str:
    """Return what names the checks: equal names, equal verdicts on equal data.

    Parameters
    ----------
    limits : SpatialThresholds
        The limits.
    accepted : sequence of str
        Ids of the calibrations that were accepted in place of declared ones.
    segmenter : str, optional
        Name of the model that segments the robot.
    """
    values = {name: [band["ok"], band["fail"]] for name, band in asdict(limits).items()}
    named = {"checks": CHECKS_VERSION, "thresholds": values, "accepted": sorted(accepted)}
    if segmenter is not None:
        named["segmenter"] = segmenter
    return "s_" + digest(named)[:16]
