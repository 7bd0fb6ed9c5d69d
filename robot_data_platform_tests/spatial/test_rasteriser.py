from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.kinematics import link_poses
from robot_data_platform.spatial.primitives import primitive_mesh
from robot_data_platform.spatial.projection import Pinhole
from robot_data_platform.spatial.rasteriser import rasterise
from robot_data_platform.spatial.robot_mesh import RobotMesh, robot_mesh, simplified, surface_points
from robot_data_platform.spatial.silhouettes import silhouettes
from robot_data_platform_tests.spatial.scenes import lens_px, look_at, two_joint_arm
from robot_data_platform_tests.spatial.test_robot_loader import robot_or_skip

pytest.importorskip("numba", reason="it compiles the rasteriser")
mujoco = pytest.importorskip("mujoco", reason="its rays are the truth")

SMALL = Pinhole(intrinsics_px=lens_px(24, 18, 60), width_px=24, height_px=18)


def mesh_of(vertices: Float64Array, faces: npt.NDArray[np.int32], links: list[int]) -> RobotMesh:
    """Return a mesh whose every face has three vertices of its own."""
    return RobotMesh(
        vertices_m=vertices[faces].reshape(-1, 3),
        vertex_link=np.repeat(np.array(links, dtype=np.int32), 3),
        faces=np.arange(3 * len(faces), dtype=np.int32).reshape(-1, 3),
        face_link=np.array(links, dtype=np.int32),
        link_names=tuple(f"link{k}" for k in range(max(links) + 1)),
    )


def slow(
    mesh: RobotMesh, lens: Pinhole
) -> tuple[npt.NDArray[np.uint8], Float64Array, npt.NDArray[np.bool_]]:
    """Return labels, depths, and which pixels are not on an edge, by cutting rays with planes."""
    y, x = np.mgrid[: lens.height_px, : lens.width_px]
    rays = np.stack([x, y, np.ones_like(x)], axis=-1) @ np.linalg.inv(lens.intrinsics_px).T
    labels, depths = np.zeros(x.shape, np.uint8), np.full(x.shape, np.inf)
    is_clear = np.ones(x.shape, dtype=np.bool_)
    for face, link in zip(mesh.faces, mesh.face_link, strict=True):
        a, b, c = mesh.vertices_m[face]
        system = np.stack([b - a, c - a], axis=1)
        # ray * depth = a + u (b - a) + v (c - a)
        solved = np.linalg.solve(
            np.concatenate([np.broadcast_to(-system, (*x.shape, 3, 2)), rays[..., None]], axis=-1),
            np.broadcast_to(a, (*x.shape, 3))[..., None],
        )[..., 0]
        u, v, depth = np.moveaxis(solved, -1, 0)
        hit = (u >= 0) & (v >= 0) & (u + v <= 1) & (depth > 0) & (depth < depths)
        is_clear &= np.abs(np.stack([u, v, 1 - u - v, depth - depths])).min(axis=0) > 1e-6
        depths[hit], labels[hit] = depth[hit], link + 1
    return labels, depths, is_clear


points = st.tuples(st.floats(-1, 1), st.floats(-1, 1), st.floats(0.5, 2))


@settings(max_examples=40)
@given(corners=st.lists(st.tuples(points, points, points), min_size=1, max_size=4))
def test_triangles_are_drawn_as_rays_would_hit_them(
    corners: list[tuple[tuple[float, float, float], ...]],
) -> None:
    vertices = np.array(corners).reshape(-1, 3)
    normals = [np.cross(b - a, c - a) for a, b, c in vertices.reshape(-1, 3, 3)]
    if any(abs(n @ t[0]) < 1e-3 for n, t in zip(normals, vertices.reshape(-1, 3, 3), strict=True)):
        return  # seen edge on
    faces = np.arange(len(vertices), dtype=np.int32).reshape(-1, 3)
    mesh = mesh_of(vertices, faces, list(range(len(faces))))
    labels, depths = rasterise(mesh, np.tile(np.eye(4), (len(faces), 1, 1)), SMALL)
    expected, expected_depths, is_clear = slow(mesh, SMALL)
    np.testing.assert_array_equal(labels[is_clear], expected[is_clear])
    both = is_clear & (labels > 0)
    np.testing.assert_allclose(depths[both], expected_depths[both], rtol=1e-4)


def test_a_sphere_covers_the_disc_that_geometry_gives() -> None:
    vertices, faces = primitive_mesh("mjGEOM_SPHERE", np.array([0.2, 0, 0]))
    mesh = mesh_of(vertices + np.array([0, 0, 1.0]), faces, [0] * len(faces))
    lens = Pinhole(intrinsics_px=lens_px(200, 200, 60), width_px=200, height_px=200)
    labels, depths = rasterise(mesh, np.eye(4)[None], lens)
    # A sphere of radius r at distance d is seen under the angle asin(r / d).
    radius_px = lens.focal_px * np.tan(np.arcsin(0.2))
    assert (labels > 0).sum() == pytest.approx(np.pi * radius_px**2, rel=0.02)
    assert depths.min() == pytest.approx(0.8, abs=0.005)


