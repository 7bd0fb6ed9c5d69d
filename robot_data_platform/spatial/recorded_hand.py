"""Recorded poses of the end effector: which signals hold them, and what joints say of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.finding import Finding
from robot_data_platform.core.rotation import Float64Array, QuaternionOrder
from robot_data_platform.spatial.end_effector import match_end_effector
from robot_data_platform.spatial.end_effector_checks import RULE, end_effector_agrees
from robot_data_platform.spatial.frame_plan import joints_at
from robot_data_platform.spatial.judgement import not_measured
from robot_data_platform.spatial.kinematics import link_poses
from robot_data_platform.spatial.robot_model import RobotModel
from robot_data_platform.spatial.thresholds import SpatialThresholds

MAX_SAMPLES = 2000
"""Samples that are held against the joints, from the first on: more say nothing new."""

_QUATERNION_OF = {"eef_pos": "eef_quat", "ee_pos": "ee_quat", "tcp_pos": "tcp_quat"}
"""Signals of positions, and those of their rotations."""
_WHOLE_POSES = ("eef_pose", "ee_pose", "tcp_pose", "cartesian_position")
"""Signals that begin with a position; of seven numbers the last four are a quaternion."""
_PREFIX = "observation_"
_WIDTH_WITH_QUATERNION = 7


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordedHand:
    """The end effector as an episode records it."""

    signal: str
    """Name of the column."""
    t_ns: npt.NDArray[np.int64]
    """(N,) when each was taken; rows that hold an older one have its time."""
    position: Float64Array
    """(N, 3), of unknown unit; NaN = no value."""
    quaternion: Float64Array | None
    """(N, 4); None = not recorded."""
    declared_order: QuaternionOrder | None = None


def hand_signals(widths: Mapping[str, int]) -> dict[str, str | None]:
    """Return which signals hold positions of an end effector, each with that of its quaternions.

    Parameters
    ----------
    widths : mapping of str to int
        Dimensions by name of the signal.

    Examples
    --------
    >>> hand_signals({"observation_robot0_eef_pos": 3, "observation_robot0_eef_quat": 4})
    {'observation_robot0_eef_pos': 'observation_robot0_eef_quat'}
    """
    found: dict[str, str | None] = {}
    for name, width in widths.items():
        if not name.startswith(_PREFIX):
            continue
        for position, quaternion in _QUATERNION_OF.items():
            if width == 3 and _ends(name, position):
                other = name.removesuffix(position) + quaternion
                found[name] = other if widths.get(other) == 4 else None
        if width >= 6 and any(_ends(name, whole) for whole in _WHOLE_POSES):
            found[name] = name if width == _WIDTH_WITH_QUATERNION else None
    return found


def _ends(name: str, with_word: str) -> bool:
    return f"_{name}".endswith(f"_{with_word}")


def hand_fits_joints(
    hand: RecordedHand,
    robot: RobotModel,
    row_ns: npt.NDArray[np.int64],
    joints: Float64Array,
    limits: SpatialThresholds,
) -> list[Finding]:
    """Return where recorded poses contradict forward kinematics, and the order of quaternions.

    Parameters
    ----------
    hand : RecordedHand
        As recorded.
    robot : RobotModel
        The robot.
    row_ns : ndarray of int64, shape (T,)
        Time of each row of the joints, increasing.
    joints : ndarray of float64, shape (T, J)
        NaN = not known.
    limits : SpatialThresholds
        The limits.
    """
    where = f"signal={hand.signal}"
    if robot.tool_link is None:
        reason = f"the model of {robot.name!r} names no link that poses refer to"
        return [not_measured(RULE, where, reason)]
    taken = np.unique(hand.t_ns, return_index=True)[1][:MAX_SAMPLES]
    known = joints_at(joints, row_ns, hand.t_ns[taken], ~robot.is_prismatic)
    poses = link_poses(robot, known)[:, robot.link_index(robot.tool_link)]
    is_known = np.isfinite(known).any(axis=1, keepdims=True)
    position = np.where(is_known, hand.position[taken], np.nan)
    quaternion = None if hand.quaternion is None else hand.quaternion[taken]
    match = match_end_effector(poses, position, quaternion)
    return end_effector_agrees(match, hand.declared_order, where, limits)
