"""The script of ``so101_pick``: an arm takes a block and puts it into a bowl or onto a plate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from robot_data_platform_tests.samples.generate import decor, so101
from robot_data_platform_tests.samples.generate.motion import Curve, Waypoint, curve_through
from robot_data_platform_tests.samples.generate.performance import (
    Body,
    Performance,
    Stage,
    perform,
)
from robot_data_platform_tests.samples.generate.props import Still, carry, pose_at

if TYPE_CHECKING:
    import mujoco

BODY = Body(arms=(so101.ARM,), arm_state=so101.arm_state, place=so101.place, limits=so101.limits())
HALF_BLOCK_M = 0.0125
OPEN_DEG, CLOSED_DEG = 62.0, 17.0
GRASP_PITCH_RAD = 1.25
GRASP_M = 0.009
"""Height of the tool point when it takes a block."""
BOWL, PLATE = "bowl", "plate"
"""Where a block can go, each with a place of its own on the table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PickTask:
    """What is to be done."""

    text: str
    block: str
    goal: str


TASKS = (
    PickTask(text="Put the red cube into the bowl", block="red_cube", goal=BOWL),
    PickTask(text="Place the green cube on the plate", block="green_cube", goal=PLATE),
)
PLACES = {
    "red_cube": (0.20, 0.09),
    "green_cube": (0.26, 0.02),
    BOWL: (0.18, -0.14),
    PLATE: (0.30, -0.07),
}
"""Middle of the area in which each thing can stand."""
FLOOR_M = {BOWL: 0.006, PLATE: 0.008}
"""Height of the surface that a block lands on."""


def stage_pick(
    rng: np.random.Generator, *, task: PickTask, duration_s: float
) -> tuple[Stage, Performance]:
    """Return the scene and the motion of one episode."""
    model = _build(rng)
    places = _places(rng)
    taken_s, left_s = 1.75 + rng.uniform(-0.1, 0.1), 3.75 + rng.uniform(-0.15, 0.15)
    curve = _curve(
        rng,
        source_xy=_jaw_xy(places[task.block]),
        goal_xy=_jaw_xy(places[task.goal]),
        floor_m=FLOOR_M[task.goal],
        times_s=(taken_s, left_s, duration_s),
    )
    performance = perform(model, BODY, [curve], rng)
    stage = Stage(model, BODY, performance, [])
    start = pose_at((*places[task.block], HALF_BLOCK_M), np.arctan2(*places[task.block][::-1]))
    taken = carry(
        stage,
        name=task.block,
        tool_site=so101.ARM.tool_site,
        taken_s=taken_s,
        left_s=left_s,
        start=start,
    )
    others = [
        Still(name=name, pose=pose_at((*xy, HALF_BLOCK_M if "cube" in name else 0.0)))
        for name, xy in places.items()
        if name != task.block
    ]
    return Stage(model, BODY, performance, [taken, *others]), performance


def _places(rng: np.random.Generator) -> dict[str, tuple[float, float]]:
    """Return x and y of everything on the table, never on top of each other."""
    shift = dict.fromkeys(PLACES, 0.018) | {BOWL: 0.01, PLATE: 0.01}
    return {
        name: (
            x + rng.uniform(-shift[name], shift[name]),
            y + rng.uniform(-shift[name], shift[name]),
        )
        for name, (x, y) in PLACES.items()
    }


def _jaw_xy(block_xy: tuple[float, float]) -> tuple[float, float]:
    """Return where the fixed jaw stands beside a block: nearer to the base by half a block."""
    radius = np.hypot(*block_xy)
    scale = (radius - HALF_BLOCK_M - 0.002) / radius
    return block_xy[0] * scale, block_xy[1] * scale


