from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from robot_data_platform.spatial.edge_lock import edge_lock
from robot_data_platform.spatial.outline import Outline, outline

cv2 = pytest.importorskip("cv2", reason="it computes gradients")
pytest.importorskip("numba", reason="it compiles the search")


def disc(x: float, y: float, radius: float) -> npt.NDArray[np.bool_]:
    rows, columns = np.mgrid[:120, :160]
    return np.asarray(np.hypot(columns - x, rows - y) <= radius)


def picture_of(mask: npt.NDArray[np.bool_], seed: int = 0) -> npt.NDArray[np.uint8]:
    noise = np.random.default_rng(seed).normal(0, 6, (*mask.shape, 3))
    return np.clip(np.where(mask, 180, 90)[..., None] + noise, 0, 255).astype(np.uint8)


def outline_of(mask: npt.NDArray[np.bool_], depth_m: float = 1.0) -> Outline:
    return outline(mask.astype(np.uint8), np.where(mask, depth_m, np.inf).astype(np.float32))


def test_an_outline_runs_around_a_disc_and_points_out_of_it() -> None:
    points = outline_of(disc(80, 60, 30))
    radius = np.linalg.norm(points.pixels - [80, 60], axis=1)
    assert radius == pytest.approx(30.2, abs=0.7)
    outwards = ((points.pixels - [80, 60]) / radius[:, None] * points.normals).sum(axis=1)
    assert outwards.min() > 0.97


def test_where_the_picture_cuts_the_robot_off_there_is_no_outline() -> None:
    points = outline_of(disc(0, 60, 30))
    assert points.pixels[:, 0].min() > 0.5


@pytest.mark.parametrize(("dx", "dy"), [(0, 0), (5, 0), (-3, 4), (12, -9)])
def test_the_shift_to_the_real_edge_is_found(dx: int, dy: int) -> None:
    projected = [outline_of(disc(80, 60, 30))] * 3
    pictures = np.stack([picture_of(disc(80 + dx, 60 + dy, 30), seed) for seed in range(3)])
    lock = edge_lock(pictures, projected)
    assert lock is not None
    assert [lock.dx_px, lock.dy_px] == pytest.approx([dx, dy], abs=1)


def test_a_lock_in_place_stands_out_and_one_beside_does_not() -> None:
    pictures = picture_of(disc(80, 60, 30))[None]
    right = edge_lock(pictures, [outline_of(disc(80, 60, 30))])
    wrong = edge_lock(pictures, [outline_of(disc(70, 66, 30))])
    assert right is not None
    assert wrong is not None
    assert right.z > 6 > 3 > wrong.z


def test_without_an_outline_nothing_is_measured() -> None:
    empty = outline_of(np.zeros((120, 160), dtype=np.bool_))
    assert edge_lock(picture_of(disc(80, 60, 30))[None], [empty]) is None


def test_a_picture_without_any_edge_locks_nowhere() -> None:
    flat = np.full((1, 120, 160, 3), 90, dtype=np.uint8)
    lock = edge_lock(flat, [outline_of(disc(80, 60, 30))])
    assert lock is not None
    assert abs(lock.z) < 1
