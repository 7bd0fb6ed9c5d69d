"""ALOHA: two ViperX 300 arms at a table, from the package gym-aloha."""

from __future__ import annotations

import mujoco
import numpy as np

from robot_data_platform_tests.samples.generate import decor
from robot_data_platform_tests.samples.generate.arm import Arm
from robot_data_platform_tests.samples.generate.motion import Floats

SIDES = ("left", "right")
ARM_JOINTS = ("waist", "shoulder", "elbow", "forearm_roll", "wrist_angle", "wrist_rotate")
JOINT_NAMES = tuple(f"{side}_{joint}" for side in SIDES for joint in (*ARM_JOINTS, "gripper"))
"""Order of the 14 values of state and action: radians, grippers 0 closed to 1 open."""
FINGER_CLOSED_M, FINGER_OPEN_M = 0.01844, 0.05800
"""Finger positions of grip 0 and 1 (gym_aloha/constants.py)."""
ARMS = tuple(
    Arm(
        tool_site=f"cali_{side}_site1",
        reach_joints=(
            f"vx300s_{side}/waist",
            f"vx300s_{side}/shoulder",
            f"vx300s_{side}/elbow",
            f"vx300s_{side}/wrist_angle",
        ),
        roll_joints=(f"vx300s_{side}/forearm_roll", f"vx300s_{side}/wrist_rotate"),
        home_rad=(0.0, -0.96, 1.16, -0.3),
    )
    for side in SIDES
)


def build_spec(rng: np.random.Generator) -> mujoco.MjSpec:
    """Return the two arms at a wooden table in a room, with a camera on each wrist."""
    path = decor.asset_folder("gym_aloha") / "bimanual_viperx_transfer_cube.xml"
    spec = mujoco.MjSpec.from_file(str(path))
    spec.delete(spec.body("box"))
    for key in spec.keys:
        spec.delete(key)
    for light in spec.lights:
        light.castshadow = False
    _paint(spec)
    decor.set_quality(spec, ambient=0.28)
    decor.add_materials(spec, rng)
    decor.add_room(spec, half_m=1.8, floor_m=-0.75)
    decor.add_light(spec, pos_m=(0.5, -0.3, 1.6), target_m=(0, 0.6, 0), level=0.5)
    spec.worldbody.add_geom(
        name="desk", type=decor.BOX, size=[0.8, 0.46, 0.015], pos=[0, 0.6, -0.0145], material="wood"
    )
    for side in SIDES:
        decor.add_camera(
            spec,
            spec.body(f"vx300s_{side}/gripper_link"),
            name=f"wrist_{side}",
            pos_m=(-0.09, 0, 0.10),
            target_m=(0.16, 0, -0.01),
            fovy_deg=68,
        )
    return spec


def place(model: mujoco.MjModel, data: mujoco.MjData, state: Floats) -> None:
    """Set the joints of both arms from the 14 values of a state."""
    for offset, side in zip((0, 7), SIDES, strict=True):
        for joint, value in zip(ARM_JOINTS, state[offset : offset + 6], strict=True):
            data.joint(f"vx300s_{side}/{joint}").qpos[0] = value
        finger_m = FINGER_CLOSED_M + state[offset + 6] * (FINGER_OPEN_M - FINGER_CLOSED_M)
        data.joint(f"vx300s_{side}/left_finger").qpos[0] = finger_m
        data.joint(f"vx300s_{side}/right_finger").qpos[0] = -finger_m


def arm_state(reach_rad: Floats, roll_rad: Floats, grip: Floats) -> Floats:
    """Return (N, 7) values of one arm in the order of ``JOINT_NAMES``."""
    waist, shoulder, elbow, wrist_angle = reach_rad.T
    forearm_roll, wrist_rotate = roll_rad.T
    columns = (waist, shoulder, elbow, forearm_roll, wrist_angle, wrist_rotate, grip)
    return np.column_stack(columns)


def limits() -> Floats:
    """Return (2, 14) lowest and highest value of each joint, as in the model."""
    lowest = [-3.14158, -1.85005, -1.76278, -3.14158, -1.8675, -3.14158, 0.0]
    highest = [3.14158, 1.25664, 1.6057, 3.14158, 2.23402, 3.14158, 1.0]
    return np.array([lowest * 2, highest * 2])


def _paint(spec: mujoco.MjSpec) -> None:
    """Give the arms the dark look of the real ones."""
    for geom in spec.geoms:
        if geom.name.startswith("vx300s"):
            is_finger = "finger" in geom.name
            geom.rgba = [0.42, 0.42, 0.45, 1] if is_finger else [0.16, 0.16, 0.18, 1]