def _build(rng: np.random.Generator) -> mujoco.MjModel:
    """Return the arm with two cubes, a bowl and a plate."""
    spec = so101.build_spec(rng)
    cube = (HALF_BLOCK_M,) * 3
    colours = {"red_cube": (0.85, 0.16, 0.14, 1), "green_cube": (0.2, 0.62, 0.25, 1)}
    for name, rgba in colours.items():
        decor.add_part(decor.add_prop(spec, name), decor.BOX, cube, (0, 0, 0), rgba)
    _add_bowl(decor.add_prop(spec, BOWL))
    plate = decor.add_prop(spec, PLATE)
    decor.add_part(plate, decor.CYLINDER, (0.05, 0.003), (0, 0, 0.003), (0.85, 0.86, 0.9, 1))
    decor.add_part(plate, decor.CYLINDER, (0.036, 0.001), (0, 0, 0.007), (0.55, 0.68, 0.85, 1))
    decor.add_camera(
        spec,
        spec.worldbody,
        name="top",
        pos_m=(0.48, 0.0, 0.60),
        target_m=(0.13, 0.0, 0.03),
        fovy_deg=46,
    )
    return spec.compile()


def _add_bowl(bowl: mujoco.MjsBody) -> None:
    """Add a floor and a ring of staves."""
    decor.add_part(bowl, decor.CYLINDER, (0.042, 0.003), (0, 0, 0.003), (0.3, 0.45, 0.7, 1))
    for angle in np.arange(16) * 2 * np.pi / 16:
        pos = (0.043 * np.cos(angle), 0.043 * np.sin(angle), 0.014)
        size = (0.003, 0.0095, 0.014)
        decor.add_part(bowl, decor.BOX, size, pos, (0.32, 0.48, 0.75, 1), yaw_rad=angle)


def _curve(
    rng: np.random.Generator,
    *,
    source_xy: tuple[float, float],
    goal_xy: tuple[float, float],
    floor_m: float,
    times_s: tuple[float, float, float],
) -> Curve:
    """Return the path of the gripper: over the block, down, up, across, down, away."""
    taken_s, left_s, end_s = times_s

    def at(
        at_s: float, xy: tuple[float, float], z: float, pitch: float, roll: float, grip: float
    ) -> Waypoint:
        return Waypoint(at_s=at_s, xyz_m=(*xy, z), pitch_rad=pitch, rolls_rad=(roll,), grip=grip)

    rest = (0.21 + rng.uniform(-0.01, 0.01), rng.uniform(-0.03, 0.03))
    middle = ((source_xy[0] + goal_xy[0]) / 2 - 0.01, (source_xy[1] + goal_xy[1]) / 2)
    look = rng.uniform(0.25, 0.45) * rng.choice([-1, 1])
    high, down = 0.13 + rng.uniform(-0.01, 0.01), GRASP_PITCH_RAD
    return curve_through(
        [
            at(0.0, rest, 0.14, 0.7, look, 25.0),
            at(
                0.45 * taken_s,
                (source_xy[0] - 0.02, source_xy[1] * 0.8),
                0.11,
                1.0,
                look / 2,
                OPEN_DEG,
            ),
            at(taken_s - 0.15, source_xy, GRASP_M, down, 0.0, OPEN_DEG),
            at(taken_s + 0.12, source_xy, GRASP_M, down, 0.0, CLOSED_DEG),
            at(
                taken_s + 0.75,
                (source_xy[0] - 0.01, source_xy[1] * 0.85),
                high,
                0.95,
                0.0,
                CLOSED_DEG,
            ),
            at((taken_s + left_s) / 2 + 0.2, middle, high + 0.01, 0.9, 0.1, CLOSED_DEG),
            at(left_s - 0.5, goal_xy, 0.085, 1.1, 0.0, CLOSED_DEG),
            at(left_s, goal_xy, GRASP_M + floor_m, down, 0.0, CLOSED_DEG),
            at(left_s + 0.2, goal_xy, GRASP_M + floor_m + 0.005, down, 0.0, 40.0),
            at(left_s + 0.75, (goal_xy[0] - 0.02, goal_xy[1]), 0.11, 1.0, look / 3, OPEN_DEG),
            at(end_s, rest, 0.15, 0.7, look, 22.0),
        ]
    )
