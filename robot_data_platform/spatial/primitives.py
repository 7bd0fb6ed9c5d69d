"""Boxes, spheres, cylinders and capsules of robot models as triangles."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.rotation import Float64Array

_SEGMENTS = 24
"""Sides of what is round: the outline is off by less than 1 % of the radius."""

Int32Array = npt.NDArray[np.int32]


def primitive_mesh(kind: str, size_m: Float64Array) -> tuple[Float64Array, Int32Array]:
    """Return a shape of MuJoCo as vertices (V, 3) and faces (F, 3), in its own frame.

    Parameters
    ----------
    kind : str
        Name in ``mjtGeom``. A plane has no outline, and gives no faces.
    size_m : ndarray of float64, shape (3,)
        ``geom_size``: half lengths or radii.
    """
    size = np.asarray(size_m, dtype=np.float64)
    quarter = np.linspace(0, np.pi / 2, _SEGMENTS // 4 + 1)
    match kind:
        case "mjGEOM_BOX":
            profile = np.array([[0, -1], [np.sqrt(2), -1], [np.sqrt(2), 1], [0, 1]])
            points, faces = _revolved(profile, 4)
            return points * size, faces
        case "mjGEOM_SPHERE" | "mjGEOM_ELLIPSOID":
            points, faces = _revolved(_arc(quarter, 0.0), _SEGMENTS)
            return points * (size if kind == "mjGEOM_ELLIPSOID" else size[0]), faces
        case "mjGEOM_CYLINDER":
            radius, half = size[:2]
            profile = np.array([[0, -half], [radius, -half], [radius, half], [0, half]])
            return _revolved(profile, _SEGMENTS)
        case "mjGEOM_CAPSULE":
            return _revolved(_arc(quarter, size[1] / size[0]) * size[0], _SEGMENTS)
    return np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int32)


def _arc(quarter_rad: Float64Array, half_length: float) -> Float64Array:
    """Return the profile of a unit sphere, its halves pulled apart."""
    up = np.stack([np.cos(quarter_rad), np.sin(quarter_rad) + half_length], axis=1)
    return np.concatenate([up[::-1] * [1, -1], up])


def _revolved(profile: Float64Array, segments: int) -> tuple[Float64Array, Int32Array]:
    """Return the surface that a profile of (radius, z), (P, 2), sweeps about z."""
    angle = (np.arange(segments) + 0.5) * (2 * np.pi / segments)
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    points = np.concatenate(
        [np.column_stack([radius * ring, np.full(segments, z)]) for radius, z in profile]
    )
    low = np.arange((len(profile) - 1) * segments).reshape(-1, segments)
    right, up = np.roll(low, -1, axis=1), low + segments
    across = right + segments
    faces = np.concatenate(
        [
            np.stack(corners, axis=-1).reshape(-1, 3)
            for corners in ((low, right, across), (low, across, up))
        ]
    )
    return points, faces.astype(np.int32)
