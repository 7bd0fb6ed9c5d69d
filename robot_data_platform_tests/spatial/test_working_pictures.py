from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.episode_input import CameraInput
from robot_data_platform.spatial.frame_plan import FramePlan
from robot_data_platform.spatial.working_pictures import working_pictures
from robot_data_platform_tests.spatial.scenes import lens_px

cv2 = pytest.importorskip("cv2", reason="it undistorts")

LENS = lens_px(640, 480, 60)
POINT = np.array([[0.25, -0.2, 1.0]])
PLUMB_BOB = (-0.25, 0.05, 0.001, -0.001, 0.0)
EQUIDISTANT = (0.05, -0.01, 0.002, 0.0)
ZERO = np.zeros(3)


def camera_of(picture: npt.NDArray[np.uint8], **options: object) -> CameraInput:
    one = np.zeros(1, dtype=np.int64)
    plan = FramePlan(single=one, pair_first=one[:0], pair_second=one[:0], motion=range(0))
    return CameraInput(
        name="env",
        frame_ns=one,
        width_px=640,
        height_px=480,
        plan=plan,
        pictures=picture[None],
        motion_greys=np.zeros((0, 72, 96), dtype=np.uint8),
        **options,  # type: ignore[arg-type]
    )


def dot_at(pixel: Float64Array) -> npt.NDArray[np.uint8]:
    y, x = np.mgrid[:480, :640]
    spot = 255 * np.exp(-((x - pixel[0]) ** 2 + (y - pixel[1]) ** 2) / 50)
    return np.repeat(spot.astype(np.uint8)[..., None], 3, axis=2)


def middle_of(picture: npt.NDArray[np.uint8]) -> Float64Array:
    weight = picture[..., 0].astype(np.float64)
    y, x = np.mgrid[: weight.shape[0], : weight.shape[1]]
    return np.array([(x * weight).sum() / weight.sum(), (y * weight).sum() / weight.sum()])


@pytest.mark.parametrize("is_fisheye", [False, True])
def test_a_distorted_point_comes_to_where_the_pinhole_sees_it(is_fisheye: bool) -> None:
    coefficients = EQUIDISTANT if is_fisheye else PLUMB_BOB
    if is_fisheye:
        seen, _ = cv2.fisheye.projectPoints(
            POINT[:, None], ZERO, ZERO, LENS, np.array(coefficients)
        )
    else:
        seen, _ = cv2.projectPoints(POINT[:, None], ZERO, ZERO, LENS, np.array(coefficients))
    camera = camera_of(
        dot_at(seen.ravel()), distortion=coefficients, is_fisheye=is_fisheye, masks=None
    )
    working = working_pictures(camera, LENS)
    expected = working.lens.project(POINT)[0]
    assert working.pictures.shape == (1, 240, 320, 3)
    np.testing.assert_allclose(middle_of(working.pictures[0]), expected, atol=0.4)
    assert np.linalg.norm((seen.ravel() + 0.5) / 2 - 0.5 - expected) > 1.5


def test_masks_are_made_smaller_with_their_pictures() -> None:
    mask = np.zeros((1, 480, 640), dtype=np.bool_)
    mask[:, 100:300, 200:400] = True
    working = working_pictures(camera_of(dot_at(np.zeros(2)), masks=mask), LENS)
    assert working.masks is not None
    assert working.masks.sum() == 100 * 100
    assert working.masks[0, 50:150, 100:200].all()


def test_pictures_that_are_small_already_are_taken_as_they_are() -> None:
    small = np.random.default_rng(0).integers(0, 255, (240, 320, 3), dtype=np.uint8)
    np.testing.assert_array_equal(working_pictures(camera_of(small), LENS).pictures[0], small)
