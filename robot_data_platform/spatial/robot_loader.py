"""Robots from MJCF and URDF files, and from the packages that bring them along."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.errors import DataFaultError, ErrorKind, InvalidInputError
from robot_data_platform.spatial.optional_packages import file_of_package, import_spatial
from robot_data_platform.spatial.robot_model import Coupling, RobotModel, place_in
from robot_data_platform.spatial.robot_sources import WORLD, Follower, robot_source
from robot_data_platform.spatial.urdf import compilable_urdf

if TYPE_CHECKING:
    from mujoco import MjModel


@functools.lru_cache(maxsize=8)
def robot_named(name: str) -> RobotModel:
    """Return a robot whose model a PyPI package brings along; kept for the next call.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: no package is known for it. ``not-installed``: the package is not
        installed.
    DataFaultError
        See `load_robot`.
    """
    source = robot_source(name)
    return load_robot(
        robot_file(name),
        name=name,
        base_link=source.base_link,
        tool_link=source.tool_link,
        root_links=source.root_links,
        followers=source.followers,
    )


def robot_file(name: str) -> Path:
    """Return the file of a robot's model; it is not read.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: no package is known for it. ``not-installed``: the package is not
        installed.
    """
    source = robot_source(name)
    return file_of_package(source.package, source.path)


def load_robot(
    file: Path,
    *,
    name: str | None = None,
    base_link: str = WORLD,
    tool_link: str | None = None,
    root_links: Sequence[str] = (),
    ignored_links: Sequence[str] = (),
    followers: Sequence[Follower] = (),
    package_folders: Mapping[str, Path] | None = None,
) -> RobotModel:
    """Return the robot in an MJCF or URDF file.

    Parameters
    ----------
    file : Path
        ``.xml`` or ``.mjcf`` (MuJoCo), or ``.urdf``.
    name : str, optional
        Name for messages; the file's by default.
    base_link, tool_link : str
        See `RobotModel`.
    root_links : sequence of str
        Links that the robot begins with, where the model also holds tables or objects.
    ignored_links : sequence of str
        Links of the model that the real robot lacks.
    followers : sequence of Follower
        Couplings of joints that the model does not state; those it states are read.
    package_folders : mapping of str to Path, optional
        Folders that ``package://<name>/`` of a URDF stands for.

    Raises
    ------
    DataFaultError
        ``unreadable-file``, ``missing-file``: the model, or a mesh of it; or it has no joints.
    InvalidInputError
        ``not-installed``: mujoco is not. ``invalid-argument``: a link or joint that is not in the
        model. ``unsafe-path``: a mesh outside the robot's folders.
    """
    mujoco = import_spatial("mujoco")
    compiled = _compile(mujoco, file, package_folders or {})
    label = name or file.stem
    bodies = _robot_bodies(compiled, label, root_links, ignored_links)
    joints = _scalar_joints(mujoco, compiled, bodies)
    if not joints:
        raise _unreadable(file, "holds no joints")
    names = tuple(compiled.joint(joint).name for joint in joints)
    limited = compiled.jnt_limited[joints].astype(bool)
    limits = np.where(limited[:, None], compiled.jnt_range[joints], np.nan)
    qpos_ids = tuple(int(compiled.jnt_qposadr[joint]) for joint in joints)
    return RobotModel(
        name=label,
        base_link=_known_body(compiled, base_link, label),
        tool_link=tool_link and _known_body(compiled, tool_link, label),
        link_names=tuple(compiled.body(body).name for body in bodies),
        joint_names=names,
        joint_limits=limits,
        is_prismatic=compiled.jnt_type[joints] == int(mujoco.mjtJoint.mjJNT_SLIDE),
        rest=np.clip(compiled.qpos0[list(qpos_ids)], *_open_limits(limits)),
        couplings=(
            *_stated_couplings(mujoco, compiled, joints),
            *(_coupling(follower, names, label) for follower in followers),
        ),
        compiled=compiled,
        body_ids=bodies,
        qpos_ids=qpos_ids,
    )


def _compile(mujoco: ModuleType, file: Path, package_folders: Mapping[str, Path]) -> MjModel:
    if not file.is_file():
        raise DataFaultError(
            f"The robot model {file.name!r} is not there.",
            kind=ErrorKind.MISSING_FILE,
            file=file.name,
        )
    try:
        if file.suffix.lower() != ".urdf":
            return mujoco.MjModel.from_xml_path(str(file))
        urdf = compilable_urdf(file, package_folders)
        spec = mujoco.MjSpec.from_string(urdf.xml)
        spec.assets = dict(urdf.assets)
        return spec.compile()
    except (ValueError, mujoco.FatalError) as err:
        if isinstance(err, InvalidInputError):
            raise
        raise _unreadable(file, f"does not compile: {err}") from err


def _unreadable(file: Path, what: str) -> DataFaultError:
    return DataFaultError(
        f"The robot model {file.name!r} {what}.", kind=ErrorKind.UNREADABLE_FILE, file=file.name
    )


def _known_body(compiled: MjModel, name: str, label: str) -> str:
    names = [compiled.body(body).name for body in range(compiled.nbody)]
    place_in(name, names, f"The model of {label!r} has no link")
    return name


def _robot_bodies(
    compiled: MjModel, label: str, root_links: Sequence[str], ignored_links: Sequence[str]
) -> tuple[int, ...]:
    names = [compiled.body(body).name for body in range(compiled.nbody)]
    missing = f"The model of {label!r} has no link"
    roots = {place_in(link, names, missing) for link in root_links}
    ignored = {place_in(link, names, missing) for link in ignored_links}
    carried = set(roots) if roots else set(range(1, compiled.nbody))
    for body in range(1, compiled.nbody):  # a body comes after its parent
        if int(compiled.body_parentid[body]) in carried:
            carried.add(body)
    return tuple(sorted(carried - ignored))


def _scalar_joints(mujoco: ModuleType, compiled: MjModel, bodies: Sequence[int]) -> list[int]:
    scalar = {int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)}
    return [
        joint
        for joint in range(compiled.njnt)
        if int(compiled.jnt_type[joint]) in scalar
        and int(compiled.jnt_bodyid[joint]) in set(bodies)
    ]


def _open_limits(limits: Float64Array) -> tuple[Float64Array, Float64Array]:
    is_open = np.isnan(limits)
    return np.where(is_open, -np.inf, limits)[:, 0], np.where(is_open, np.inf, limits)[:, 1]


def _stated_couplings(
    mujoco: ModuleType, compiled: MjModel, joints: Sequence[int]
) -> list[Coupling]:
    """Return the couplings in the model, of URDF's ``mimic`` too: kinematics do not apply them."""
    couplings = []
    for equality in range(compiled.neq):
        ends = int(compiled.eq_obj1id[equality]), int(compiled.eq_obj2id[equality])
        is_joint = int(compiled.eq_type[equality]) == int(mujoco.mjtEq.mjEQ_JOINT)
        if is_joint and set(ends) <= set(joints):
            at_zero = [float(compiled.qpos0[compiled.jnt_qposadr[joint]]) for joint in ends]
            shifted = np.polynomial.Polynomial(compiled.eq_data[equality, :5])
            polynomial = shifted(np.polynomial.Polynomial([-at_zero[1], 1])) + at_zero[0]
            couplings.append(
                Coupling(
                    joint=joints.index(ends[0]),
                    leader=joints.index(ends[1]),
                    coefficients=tuple(polynomial.coef.tolist()),
                )
            )
    return couplings


def _coupling(follower: Follower, names: Sequence[str], label: str) -> Coupling:
    what = f"The model of {label!r} has no joint"
    return Coupling(
        joint=place_in(follower.joint, names, what),
        leader=place_in(follower.leader, names, what),
        coefficients=(0.0, follower.factor),
    )
