"""Things that a robot handles: they stand, are carried, and are left somewhere else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from robot_data_platform_tests.samples.generate.decor import quat_wxyz
from robot_data_platform_tests.samples.generate.motion import Floats
from robot_data_platform_tests.samples.generate.performance import Stage

if TYPE_CHECKING:
    import mujoco


@dataclass(frozen=True, slots=True, kw_only=True)
class Still:
    """A prop that stays where it is."""

    name: str
    pose: Floats
    """(4, 4) world from prop."""

    def place(self, data: mujoco.MjData, time_s: float) -> None:
        """Set the pose."""
        set_pose(data, self.name, self.pose)


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """A prop that a gripper takes at one moment and leaves at another."""

    name: str
    tool_site: str
    taken_s: float
    left_s: float
    start: Floats
    """(4, 4) world from prop before it is taken."""
    tool_from_prop: Floats
    """(4, 4)."""
    end: Floats
    """(4, 4) world from prop after it was left."""

    def place(self, data: mujoco.MjData, time_s: float) -> None:
        """Set the pose: where it was found, in the gripper, or where it was left."""
        if time_s < self.taken_s:
            pose = self.start
        elif time_s < self.left_s:
            pose = tool_pose(data, self.tool_site) @ self.tool_from_prop
        else:
            pose = self.end
        set_pose(data, self.name, pose)


def carry(
    stage: Stage, *, name: str, tool_site: str, taken_s: float, left_s: float, start: Floats
) -> Carried:
    """Return the prop that keeps, while it is held, its place in the gripper."""
    at_taking = tool_pose(stage.set_robot(taken_s), tool_site)
    tool_from_prop = np.linalg.inv(at_taking) @ start
    end = tool_pose(stage.set_robot(left_s), tool_site) @ tool_from_prop
    return Carried(
        name=name,
        tool_site=tool_site,
        taken_s=taken_s,
        left_s=left_s,
        start=start,
        tool_from_prop=tool_from_prop,
        end=end,
    )


def tool_pose(data: mujoco.MjData, site: str) -> Floats:
    """Return the (4, 4) pose of a site in the world."""
    pose = np.eye(4)
    pose[:3, :3] = data.site(site).xmat.reshape(3, 3)
    pose[:3, 3] = data.site(site).xpos
    return pose


def pose_at(xyz_m: Sequence[float], yaw_rad: float = 0.0) -> Floats:
    """Return the (4, 4) pose of something that stands upright."""
    pose = np.eye(4)
    cos, sin = np.cos(yaw_rad), np.sin(yaw_rad)
    pose[:2, :2] = [[cos, -sin], [sin, cos]]
    pose[:3, 3] = xyz_m
    return pose


def set_pose(data: mujoco.MjData, name: str, pose: Floats) -> None:
    """Set the pose of a prop."""
    mocap = data.model.body(name).mocapid[0]
    data.mocap_pos[mocap] = pose[:3, 3]
    data.mocap_quat[mocap] = quat_wxyz(pose[:3, :3])
