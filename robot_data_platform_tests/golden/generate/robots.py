"""The two robots in their rooms: cameras, joints, and how they move."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from robot_data_platform_tests.samples.generate import aloha as aloha_scene
from robot_data_platform_tests.samples.generate import decor
from robot_data_platform_tests.samples.generate.motion import Curve, Floats

KNOT_S = 0.65
DURATION_S = 5.2
PROP = "passer_by"


@dataclass(frozen=True, slots=True, kw_only=True)
class Robot:
    """A robot before cameras, as it is recorded."""

    name: str
    profile_robot: str
    model: mujoco.MjModel
    roots: tuple[str, ...]
    """Bodies that the robot begins with."""
    columns: tuple[str, ...]
    units: tuple[str | None, ...]
    cameras: tuple[str, ...]
    motion: Curve
    place: Callable[[mujoco.MjModel, mujoco.MjData, Floats], None]


def panda(seed: int) -> Robot:
    """Return a Panda with a Robotiq 2F-85, two cameras in the room and one on its wrist."""
    rng = np.random.default_rng([seed, 0])
    spec = mujoco.MjSpec.from_file(str(decor.asset_folder("gym_hil") / "panda.xml"))
    for key in spec.keys:
        spec.delete(key)
    _furnish(spec, rng, desk_m=(0.55, 0.0))
    world = spec.worldbody
    _camera(spec, world, "ext1", (1.05, 0.75, 0.62), (0.32, -0.02, 0.32), 50)
    _camera(spec, world, "ext2", (0.95, -0.85, 0.75), (0.28, 0.03, 0.34), 52)
    _camera(spec, spec.body("link7"), "wrist", (0.075, 0.03, 0.05), (0.0, 0.0, 0.32), 78)
    home = np.array([0.0, -0.35, 0.0, -2.15, 0.0, 1.85, 0.78, 0.5])
    spread = np.array([0.5, 0.3, 0.3, 0.35, 0.5, 0.4, 0.7, 0.5])
    return Robot(
        name="panda",
        profile_robot="panda_2f85",
        model=spec.compile(),
        roots=("link0",),
        columns=(*(f"joint{number}" for number in range(1, 8)), "gripper"),
        units=(*("rad",) * 7, None),
        cameras=("ext1", "ext2", "wrist"),
        motion=_wander(rng, home, spread),
        place=_place_panda,
    )


def aloha(seed: int) -> Robot:
    """Return two ViperX arms, a camera before them, one above, and one on the left wrist."""
    rng = np.random.default_rng([seed, 1])
    spec = aloha_scene.build_spec(rng)
    _passer_by(spec)
    world = spec.worldbody
    _camera(spec, world, "cam_front", (0.05, 1.35, 0.55), (0.0, 0.5, 0.18), 56)
    _camera(spec, world, "cam_above", (0.02, 0.45, 1.15), (0.0, 0.56, 0.1), 58)
    home = np.array([0.0, -0.8, 1.0, 0.0, -0.2, 0.0, 0.5] * 2)
    spread = np.array([0.35, 0.3, 0.3, 0.5, 0.4, 0.6, 0.5] * 2)
    return Robot(
        name="aloha",
        profile_robot="aloha",
        model=spec.compile(),
        roots=("vx300s_left", "vx300s_right"),
        columns=aloha_scene.JOINT_NAMES,
        units=tuple("rad" if "gripper" not in name else None for name in aloha_scene.JOINT_NAMES),
        cameras=("cam_front", "cam_above", "wrist_left"),
        motion=_wander(rng, home, spread),
        place=aloha_scene.place,
    )


def _wander(rng: np.random.Generator, home: Floats, spread: Floats) -> Curve:
    """Return a smooth walk about ``home``; the last joint before a gripper turns most."""
    knot_s = np.arange(-2 * KNOT_S, DURATION_S + 3 * KNOT_S, KNOT_S)
    knots = home + spread * rng.uniform(-1, 1, (len(knot_s), len(home)))
    return Curve(knot_s=knot_s, knots=knots)


def _place_panda(model: mujoco.MjModel, data: mujoco.MjData, state: Floats) -> None:
    for number, value in enumerate(state[:7], start=1):
        data.joint(f"joint{number}").qpos[0] = value
    driver = 0.8 * (1 - state[7])
    for side in ("left", "right"):
        data.joint(f"{side}_driver_joint").qpos[0] = driver
        data.joint(f"{side}_spring_link_joint").qpos[0] = driver
        data.joint(f"{side}_follower_joint").qpos[0] = -0.96 * driver


def _furnish(spec: mujoco.MjSpec, rng: np.random.Generator, *, desk_m: tuple[float, float]) -> None:
    decor.set_quality(spec, ambient=0.3)
    decor.add_materials(spec, rng)
    decor.add_room(spec, half_m=2.0, floor_m=-0.75)
    decor.add_light(spec, pos_m=(0.9, -0.4, 1.8), target_m=(0.3, 0, 0), level=0.5)
    spec.worldbody.add_geom(
        name="desk",
        type=decor.BOX,
        size=[0.8, 0.7, 0.015],
        pos=[*desk_m, -0.016],
        material="wood",
    )
    _lay_out(spec, rng)
    _passer_by(spec)


def _lay_out(spec: mujoco.MjSpec, rng: np.random.Generator) -> None:
    """Put coloured blocks on the desk, for a wrist camera to follow."""
    for number in range(14):
        prop = decor.add_prop(spec, f"block_{number}")
        prop.pos = [rng.uniform(0.3, 0.85), rng.uniform(-0.45, 0.45), 0.02]
        size = rng.uniform(0.012, 0.035, 3).tolist()
        rgba = (*rng.uniform(0.15, 0.9, 3).tolist(), 1.0)
        decor.add_part(prop, decor.BOX, size, (0, 0, 0), rgba, yaw_rad=rng.uniform(0, 3))


def _passer_by(spec: mujoco.MjSpec) -> None:
    """Add what moves besides the robot; pictures are averaged later, so once per pixel will do."""
    spec.visual.quality.offsamples = 0
    prop = decor.add_prop(spec, PROP)
    decor.add_part(prop, decor.CYLINDER, (0.12, 0.5), (0, 0, 0), (0.3, 0.35, 0.6, 1))


def _camera(
    spec: mujoco.MjSpec,
    body: mujoco.MjsBody,
    name: str,
    pos_m: Sequence[float],
    target_m: Sequence[float],
    fovy_deg: float,
) -> None:
    decor.add_camera(spec, body, name=name, pos_m=pos_m, target_m=target_m, fovy_deg=fovy_deg)
