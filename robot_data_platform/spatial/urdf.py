"""URDF files in the form that MuJoCo compiles: meshes found and converted, collisions left out."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from robot_data_platform.errors import DataFaultError, ErrorKind, InvalidInputError
from robot_data_platform.spatial.mesh_files import stl_bytes

_PACKAGE = "package://"
_FILE = "file://"

_COMPILER = {
    "discardvisual": "false",
    "strippath": "false",
    "fusestatic": "false",
    # Kinematics need no masses, but a model without plausible ones does not compile.
    "balanceinertia": "true",
    "boundmass": "1e-3",
    "boundinertia": "1e-6",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CompilableUrdf:
    """A URDF that needs no file beside it."""

    xml: str
    assets: Mapping[str, bytes]
    """STL bytes by the name that the XML gives them."""


def compilable_urdf(file: Path, package_folders: Mapping[str, Path]) -> CompilableUrdf:
    """Return a URDF with its visual meshes, as MuJoCo can compile it.

    Parameters
    ----------
    file : Path
        The URDF.
    package_folders : mapping of str to Path
        Folder that ``package://<name>/`` stands for. A name that is not there is looked for among
        the folders above the file.

    Raises
    ------
    DataFaultError
        ``unreadable-file``: no XML, or a mesh that can't be read. ``missing-file``: a mesh that
        is not there.
    InvalidInputError
        ``unsafe-path``: a mesh outside the robot's own folders.
    """
    robot = _parsed(file)
    assets: dict[str, bytes] = {}
    name_by_path: dict[Path, str] = {}
    for link in robot.iter("link"):
        for collision in link.findall("collision"):
            link.remove(collision)
    for mesh in robot.iter("mesh"):
        path = _mesh_path(mesh.get("filename", ""), file, package_folders)
        name = name_by_path.setdefault(path, f"{path.stem}_{len(name_by_path)}.stl")
        if name not in assets:
            assets[name] = stl_bytes(path)
        mesh.set("filename", name)
    _state_compiler(robot)
    return CompilableUrdf(xml=ET.tostring(robot, encoding="unicode"), assets=assets)


def _parsed(file: Path) -> ET.Element:
    try:
        robot = ET.parse(file).getroot()
    except (OSError, ET.ParseError, ValueError, LookupError) as err:  # the last two: encodings
        raise DataFaultError(
            f"The robot model {file.name!r} can't be read ({err}).",
            kind=ErrorKind.UNREADABLE_FILE,
            file=file.name,
        ) from err
    if robot.tag != "robot":
        raise DataFaultError(
            f"The robot model {file.name!r} is no URDF: got the element <{robot.tag}>, expected "
            "<robot>.",
            kind=ErrorKind.UNREADABLE_FILE,
            file=file.name,
        )
    return robot


def _state_compiler(robot: ET.Element) -> None:
    """Say how to compile, in place of whatever the file says of it."""
    for old in robot.findall("mujoco"):
        robot.remove(old)
    ET.SubElement(ET.SubElement(robot, "mujoco"), "compiler", _COMPILER)


def _mesh_path(reference: str, file: Path, package_folders: Mapping[str, Path]) -> Path:
    if reference.startswith(_PACKAGE):
        package, _, rest = reference.removeprefix(_PACKAGE).partition("/")
        root = _package_folder(package, file, package_folders)
        path = root / rest
    else:
        # Most URDFs stand in a folder beside that of their meshes.
        root, path = file.parent.parent, file.parent / reference.removeprefix(_FILE)
    if not path.resolve().is_relative_to(root.resolve()):
        raise InvalidInputError(
            f"The robot model {file.name!r} names the mesh {reference!r}, which is outside its "
            "folders. Move the mesh, or name its package's folder.",
            kind=ErrorKind.UNSAFE_PATH,
            file=file.name,
        )
    if not path.is_file():
        raise DataFaultError(
            f"The robot model {file.name!r} names the mesh {reference!r}, which is not there. "
            "Get the mesh, or name its package's folder.",
            kind=ErrorKind.MISSING_FILE,
            file=file.name,
        )
    return path.resolve()


def _package_folder(package: str, file: Path, package_folders: Mapping[str, Path]) -> Path:
    above = {folder.name: folder for folder in file.resolve().parents}
    folder = package_folders.get(package) or above.get(package)
    if folder is None:
        raise InvalidInputError(
            f"The robot model {file.name!r} has meshes in the package {package!r}: got folders "
            f"for {sorted(package_folders)}. Name the folder of {package!r}.",
            kind=ErrorKind.INVALID_ARGUMENT,
            file=file.name,
        )
    return folder
