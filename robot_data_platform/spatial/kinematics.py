"""Where each link is, for every row of joint values."""

from __future__ import annotations

import numpy as np

from robot_data_platform.core.calibration import inverse
from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.spatial.optional_packages import import_spatial
from robot_data_platform.spatial.robot_model import RobotModel
from robot_data_platform.spatial.robot_sources import WORLD


def forward_kinematics(robot: RobotModel, joints: Float64Array) -> dict[str, Float64Array]:
    """Return the pose of each link, by its name.

    Parameters
    ----------
    robot : RobotModel
        The robot.
    joints : ndarray of float64, shape (T, J)
        Radians or metres in the order of ``robot.joint_names``; NaN = not known, see
        `completed_joints`.

    Returns
    -------
    dict of str to ndarray of float64, shape (T, 4, 4)
        ``base_from_link``, metres.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: the joints have another shape.
    """
    poses = link_poses(robot, joints)
    return {link: poses[:, place] for place, link in enumerate(robot.link_names)}


def link_poses(robot: RobotModel, joints: Float64Array) -> Float64Array:
    """Return ``base_from_link`` of every link, (T, L, 4, 4); see `forward_kinematics`."""
    mujoco = import_spatial("mujoco")
    values = completed_joints(robot, joints)
    data = mujoco.MjData(robot.compiled)
    bodies, places = list(robot.body_ids), list(robot.qpos_ids)
    poses = np.zeros((len(values), len(bodies), 4, 4))
    poses[:, :, 3, 3] = 1
    for row, pose in zip(values, poses, strict=True):
        data.qpos[places] = row
        mujoco.mj_kinematics(robot.compiled, data)
        pose[:, :3, :3] = data.xmat[bodies].reshape(-1, 3, 3)
        pose[:, :3, 3] = data.xpos[bodies]
    if robot.base_link == WORLD:
        return poses
    return np.asarray(_base_from_world(robot) @ poses)


def _base_from_world(robot: RobotModel) -> Float64Array:
    """Return the transform of a base that stands still in the model's world."""
    mujoco = import_spatial("mujoco")
    data = mujoco.MjData(robot.compiled)
    mujoco.mj_kinematics(robot.compiled, data)
    body = data.body(robot.base_link)
    world_from_base = np.eye(4)
    world_from_base[:3, :3] = body.xmat.reshape(3, 3)
    world_from_base[:3, 3] = body.xpos
    return inverse(world_from_base)


def completed_joints(robot: RobotModel, joints: Float64Array) -> Float64Array:
    """Return joint values without gaps, (T, J).

    A joint that is not known follows its leader where a mechanism couples it, and rests where
    none does.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: the joints are not ``(T, J)``.
    """
    width = len(robot.joint_names)
    if joints.ndim != 2 or joints.shape[1] != width:
        raise InvalidInputError(
            f"Joints of {robot.name!r} have to be of the shape (T, {width}), got {joints.shape}.",
            kind=ErrorKind.INVALID_ARGUMENT,
        )
    values = np.array(joints, dtype=np.float64)
    for _ in robot.couplings:  # a follower may lead another one
        for coupling in robot.couplings:
            column = values[:, coupling.joint]
            moved = np.polynomial.polynomial.polyval(
                values[:, coupling.leader], coupling.coefficients
            )
            values[:, coupling.joint] = np.where(np.isnan(column), moved, column)
    return np.where(np.isnan(values), robot.rest, values)
