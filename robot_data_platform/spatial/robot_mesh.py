"""The robot's visible surface: one triangle mesh, with the link that each part belongs to."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.spatial.optional_packages import import_spatial
from robot_data_platform.spatial.primitives import primitive_mesh
from robot_data_platform.spatial.robot_model import RobotModel

if TYPE_CHECKING:
    from mujoco import MjModel

VISIBLE_GROUPS = (0, 1, 2)
"""Groups of geoms that MuJoCo shows by default; collision shapes are kept in later ones."""
CELL_M = 0.002
"""Edge of the cells in which vertices merge: half a pixel at 1.2 m and 320 px."""
_SMALL_MESH_FACES = 500
"""Meshes with fewer faces are kept as they are."""

Int32Array = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RobotMesh:
    """Triangles of all links, each in the frame of its link."""

    vertices_m: Float64Array
    """(V, 3) in the frame of the vertex's link."""
    vertex_link: Int32Array
    """(V,) index in `RobotModel.link_names`."""
    faces: Int32Array
    """(F, 3) indices of vertices, all of one link."""
    face_link: Int32Array
    """(F,) index of each face's link."""
    link_names: tuple[str, ...]


@functools.lru_cache(maxsize=8)
def robot_mesh(robot: RobotModel, cell_m: float = CELL_M) -> RobotMesh:
    """Return the visible surface of a robot, simplified; kept for the next call.

    Parameters
    ----------
    robot : RobotModel
        The robot.
    cell_m : float
        Vertices within one cell of this edge become one; 0 = keep the meshes as they are.

    Raises
    ------
    DataFaultError
        ``missing-file``: the model has no visible meshes.
    """
    mujoco = import_spatial("mujoco")
    model, vertices, faces, links = robot.compiled, [], [], []
    link_of_body = {body: link for link, body in enumerate(robot.body_ids)}
    num_vertices = 0
    for geom in range(model.ngeom):
        link = link_of_body.get(int(model.geom_bodyid[geom]))
        if link is None or not _is_visible(model, geom):
            continue
        points, triangles = simplified(*_geom_mesh(mujoco, model, geom), cell_m)
        vertices.append(points)
        faces.append(triangles + num_vertices)
        links.append(np.full(len(points), link))
        num_vertices += len(points)
    if not num_vertices:
        raise DataFaultError(
            f"The model of {robot.name!r} has no visible meshes. Get a model with meshes.",
            kind=ErrorKind.MISSING_FILE,
            robot=robot.name,
        )
    vertex_link = np.concatenate(links).astype(np.int32)
    all_faces = np.concatenate(faces).astype(np.int32)
    return RobotMesh(
        vertices_m=np.concatenate(vertices),
        vertex_link=vertex_link,
        faces=all_faces,
        face_link=vertex_link[all_faces[:, 0]],
        link_names=robot.link_names,
    )


def _is_visible(model: MjModel, geom: int) -> bool:
    return int(model.geom_group[geom]) in VISIBLE_GROUPS and float(model.geom_rgba[geom, 3]) > 0


def _geom_mesh(mujoco: ModuleType, model: MjModel, geom: int) -> tuple[Float64Array, Int32Array]:
    """Return a geom's vertices in its link's frame, and its faces."""
    mesh = int(model.geom_dataid[geom])
    if int(model.geom_type[geom]) == int(mujoco.mjtGeom.mjGEOM_MESH):
        start, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
        points = model.mesh_vert[start : start + count].astype(np.float64)
        first, number = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
        faces = model.mesh_face[first : first + number].astype(np.int32)
    else:
        kind = mujoco.mjtGeom(int(model.geom_type[geom])).name
        points, faces = primitive_mesh(kind, model.geom_size[geom])
    rotation = np.zeros(9)
    mujoco.mju_quat2Mat(rotation, model.geom_quat[geom])
    return points @ rotation.reshape(3, 3).T + model.geom_pos[geom], faces


def simplified(
    vertices_m: Float64Array, faces: Int32Array, cell_m: float
) -> tuple[Float64Array, Int32Array]:
    """Return a mesh whose vertices within a cell are one: no point moves by more than a cell.

    Parameters
    ----------
    vertices_m : ndarray of float64, shape (V, 3)
        Metres.
    faces : ndarray of int32, shape (F, 3)
        Indices of vertices.
    cell_m : float
        Edge of a cell.

    Returns
    -------
    tuple of ndarray of float64, shape (v, 3), and ndarray of int32, shape (f, 3)
        The merged vertices, and the faces that still have three different ones.
    """
    if not cell_m or len(faces) <= _SMALL_MESH_FACES:
        return vertices_m, faces
    cells = np.floor(vertices_m / cell_m).astype(np.int64)
    _, merged, count = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    merged = merged.reshape(-1)
    total = np.zeros((len(count), 3))
    np.add.at(total, merged, vertices_m)
    kept = merged[faces].astype(np.int32)
    a, b, c = kept.T
    kept = kept[(a != b) & (b != c) & (a != c)]
    _, first = np.unique(np.sort(kept, axis=1), axis=0, return_index=True)
    return total / count[:, None], kept[np.sort(first)]


@functools.lru_cache(maxsize=8)
def surface_points(mesh: RobotMesh, number: int) -> tuple[Float64Array, Int32Array]:
    """Return points spread over the surface by area, (N, 3) in their links, and the links, (N,).

    The same mesh gives the same points.
    """
    corners = mesh.vertices_m[mesh.faces]
    area = np.linalg.norm(
        np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1
    )
    edges = np.cumsum(area)
    chosen = np.searchsorted(edges, (np.arange(number) + 0.5) / number * edges[-1])
    chosen = np.minimum(chosen, len(area) - 1)
    return corners[chosen].mean(axis=1), mesh.face_link[chosen]


@functools.lru_cache(maxsize=8)
def link_balls(mesh: RobotMesh) -> tuple[Float64Array, Float64Array]:
    """Return the ball about each link: its centre in the link's frame, (L, 3), and radius, (L,).

    A link without a surface has the radius -inf, and is nowhere.
    """
    count = len(mesh.link_names)
    centres, radii = np.zeros((count, 3)), np.full(count, -np.inf)
    for link in np.unique(mesh.vertex_link):
        points = mesh.vertices_m[mesh.vertex_link == link]
        centres[link] = (points.min(axis=0) + points.max(axis=0)) / 2
        radii[link] = np.linalg.norm(points - centres[link], axis=1).max()
    return centres, radii
