"""What the messages of a type are to a recording: joints, pictures, numbers, or nothing."""

from __future__ import annotations

from enum import Enum, auto


class Role(Enum):
    """What becomes of a topic."""

    JOINTS = auto()
    """Positions, velocities and efforts by joint name."""
    TRAJECTORY = auto()
    """Commanded positions by joint name: one point per message."""
    NUMBERS = auto()
    """All numbers of a message, as a vector."""
    RAW_PICTURE = auto()
    ENCODED_PICTURE = auto()
    """JPEG or PNG."""
    VIDEO = auto()
    """One frame of a video stream per message."""
    CALIBRATION = auto()
    TRANSFORMS = auto()
    NOTHING = auto()
    """The machinery of a robot's software: logs, parameters, diagnostics, services, drawings."""


_BY_TYPE = {
    ("sensor_msgs", "JointState"): Role.JOINTS,
    ("foxglove", "JointState"): Role.JOINTS,
    ("trajectory_msgs", "JointTrajectory"): Role.TRAJECTORY,
    ("sensor_msgs", "Image"): Role.RAW_PICTURE,
    ("foxglove", "RawImage"): Role.RAW_PICTURE,
    ("sensor_msgs", "CompressedImage"): Role.ENCODED_PICTURE,
    ("foxglove", "CompressedImage"): Role.ENCODED_PICTURE,
    ("foxglove", "CompressedVideo"): Role.VIDEO,
    ("sensor_msgs", "CameraInfo"): Role.CALIBRATION,
    ("foxglove", "CameraCalibration"): Role.CALIBRATION,
    ("tf2_msgs", "TFMessage"): Role.TRANSFORMS,
    ("tf", "tfMessage"): Role.TRANSFORMS,
    ("foxglove", "FrameTransform"): Role.TRANSFORMS,
    ("foxglove", "FrameTransforms"): Role.TRANSFORMS,
    ("foxglove", "Log"): Role.NOTHING,
}
_MACHINERY = frozenset(
    {
        "action_msgs",
        "bond",
        "diagnostic_msgs",
        "dynamic_reconfigure",
        "lifecycle_msgs",
        "rcl_interfaces",
        "rosbag2_interfaces",
        "rosgraph_msgs",
        "service_msgs",
        "statistics_msgs",
        "visualization_msgs",
    }
)
"""Packages of types that say nothing of the robot's body."""
CAMERA_ROLES = frozenset({Role.RAW_PICTURE, Role.ENCODED_PICTURE, Role.VIDEO})
SIGNAL_ROLES = frozenset({Role.JOINTS, Role.TRAJECTORY, Role.NUMBERS})


def role_of(type_name: str) -> Role:
    """Return what the messages of a type are, from its name alone.

    Examples
    --------
    >>> role_of("sensor_msgs/msg/Image").name, role_of("foxglove.RawImage").name
    ('RAW_PICTURE', 'RAW_PICTURE')
    >>> role_of("geometry_msgs/Twist").name, role_of("example_interfaces/srv/AddTwoInts_Event").name
    ('NUMBERS', 'NOTHING')
    """
    parts = type_name.replace(".", "/").split("/")
    package, name = (
        parts[0].removesuffix("_msgs") if "foxglove" in parts[0] else parts[0],
        parts[-1],
    )
    is_service = "srv" in parts[1:-1] or name.endswith("_Event")
    if package in _MACHINERY or is_service:
        return Role.NOTHING
    return _BY_TYPE.get((package, name), Role.NUMBERS)
