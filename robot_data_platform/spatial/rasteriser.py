"""Triangles to pictures of link labels and depths, by a z-buffer."""

from __future__ import annotations

import functools
from collections.abc import Callable
from math import ceil, floor

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.optional_packages import import_spatial
from robot_data_platform.spatial.projection import NEAR_M, Pinhole
from robot_data_platform.spatial.robot_mesh import Int32Array, RobotMesh, link_balls

Labels = npt.NDArray[np.uint8]
Depths = npt.NDArray[np.float32]


def rasterise(
    mesh: RobotMesh,
    cam_from_link: Float64Array,
    lens: Pinhole,
    in_view: npt.NDArray[np.bool_] | None = None,
) -> tuple[Labels, Depths]:
    """Return which link each pixel shows, and how far it is.

    Parameters
    ----------
    mesh : RobotMesh
        The robot's surface.
    cam_from_link : ndarray of float64, shape (L, 4, 4)
        Pose of each link before the camera, metres, OpenCV axes.
    lens : Pinhole
        Lens and picture size ``(H, W)``.
    in_view : ndarray of bool, shape (L,), optional
        From `links_in_view`, where it is known.

    Returns
    -------
    tuple of ndarray of uint8 and ndarray of float32, both of shape (H, W)
        0 = no robot, else 1 + index of the link; and the depth in metres, inf where no robot is.

    Notes
    -----
    Both sides of a triangle are drawn: meshes of robots do not agree on which side is out.
    Triangles nearer than `NEAR_M` are left out.
    """
    labels = np.zeros((lens.height_px, lens.width_px), dtype=np.uint8)
    near = np.zeros(labels.shape, dtype=np.float32)
    project, draw = _compiled()
    pixels = np.empty((len(mesh.vertices_m), 2))
    depth = np.empty(len(pixels))
    poses = np.ascontiguousarray(cam_from_link)
    if in_view is None:
        in_view = links_in_view(mesh, poses, lens)
    project(mesh.vertices_m, mesh.vertex_link, in_view, poses, lens.intrinsics_px, pixels, depth)
    draw(pixels, depth, mesh.faces, mesh.face_link, NEAR_M, labels, near)
    with np.errstate(divide="ignore"):
        return labels, np.reciprocal(near)


def links_in_view(
    mesh: RobotMesh, cam_from_link: Float64Array, lens: Pinhole
) -> npt.NDArray[np.bool_]:
    """Return whether the ball about each link reaches into the picture, (..., L).

    Parameters
    ----------
    mesh : RobotMesh
        The robot's surface.
    cam_from_link : ndarray of float64, shape (..., L, 4, 4)
        Pose of each link before the camera.
    lens : Pinhole
        Lens and picture size.
    """
    centres, radii = link_balls(mesh)
    turned = (cam_from_link[..., :3, :3] @ centres[:, :, None])[..., 0]
    at = turned + cam_from_link[..., :3, 3]
    x, y, z = lens.intrinsics_px
    # Each side of the picture is a plane through the lens; what is positive is on the inner side.
    sides = np.stack([x, y, (lens.width_px - 1) * z - x, (lens.height_px - 1) * z - y])
    inside = at @ (sides / np.linalg.norm(sides, axis=1, keepdims=True)).T
    return np.asarray((inside > -radii[:, None]).all(axis=-1) & (at[..., 2] + radii > NEAR_M))


@functools.cache
def _compiled() -> tuple[Callable[..., None], Callable[..., None]]:
    numba = import_spatial("numba")
    compile_ = numba.njit(cache=True, nogil=True)
    return compile_(_project), compile_(_draw)


def _project(
    vertices: Float64Array,
    vertex_link: Int32Array,
    seen: npt.NDArray[np.bool_],
    poses: Float64Array,
    lens: Float64Array,
    pixels: Float64Array,
    depth: Float64Array,
) -> None:
    """Write pixels and depths of the vertices; a pixel of one behind the camera means nothing.

    Those of links that are not seen are put behind it.
    """
    for vertex in range(vertices.shape[0]):
        link = vertex_link[vertex]
        depth[vertex] = -1.0
        if not seen[link]:
            continue
        pose = poses[link]
        vx, vy, vz = vertices[vertex, 0], vertices[vertex, 1], vertices[vertex, 2]
        x = pose[0, 0] * vx + pose[0, 1] * vy + pose[0, 2] * vz + pose[0, 3]
        y = pose[1, 0] * vx + pose[1, 1] * vy + pose[1, 2] * vz + pose[1, 3]
        z = pose[2, 0] * vx + pose[2, 1] * vy + pose[2, 2] * vz + pose[2, 3]
        depth[vertex] = z
        if z > 0:
            pixels[vertex, 0] = (lens[0, 0] * x + lens[0, 1] * y) / z + lens[0, 2]
            pixels[vertex, 1] = lens[1, 1] * y / z + lens[1, 2]


def _draw(
    pixels: Float64Array,
    depth: Float64Array,
    faces: Int32Array,
    face_link: Int32Array,
    near_m: float,
    labels: Labels,
    near: Depths,
) -> None:
    """Draw faces into ``labels`` and ``near``, one over the depth; numba makes machine code of it.

    A pixel belongs to a triangle where its centre lies within, or on an edge of it.
    """
    height, width = labels.shape
    for face in range(faces.shape[0]):
        a, b, c = faces[face, 0], faces[face, 1], faces[face, 2]
        if depth[a] < near_m or depth[b] < near_m or depth[c] < near_m:
            continue
        ax, ay = pixels[a, 0], pixels[a, 1]
        bx, by = pixels[b, 0], pixels[b, 1]
        cx, cy = pixels[c, 0], pixels[c, 1]
        left, right = ceil(max(0.0, min(ax, bx, cx))), floor(min(width - 1.0, max(ax, bx, cx)))
        if left > right:
            continue
        top, bottom = ceil(max(0.0, min(ay, by, cy))), floor(min(height - 1.0, max(ay, by, cy)))
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        if area == 0 or top > bottom:
            continue
        if area < 0:
            area, b, bx, by, c, cx, cy = -area, c, cx, cy, b, bx, by
        # Inverse depth, not depth, is linear in the picture.
        za, zb, zc = 1 / depth[a] / area, 1 / depth[b] / area, 1 / depth[c] / area
        for y in range(top, bottom + 1):
            is_within = False
            for x in range(left, right + 1):
                # Shares of the corners, of the whole area; they are negative outside.
                u = (bx - x) * (cy - y) - (cx - x) * (by - y)
                v = (cx - x) * (ay - y) - (ax - x) * (cy - y)
                w = (ax - x) * (by - y) - (bx - x) * (ay - y)
                if u >= 0 and v >= 0 and w >= 0:
                    is_within = True
                    nearness = u * za + v * zb + w * zc
                    if nearness > near[y, x]:
                        near[y, x] = nearness
                        labels[y, x] = face_link[face] + 1
                elif is_within:
                    break
