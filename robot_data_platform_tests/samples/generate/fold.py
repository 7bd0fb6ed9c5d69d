"""The script of ``aloha_fold``: two arms fold a towel away from the operator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robot_data_platform_tests.samples.generate import aloha, decor, towel
from robot_data_platform_tests.samples.generate.motion import Curve, Waypoint, curve_through
from robot_data_platform_tests.samples.generate.performance import (
    LAG_S,
    Body,
    Performance,
    Stage,
    perform,
)

if TYPE_CHECKING:
    import mujoco

BODY = Body(arms=aloha.ARMS, arm_state=aloha.arm_state, place=aloha.place, limits=aloha.limits())
COLOURS = {"blue": (0.25, 0.42, 0.75), "green": (0.35, 0.62, 0.38), "orange": (0.88, 0.52, 0.22)}
OPEN, PINCHED = 0.75, 0.16
GRASP_PITCH_RAD = 0.95
LIFTS = 6
"""Waypoints along the fold."""


def stage_fold(
    rng: np.random.Generator, *, colour: str, duration_s: float
) -> tuple[Stage, Performance]:
    """Return the scene and the motion of one episode."""
    model = _build(rng, colour)
    taken_s, left_s = 1.25 + rng.uniform(-0.1, 0.1), 3.55 + rng.uniform(-0.15, 0.15)
    cloth = towel.Towel(
        x_m=rng.uniform(-0.02, 0.02),
        near_y_m=0.41 + rng.uniform(-0.02, 0.02),
        fold=Curve(knot_s=np.array([taken_s, left_s]), knots=np.array([[0.0], [np.pi]])),
        lag_s=LAG_S,
    )
    curves = [
        _curve(cloth, rng, side=side, taken_s=taken_s, left_s=left_s, duration_s=duration_s)
        for side in (-1, 1)
    ]
    performance = perform(model, BODY, curves, rng)
    return Stage(model, BODY, performance, [cloth]), performance


def _build(rng: np.random.Generator, colour: str) -> mujoco.MjModel:
    """Return the table with a towel and a few things around it."""
    spec = aloha.build_spec(rng)
    towel.add_towel(spec, COLOURS[colour])
    decor.add_camera(
        spec,
        spec.worldbody,
        name="env",
        pos_m=(0.0, 0.06, 0.58),
        target_m=(0.0, 0.53, 0.05),
        fovy_deg=64,
    )
    clutter = decor.add_prop(spec, "clutter")
    x, y = rng.uniform(-0.05, 0.05, 2)
    decor.add_part(
        clutter, decor.CYLINDER, (0.035, 0.045), (0.30 + x, 0.86, 0.046), (0.8, 0.3, 0.25, 1)
    )
    decor.add_part(
        clutter, decor.BOX, (0.05, 0.03, 0.04), (-0.28 + y, 0.88, 0.041), (0.3, 0.55, 0.5, 1)
    )
    decor.add_part(
        clutter, decor.BOX, (0.07, 0.05, 0.012), (0.02 + x, 0.92, 0.013), (0.85, 0.75, 0.4, 1)
    )
    return spec.compile()


def _curve(
    cloth: towel.Towel,
    rng: np.random.Generator,
    *,
    side: int,
    taken_s: float,
    left_s: float,
    duration_s: float,
) -> Curve:
    """Return the path of one gripper: ``side`` is -1 for the left arm, 1 for the right one."""
    x = cloth.x_m + side * (towel.WIDTH_M / 2 - 0.015)
    roll, turn = side * rng.uniform(0.15, 0.3), side * rng.uniform(0.2, 0.4)

    def at(
        at_s: float, dx: float, y: float, z: float, pitch: float, rolls: float, grip: float
    ) -> Waypoint:
        return Waypoint(
            at_s=at_s,
            xyz_m=(x + side * dx, y, z),
            pitch_rad=pitch,
            rolls_rad=(roll * rolls, turn * (1 - rolls)),
            grip=grip,
        )

    edge_y = cloth.near_y_m + 0.004
    rest_y = 0.50 + rng.uniform(-0.03, 0.03)
    waypoints = [
        at(0.0, 0.06, rest_y, 0.22 + rng.uniform(-0.02, 0.02), 0.5, 1.0, 0.35),
        at(0.75 * taken_s, 0.03, edge_y - 0.01, 0.06, 0.9, 0.4, OPEN),
        at(taken_s - 0.12, 0.0, edge_y, 0.013, GRASP_PITCH_RAD, 0.2, OPEN),
        at(taken_s + 0.06, 0.0, edge_y, 0.014, GRASP_PITCH_RAD, 0.15, PINCHED),
    ]
    for step in range(1, LIFTS + 1):
        at_s = taken_s + (left_s - taken_s) * step / LIFTS
        y, z = cloth.edge_yz_m(float(cloth.fold.at(np.array([at_s]))[0, 0]))
        waypoints.append(
            at(max(at_s, taken_s + 0.1), 0.0, y, z + 0.010, 0.85, 0.2 + 0.1 * step, PINCHED)
        )
    smooth_y, tail_s = rest_y + 0.12, duration_s - left_s
    waypoints += [
        at(left_s + 0.2 * tail_s, 0.02, y - 0.01, z + 0.05, 0.8, 0.5, OPEN),
        at(left_s + 0.48 * tail_s, -0.05, smooth_y, 0.055, 0.85, 0.2, 0.3),
        at(left_s + 0.72 * tail_s, -0.03, smooth_y - 0.1, 0.05, 0.8, 0.0, 0.25),
        at(duration_s, 0.05, rest_y, 0.20, 0.55, 0.8, 0.4),
    ]
    return curve_through(waypoints)
