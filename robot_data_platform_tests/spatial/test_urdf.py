from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robot_data_platform.errors import DataFaultError, ErrorKind, InvalidInputError
from robot_data_platform.spatial.mesh_files import stl_of_triangles
from robot_data_platform.spatial.robot_loader import load_robot
from robot_data_platform.spatial.robot_mesh import robot_mesh

pytest.importorskip("mujoco", reason="it compiles the model")

URDF = """
<robot name="arm">
  <link name="base"><visual><geometry><mesh filename="{mesh}"/></geometry></visual>
    <collision><geometry><mesh filename="not_there.stl"/></geometry></collision></link>
  <link name="tip"><visual><geometry><box size="0.1 0.2 0.4"/></geometry></visual></link>
  <joint name="turn" type="revolute"><parent link="base"/><child link="tip"/>
    <origin xyz="0 0 1"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/>
  </joint>
</robot>
"""
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=float)
TETRAHEDRON = CORNERS[np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])]

COLLADA = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset><created>2020-01-01T00:00:00Z</created><modified>2020-01-01T00:00:00Z</modified>
    <unit name="centimeter" meter="0.01"/><up_axis>Z_UP</up_axis></asset>
  <library_geometries><geometry id="g"><mesh>
    <source id="p"><float_array id="pa" count="12">0 0 0 1 0 0 0 1 0 0 0 1</float_array>
      <technique_common><accessor source="#pa" count="4" stride="3">
        <param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/>
      </accessor></technique_common></source>
    <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
    <triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/>
      <p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles>
  </mesh></geometry></library_geometries>
  <library_visual_scenes><visual_scene id="s"><node id="n"><scale>10 10 10</scale>
    <instance_geometry url="#g"/></node></visual_scene></library_visual_scenes>
  <scene><instance_visual_scene url="#s"/></scene>
</COLLADA>
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("urdf", "meshes"):
        (tmp_path / "arm_description" / name).mkdir(parents=True)
    root = tmp_path / "arm_description"
    (root / "meshes" / "base.stl").write_bytes(stl_of_triangles(TETRAHEDRON))
    (root / "meshes" / "base.dae").write_text(COLLADA)
    return root


def urdf(folder: Path, mesh: str) -> Path:
    file = folder / "urdf" / "arm.urdf"
    file.write_text(URDF.format(mesh=mesh))
    return file


@pytest.mark.parametrize(
    "mesh", ["../meshes/base.stl", "package://arm_description/meshes/base.stl"]
)
def test_meshes_are_found_beside_the_file_and_in_its_package(folder: Path, mesh: str) -> None:
    points = robot_mesh(load_robot(urdf(folder, mesh))).vertices_m
    np.testing.assert_allclose(np.ptp(points[:4], axis=0), [1, 1, 1], atol=1e-6)


def test_a_package_elsewhere_is_found_in_the_folder_that_is_named(
    folder: Path, tmp_path: Path
) -> None:
    file = urdf(folder, "package://shapes/base.stl")
    (tmp_path / "other").mkdir()
    (folder / "meshes" / "base.stl").rename(tmp_path / "other" / "base.stl")
    robot = load_robot(file, package_folders={"shapes": tmp_path / "other"})
    assert robot.link_names == ("base", "tip")


def test_a_collada_mesh_keeps_its_unit_and_its_scenes_scale(folder: Path) -> None:
    pytest.importorskip("collada", reason="it reads Collada")
    points = robot_mesh(load_robot(urdf(folder, "../meshes/base.dae"))).vertices_m
    np.testing.assert_allclose(np.ptp(points[:4], axis=0), [0.1, 0.1, 0.1], atol=1e-6)


def test_a_box_has_the_size_that_is_stated(folder: Path) -> None:
    mesh = robot_mesh(load_robot(urdf(folder, "../meshes/base.stl")))
    tip = mesh.vertices_m[mesh.vertex_link == mesh.link_names.index("tip")]
    np.testing.assert_allclose(np.ptp(tip, axis=0), [0.1, 0.2, 0.4], atol=1e-9)


def test_a_mesh_that_is_not_there_is_named(folder: Path) -> None:
    with pytest.raises(DataFaultError, match=r"'\.\./meshes/gone\.stl'") as caught:
        load_robot(urdf(folder, "../meshes/gone.stl"))
    assert caught.value.kind is ErrorKind.MISSING_FILE


@pytest.mark.parametrize(
    "mesh", ["../../secret.stl", "file:///etc/passwd", "package://arm_description/../secret.stl"]
)
def test_a_mesh_outside_the_robots_folders_is_refused(
    folder: Path, tmp_path: Path, mesh: str
) -> None:
    (tmp_path / "secret.stl").write_bytes(stl_of_triangles(TETRAHEDRON))
    with pytest.raises(InvalidInputError) as caught:
        load_robot(urdf(folder, mesh))
    assert caught.value.kind is ErrorKind.UNSAFE_PATH


def test_an_unknown_package_is_named(folder: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"Name the folder of 'no_such_pkg'"):
        load_robot(urdf(folder, "package://no_such_pkg/base.stl"))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bad.stl", b"\0" * 40),
        ("bad.dae", b"<COLLADA"),
        ("bad.dae", b""),
        ("bad.obj", b"v 0 0 0"),
        ("bad.dae", COLLADA.replace("0 2 1 0 1 3", "0 2 9 0 1 3").encode()),
        ("bad.dae", COLLADA.replace('url="#s"', 'url="#x"').encode()),
    ],
)
def test_a_broken_mesh_is_refused(folder: Path, name: str, content: bytes) -> None:
    (folder / "meshes" / name).write_bytes(content)
    with pytest.raises(DataFaultError) as caught:
        load_robot(urdf(folder, f"../meshes/{name}"))
    assert caught.value.kind is ErrorKind.UNREADABLE_FILE


@pytest.mark.parametrize("name", ["urdf/arm.urdf", "meshes/base.stl", "meshes/base.dae"])
def test_damaged_files_are_read_or_refused_by_kind(folder: Path, name: str) -> None:
    pytest.importorskip("collada", reason="it reads Collada")
    suffix = Path(name).suffix if name.startswith("meshes") else ".stl"
    file = urdf(folder, f"../meshes/base{suffix}")
    whole, rng = (folder / name).read_bytes(), np.random.default_rng(6)
    for _ in range(40):
        damaged = bytearray(whole)
        for place in rng.integers(0, len(whole), rng.integers(1, 6)):
            damaged[place] = rng.integers(256)
        (folder / name).write_bytes(bytes(damaged[: rng.integers(1, len(whole) + 1)]))
        try:
            robot_mesh(load_robot(file))
        except (DataFaultError, InvalidInputError) as err:
            assert err.facts.get("file") or err.kind is ErrorKind.INVALID_ARGUMENT  # noqa: PT017
