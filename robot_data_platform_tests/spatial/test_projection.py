from __future__ import annotations

import numpy as np
import pytest

from robot_data_platform.core.calibration import inverse
from robot_data_platform.spatial.projection import Pinhole, transformed
from robot_data_platform_tests.spatial.scenes import lens_px, look_at

LENS = Pinhole(
    intrinsics_px=np.array([[600.0, 0, 319.5], [0, 500.0, 239.5], [0, 0, 1]]),
    width_px=640,
    height_px=480,
)


def test_a_point_lands_where_similar_triangles_put_it() -> None:
    pixel = LENS.project(np.array([0.2, -0.1, 2.0]))
    assert pixel.tolist() == pytest.approx([319.5 + 60, 239.5 - 25])


def test_a_point_behind_the_camera_has_no_pixel() -> None:
    assert np.isnan(LENS.project(np.array([[0.0, 0.0, -1.0], [0.0, 0.0, 0.0]]))).all()


def test_half_the_size_halves_pixels_counted_from_the_pictures_edge() -> None:
    point = np.array([0.3, 0.2, 1.5])
    large, small = LENS.project(point), LENS.resized(320, 240).project(point)
    np.testing.assert_allclose(small + 0.5, (large + 0.5) / 2)


def test_the_target_of_a_camera_is_in_the_middle() -> None:
    cam_from_base = inverse(look_at((0.8, -0.4, 0.9), (0.1, 0.2, 0.3)))
    lens = Pinhole(intrinsics_px=lens_px(640, 480, 50), width_px=640, height_px=480)
    (pixel,) = lens.project(transformed(cam_from_base, np.array([[0.1, 0.2, 0.3]])))
    assert pixel.tolist() == pytest.approx([319.5, 239.5])


def test_up_in_the_world_is_up_in_the_picture() -> None:
    cam_from_base = inverse(look_at((0.8, -0.4, 0.9), (0.1, 0.2, 0.3)))
    (pixel,) = LENS.project(transformed(cam_from_base, np.array([[0.1, 0.2, 0.35]])))
    assert pixel[1] < 239.5


def test_the_share_in_view_counts_points_within_the_pictures_edges() -> None:
    inside, outside, behind = [0.0, 0, 1], [0.6, 0, 1], [0.0, 0, -1]
    share = LENS.share_in_view(np.array([[inside, outside], [behind, outside], [inside, inside]]))
    assert share.tolist() == [0.5, 0.0, 1.0]
