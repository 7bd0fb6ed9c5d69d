"""The checks of an episode that need no pictures: its cameras as declared, and its joints."""

from __future__ import annotations

import numpy as np

from robot_data_platform.core.finding import Finding
from robot_data_platform.spatial.camera_checks import (
    DeclaredCamera,
    check_camera,
    robot_is_in_view,
)
from robot_data_platform.spatial.camera_view import camera_view
from robot_data_platform.spatial.end_effector_checks import RULE
from robot_data_platform.spatial.episode_input import CameraInput, SpatialInput
from robot_data_platform.spatial.joint_checks import joints_within_limits
from robot_data_platform.spatial.judgement import not_measured
from robot_data_platform.spatial.projection import Pinhole
from robot_data_platform.spatial.recorded_hand import hand_fits_joints
from robot_data_platform.spatial.thresholds import SpatialThresholds
from robot_data_platform.spatial.usual_columns import finger_ends

_NUM_MOMENTS = 16


def check_declared(episode: SpatialInput, limits: SpatialThresholds) -> list[Finding]:
    """Return what is wrong with an episode's joints and calibrations before any picture is seen.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: the robot has no link that a camera is said to be mounted on.
    """
    # The ends of a gripper's opening are the data set's own, a little past the model's limits.
    fingers = [episode.robot.joint_index(joint) for joint in finger_ends(episode.robot)]
    joints = episode.joints.copy()
    joints[:, fingers] = np.nan
    findings = [*joints_within_limits(episode.robot, joints, limits), *_hand(episode, limits)]
    for camera in episode.cameras:
        declared = DeclaredCamera(
            name=camera.name,
            base_from_cam=camera.parent_from_cam,
            intrinsics_px=camera.intrinsics_px,
            width_px=camera.width_px,
            height_px=camera.height_px,
        )
        findings += [*check_camera(declared, limits), *_in_view(episode, camera, limits)]
    return findings


def _hand(episode: SpatialInput, limits: SpatialThresholds) -> list[Finding]:
    if episode.hand is None:
        reason = "not one signal is known to hold the pose of an end effector"
        return [not_measured(RULE, "signals", reason)]
    return hand_fits_joints(episode.hand, episode.robot, episode.row_ns, episode.joints, limits)


def _in_view(
    episode: SpatialInput, camera: CameraInput, limits: SpatialThresholds
) -> list[Finding]:
    where = f"camera={camera.name}"
    if camera.parent_from_cam is None or camera.intrinsics_px is None:
        reason = "the camera's place or lens is not declared"
        return [not_measured("robot_is_in_view", where, reason)]
    if not len(episode.row_ns) or not np.isfinite(episode.joints).any():
        return [not_measured("robot_is_in_view", where, "no joint of the robot has values")]
    rows = np.unique(np.linspace(0, len(episode.row_ns) - 1, _NUM_MOMENTS).astype(int))
    view = camera_view(episode, camera, camera.parent_from_cam, episode.row_ns[rows])
    lens = Pinhole(
        intrinsics_px=camera.intrinsics_px, width_px=camera.width_px, height_px=camera.height_px
    )
    return robot_is_in_view(lens.share_in_view(view.points_cam_m), where, limits)
