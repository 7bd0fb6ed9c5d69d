"""What is around a robot: textured surfaces, light, a wall, a floor, and things that lie about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

import mujoco
import numpy as np

from robot_data_platform_tests.samples.generate import textures
from robot_data_platform_tests.samples.generate.motion import Floats

BOX = mujoco.mjtGeom.mjGEOM_BOX
CYLINDER = mujoco.mjtGeom.mjGEOM_CYLINDER
PLANE = mujoco.mjtGeom.mjGEOM_PLANE
Rgba = tuple[float, float, float, float]


def asset_folder(package: str) -> Path:
    """Return the ``assets`` folder of an installed package, without importing the package."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(f"package {package} is not installed; it holds the robot model")
    return Path(spec.submodule_search_locations[0]) / "assets"


def add_materials(spec: mujoco.MjSpec, rng: np.random.Generator) -> None:
    """Add the materials ``wood``, ``cloth``, ``plaster``, ``tiles`` and plain ``paint``."""
    spec.add_material(name="paint", specular=0.4, shininess=0.5)
    repeats = {"wood": (2, 2), "cloth": (1, 1), "plaster": (2, 2), "tiles": (2, 2)}
    for name, repeat in repeats.items():
        draw: Callable[[np.random.Generator], np.ndarray] = getattr(textures, name)
        texture = spec.add_texture(
            name=f"{name}_picture",
            type=mujoco.mjtTexture.mjTEXTURE_2D,
            width=textures.SIDE_PX,
            height=textures.SIDE_PX,
            nchannel=3,
        )
        texture.data = draw(rng).tobytes()
        material = spec.add_material(name=name, texrepeat=repeat, specular=0.15, shininess=0.2)
        material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = f"{name}_picture"


def add_room(spec: mujoco.MjSpec, *, half_m: float, floor_m: float) -> None:
    """Add a floor and four walls at ``half_m`` from the origin."""
    world = spec.worldbody
    world.add_geom(
        name="floor", type=PLANE, size=[3, 3, 0.1], pos=[0, 0, floor_m], material="tiles"
    )
    sides = {"front": (0, -1), "back": (0, 1), "left": (-1, 0), "right": (1, 0)}
    for name, (x, y) in sides.items():
        size = [0.05 if x else 3, 0.05 if y else 3, 3]
        pos = [x * half_m, y * half_m, 0]
        world.add_geom(name=f"wall_{name}", type=BOX, size=size, pos=pos, material="plaster")


def add_light(
    spec: mujoco.MjSpec, *, pos_m: Sequence[float], target_m: Sequence[float], level: float
) -> None:
    """Add a lamp that casts shadows."""
    direction = np.subtract(target_m, pos_m)
    spec.worldbody.add_light(
        name="lamp",
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
        pos=pos_m,
        dir=direction / np.linalg.norm(direction),
        diffuse=[level, level * 0.97, level * 0.9],
        specular=[0.3, 0.3, 0.3],
        castshadow=True,
    )


def add_camera(
    spec: mujoco.MjSpec,
    body: mujoco.MjsBody,
    *,
    name: str,
    pos_m: Sequence[float],
    target_m: Sequence[float],
    fovy_deg: float,
) -> None:
    """Add a camera to a body, looking from one point of the body's frame at another."""
    forward = np.subtract(target_m, pos_m) / np.linalg.norm(np.subtract(target_m, pos_m))
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    axes = np.column_stack([right, np.cross(right, forward), -forward])
    body.add_camera(name=name, pos=pos_m, quat=quat_wxyz(axes), fovy=fovy_deg)


def add_prop(spec: mujoco.MjSpec, name: str) -> mujoco.MjsBody:
    """Add a body that a script moves; it has no weight and touches nothing."""
    return spec.worldbody.add_body(name=name, mocap=True)


def add_part(
    body: mujoco.MjsBody,
    shape: mujoco.mjtGeom,
    size_m: Sequence[float],
    pos_m: Sequence[float],
    rgba: Rgba,
    *,
    material: str = "paint",
    yaw_rad: float = 0.0,
) -> None:
    """Add a coloured piece to a body."""
    body.add_geom(
        type=shape,
        size=size_m,
        pos=pos_m,
        quat=[np.cos(yaw_rad / 2), 0, 0, np.sin(yaw_rad / 2)],
        rgba=rgba,
        material=material,
        contype=0,
        conaffinity=0,
    )


def quat_wxyz(axes: Floats) -> Floats:
    """Return the quaternion of a (3, 3) rotation."""
    quat = np.zeros(4)
    mujoco.mju_mat2Quat(quat, np.ascontiguousarray(axes, dtype=np.float64).reshape(9))
    return quat


def set_quality(spec: mujoco.MjSpec, *, ambient: float) -> None:
    """Set shadows and the light that comes from everywhere."""
    spec.visual.quality.shadowsize = 1024
    spec.stat.extent = 1.0
    spec.visual.headlight.ambient = [ambient] * 3
    spec.visual.headlight.diffuse = [0.25] * 3
    spec.visual.headlight.specular = [0.1] * 3
    spec.visual.map.znear = 0.01
