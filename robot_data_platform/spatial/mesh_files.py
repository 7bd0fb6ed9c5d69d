"""Mesh files as binary STL, the form that MuJoCo reads of them all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.spatial.optional_packages import import_spatial

if TYPE_CHECKING:
    from collada.primitive import Primitive
    from collada.triangleset import TriangleSet

MAX_MESH_BYTES = 64 << 20
"""Larger files are refused unread; the parts of a robot have a few MB each."""

_STL_FACE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_STL_HEADER_BYTES = 80


def stl_bytes(path: Path) -> bytes:
    """Return a mesh (``.stl``, ``.dae``) as binary STL, in metres.

    Raises
    ------
    DataFaultError
        ``unreadable-file``: another kind of file, broken, or too large.
    """
    size = path.stat().st_size
    if size > MAX_MESH_BYTES:
        raise _unreadable(path, f"got {size} bytes, expected at most {MAX_MESH_BYTES}")
    match path.suffix.lower():
        case ".stl":
            return path.read_bytes()
        case ".dae":
            return stl_of_triangles(_collada_triangles(path))
    raise _unreadable(path, f"got a {path.suffix!r} file, expected '.dae' or '.stl'")


def stl_of_triangles(corners: npt.NDArray[np.float64]) -> bytes:
    """Return triangles, (N, 3 corners, 3), as binary STL."""
    faces = np.zeros(len(corners), dtype=_STL_FACE)
    faces["corners"] = corners
    count = np.uint32(len(faces)).tobytes()
    return bytes(_STL_HEADER_BYTES) + count + faces.tobytes()


def _collada_triangles(path: Path) -> npt.NDArray[np.float64]:
    collada = import_spatial("collada")
    faults = import_spatial("collada.common")
    try:
        document = collada.Collada(str(path), ignore=[faults.DaeUnsupportedError])
        parts = [
            triangles.vertex[triangles.vertex_index]
            for geometry in document.scene.objects("geometry")
            for piece in geometry.primitives()
            for triangles in _triangle_sets(piece)
        ]
        metres = float(document.assetInfo.unitmeter or 1.0)
    except (faults.DaeError, OSError, ValueError, LookupError, AttributeError) as err:
        raise _unreadable(path, str(err)) from err
    if not parts:
        raise _unreadable(path, "it holds no triangles")
    return np.concatenate(parts).astype(np.float64) * metres


def _triangle_sets(piece: Primitive) -> list[TriangleSet]:
    """Return a primitive as triangles; of lines, nothing."""
    if hasattr(piece, "triangleset"):
        piece = piece.triangleset()
    return (
        [piece] if hasattr(piece, "vertex_index") and piece.vertex_index.shape[1:] == (3,) else []
    )


def _unreadable(path: Path, why: str) -> DataFaultError:
    return DataFaultError(
        f"The mesh {path.name!r} can't be read: {why}. Convert it to STL.",
        kind=ErrorKind.UNREADABLE_FILE,
        file=path.name,
    )