def test_what_is_nearer_hides_what_is_behind() -> None:
    square = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], dtype=float)
    vertices = np.concatenate([square + np.array([0, 0, 2.0]), square + np.array([1.0, 0, 1])])
    faces = np.array([[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]], dtype=np.int32)
    labels, _ = rasterise(
        mesh_of(vertices, faces, [0, 0, 1, 1]), np.tile(np.eye(4), (2, 1, 1)), SMALL
    )
    assert labels[9, 23] == 2
    assert labels[9, 5] == 1


def test_what_is_behind_the_camera_is_not_drawn() -> None:
    vertices, faces = primitive_mesh("mjGEOM_BOX", np.array([0.2, 0.2, 0.2]))
    mesh = mesh_of(vertices - [0, 0, 1.0], faces, [0] * len(faces))
    assert not rasterise(mesh, np.eye(4)[None], SMALL)[0].any()


@pytest.mark.parametrize("name", ["aloha", "panda", "so101", "ur5", "xarm7"])
def test_a_robots_silhouette_is_what_the_simulators_rays_hit(name: str) -> None:
    robot = robot_or_skip(name)
    joints = robot.rest[None] + np.random.default_rng(1).uniform(-0.3, 0.3, len(robot.rest))
    lens = Pinhole(intrinsics_px=lens_px(80, 60, 50), width_px=80, height_px=60)
    size = {"so101": 0.4, "aloha": 0.9}.get(name, 1.3)
    middle = (0.0, 0.5, 0.1) if name == "aloha" else (0.1 * size, 0.0, 0.3 * size)
    camera = look_at((size, size + middle[1], size), middle)
    found = silhouettes(robot_mesh(robot, 0.0), link_poses(robot, joints), camera, lens)
    expected = ray_labels(name, joints[0], camera, lens)
    union = (found.labels[0] > 0) | (expected > 0)
    assert union.sum() > 100
    assert (found.labels[0] == expected)[union].mean() > 0.97


def ray_labels(
    name: str, joints: Float64Array, camera: Float64Array, lens: Pinhole
) -> npt.NDArray[np.int64]:
    """Return the label of the link that a ray through each pixel hits first in MuJoCo."""
    robot = robot_or_skip(name)
    data = mujoco.MjData(robot.compiled)
    data.qpos[list(robot.qpos_ids)] = joints
    mujoco.mj_forward(robot.compiled, data)
    base = np.eye(4)
    if robot.base_link != "world":
        base[:3, :3] = data.body(robot.base_link).xmat.reshape(3, 3)
        base[:3, 3] = data.body(robot.base_link).xpos
    pose = base @ camera
    y, x = np.mgrid[: lens.height_px, : lens.width_px]
    rays = np.stack([x, y, np.ones_like(x)], axis=-1).reshape(-1, 3)
    rays = rays @ np.linalg.inv(lens.intrinsics_px).T @ pose[:3, :3].T
    label = {body: link + 1 for link, body in enumerate(robot.body_ids)}
    groups = np.array([1, 1, 1, 0, 0, 0], dtype=np.uint8)
    hit = np.zeros(1, dtype=np.int32)
    found = []
    for ray in rays:
        start, offset = pose[:3, 3].copy(), 0
        while True:  # through tables and objects, which are no robot
            way = mujoco.mj_ray(robot.compiled, data, start, ray, groups, 1, -1, hit)
            body = int(robot.compiled.geom_bodyid[hit[0]]) if way >= 0 else -1
            if way < 0 or body in label or offset > 5:
                break
            start, offset = start + ray * (way + 1e-6), offset + 1
        found.append(label.get(body, 0) if way >= 0 else 0)
    return np.array(found).reshape(x.shape)


def test_simplifying_moves_no_vertex_by_more_than_a_cell() -> None:
    vertices, faces = primitive_mesh("mjGEOM_SPHERE", np.array([0.1, 0, 0]))
    dense = np.concatenate([vertices + shift for shift in (0, 0.0001, 0.0002)])
    many = np.concatenate([faces + k * len(vertices) for k in range(3)])
    points, kept = simplified(dense, many, 0.01)
    assert len(kept) < len(many) / 2
    gap = np.linalg.norm(points[:, None] - dense[None], axis=2).min(axis=1)
    assert gap.max() < 0.01 * np.sqrt(3)


def test_surface_points_lie_on_the_robot_by_area(tmp_path: Path) -> None:
    mesh = robot_mesh(two_joint_arm(tmp_path))
    points, links = surface_points(mesh, 1000)
    upper = points[links == mesh.link_names.index("upper")]
    radius = np.linalg.norm(upper - np.clip(upper, [0, 0, 0], [0.5, 0, 0]), axis=1)
    assert radius.max() < 0.03 + 1e-9
    # Of the areas 2 pi r l + 4 pi r^2 of two capsules, 6 a^2 of a cube and 4 pi r^2 of a ball:
    areas = [0.06, 0.1056, 0.0679, 0.0201]
    np.testing.assert_allclose(
        np.bincount(links, minlength=4) / 1000, np.array(areas) / sum(areas), atol=0.02
    )
