"""The script of ``aloha_insert``: one arm holds a socket, the other puts a peg into it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robot_data_platform_tests.samples.generate import aloha, decor
from robot_data_platform_tests.samples.generate.motion import Curve, Waypoint, curve_through
from robot_data_platform_tests.samples.generate.performance import (
    Body,
    Performance,
    Stage,
    perform,
)
from robot_data_platform_tests.samples.generate.props import carry, pose_at

if TYPE_CHECKING:
    import mujoco

BODY = Body(arms=aloha.ARMS, arm_state=aloha.arm_state, place=aloha.place, limits=aloha.limits())
OPEN, HOLDING = 0.85, 0.30
PITCH_RAD = 0.75
HALF_LENGTH_M = 0.055
"""Of the peg and of the socket, which lie along x."""
MEETING_M = (0.0, 0.50, 0.17)
"""Where the peg enters the socket."""


def stage_insert(rng: np.random.Generator, *, duration_s: float) -> tuple[Stage, Performance]:
    """Return the scene and the motion of one episode."""
    model = _build(rng)
    taken_s, end_s = 1.35 + rng.uniform(-0.1, 0.1), duration_s
    starts = {-1: _start(rng, -1), 1: _start(rng, 1)}
    curves = [_curve(rng, start, side, taken_s, end_s) for side, start in starts.items()]
    performance = perform(model, BODY, curves, rng)
    stage = Stage(model, BODY, performance, [])
    props = []
    for name, side, arm in zip(("socket", "peg"), (-1, 1), aloha.ARMS, strict=True):
        x, y = starts[side]
        # The gripper comes from its own base, so what it takes is turned the same way.
        yaw = np.arctan2(y - 0.5, x - side * 0.469) + (np.pi if side > 0 else 0)
        props.append(
            carry(
                stage,
                name=name,
                tool_site=arm.tool_site,
                taken_s=taken_s,
                left_s=2 * end_s,
                start=pose_at((x - side * 0.03, y, 0.021), yaw),
            )
        )
    return Stage(model, BODY, performance, props), performance


def _start(rng: np.random.Generator, side: int) -> tuple[float, float]:
    """Return x and y at which one arm takes what lies there."""
    return side * (0.21 + rng.uniform(-0.02, 0.02)), 0.50 + rng.uniform(-0.04, 0.04)


def _build(rng: np.random.Generator) -> mujoco.MjModel:
    """Return the table with a peg and a square socket on it."""
    spec = aloha.build_spec(rng)
    peg = decor.add_prop(spec, "peg")
    decor.add_part(peg, decor.BOX, (HALF_LENGTH_M, 0.01, 0.01), (0, 0, 0), (0.85, 0.2, 0.15, 1))
    socket = decor.add_prop(spec, "socket")
    blue = (0.2, 0.4, 0.8, 1)
    for sign in (-1, 1):
        decor.add_part(socket, decor.BOX, (HALF_LENGTH_M, 0.018, 0.002), (0, 0, sign * 0.016), blue)
        decor.add_part(socket, decor.BOX, (HALF_LENGTH_M, 0.002, 0.018), (0, sign * 0.016, 0), blue)
    decor.add_camera(
        spec,
        spec.worldbody,
        name="cam_high",
        pos_m=(0.0, 0.12, 0.66),
        target_m=(0.0, 0.52, 0.05),
        fovy_deg=62,
    )
    return spec.compile()


def _curve(
    rng: np.random.Generator, start: tuple[float, float], side: int, taken_s: float, end_s: float
) -> Curve:
    """Return the path of one gripper: ``side`` is -1 for the socket's arm, 1 for the peg's."""
    turn, roll = side * rng.uniform(0.25, 0.45), side * rng.uniform(0.1, 0.2)

    def at(
        at_s: float, xyz: tuple[float, float, float], pitch: float, free: float, grip: float
    ) -> Waypoint:
        """Return a waypoint; ``free`` is how far the gripper is turned away from level."""
        return Waypoint(
            at_s=at_s,
            xyz_m=xyz,
            pitch_rad=pitch,
            rolls_rad=(roll * free, turn * free),
            grip=grip,
        )

    x, y = start
    meet_x, meet_y, meet_z = MEETING_M
    outside = meet_x + side * 0.085
    # The socket waits, the peg comes; both keep drifting up a little while they meet.
    before, inside = outside + side * (0.06 if side > 0 else 0.02), outside - side * 0.005
    rest = (side * (0.17 + rng.uniform(-0.02, 0.02)), 0.52, 0.24 + rng.uniform(-0.02, 0.02))
    meeting_s = taken_s + 0.62 * (end_s - taken_s)
    return curve_through(
        [
            at(0.0, rest, 0.4, 1.0, 0.4),
            at(0.6 * taken_s, (x, y, 0.09), PITCH_RAD, 0.3, OPEN),
            at(taken_s - 0.12, (x, y, 0.021), PITCH_RAD, 0.0, OPEN),
            at(taken_s + 0.12, (x, y, 0.022), PITCH_RAD, 0.0, HOLDING),
            at(taken_s + 0.75, (x, (y + meet_y) / 2, 0.13), PITCH_RAD, 0.25, HOLDING),
            at(meeting_s - 0.6, (before, meet_y, meet_z - 0.01), PITCH_RAD, 0.0, HOLDING),
            at(meeting_s, (inside, meet_y, meet_z), PITCH_RAD, 0.0, HOLDING),
            at(meeting_s + 0.2, (inside, meet_y + 0.005, meet_z + 0.008), PITCH_RAD, 0.0, HOLDING),
            at(end_s, (inside - 0.04, meet_y + 0.005, meet_z + 0.09), PITCH_RAD, 0.0, HOLDING),
        ]
    )
