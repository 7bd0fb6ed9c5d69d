"""Forms of pictures, pictures without rows around them, and the memory that they lie in."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_data_platform.errors import ErrorKind, InvalidInputError, NotFoundError, RobotDataError
from robot_data_platform.reader import RobotLanceDataset
from robot_data_platform.testing.lake import add_upload, build_lake
from robot_data_platform.testing.lake_model import NO_PICTURE, LakeModel, LakeShape
from robot_data_platform.testing.pictures import read_number


@pytest.fixture(scope="module")
def rows(built: LakeModel) -> RobotLanceDataset:
    return RobotLanceDataset(built.root, built.dataset)


def picture_numbers(model: LakeModel, camera: str) -> list[int]:
    return [number for e in model.episodes for number in e.picture_number[camera].tolist()]


@settings(max_examples=10)
@given(
    indices=st.lists(st.integers(-129, 128), max_size=12), concurrency=st.sampled_from([None, 1, 3])
)
def test_rows_in_pictures_out_in_their_order(
    rows: RobotLanceDataset, built: LakeModel, indices: list[int], concurrency: int | None
) -> None:
    found = rows.take_frames_decoded(["wrist", "env"], indices, concurrency)
    assert list(found) == ["wrist", "wrist_is_missing", "env", "env_is_missing"]
    for camera in ("wrist", "env"):
        shown = [
            NO_PICTURE if is_missing else read_number(picture)
            for picture, is_missing in zip(
                found[camera], found[f"{camera}_is_missing"], strict=True
            )
        ]
        assert shown == [picture_numbers(built, camera)[index] for index in indices]


def test_pictures_of_one_camera_are_one_array(rows: RobotLanceDataset) -> None:
    found = rows.take_frames_decoded("env", [5, 5, 6])
    assert (found["env"].shape, found["env"].dtype) == ((3, 64, 96, 3), np.uint8)


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"cameras": "head", "indices": [0]}, ErrorKind.CAMERA_NOT_FOUND, r"'head'.*'env'"),
        ({"cameras": "env", "indices": [129]}, ErrorKind.INDEX_OUT_OF_RANGE, "129 rows"),
        (
            {"cameras": "env", "indices": [0], "concurrency": 0},
            ErrorKind.INVALID_ARGUMENT,
            "concurrency=0",
        ),
    ],
)
def test_pictures_that_are_not_there_are_refused(
    rows: RobotLanceDataset, arguments: dict[str, object], kind: ErrorKind, message: str
) -> None:
    with pytest.raises(RobotDataError, match=message) as caught:
        rows.take_frames_decoded(**arguments)  # type: ignore[arg-type]
    assert caught.value.kind is kind


@pytest.mark.parametrize("channels_first", [False, True])
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("width_px", [96, 97, 98])
def test_layout_and_number_type_change_no_pixel(
    tmp_path_factory: pytest.TempPathFactory, width_px: int, dtype: str, channels_first: bool
) -> None:
    shape = LakeShape(num_rows=6, cameras=("env",), width_px=width_px, height_px=63)
    model = build_lake(tmp_path_factory.mktemp("lake"), num_episodes=1, shape=shape)
    plain = RobotLanceDataset(model.root, "robot").take_frames_decoded("env", range(6))["env"]
    found = RobotLanceDataset(
        model.root,
        "robot",
        picture_dtype=dtype,  # type: ignore[arg-type]
        channels_first=channels_first,
    ).take_frames_decoded("env", range(6))["env"]
    expected = plain.transpose(0, 3, 1, 2) if channels_first else plain
    if dtype == "float32":
        expected = expected.astype(np.float32) / np.float32(255)
    np.testing.assert_array_equal(found, expected)
    assert found.flags.c_contiguous


def test_a_smaller_picture_has_the_mean_of_the_area_of_each_pixel(
    rows: RobotLanceDataset, built: LakeModel
) -> None:
    scaled = RobotLanceDataset(built.root, built.dataset, image_size=(32, 48))
    whole = rows[10]["observation.images.env"].astype(np.float64)
    means = whole.reshape(32, 2, 48, 2, 3).mean(axis=(1, 3))
    found = scaled[10]["observation.images.env"]
    assert found.shape == (32, 48, 3)
    # In luma: chroma is coded at half the resolution, and differs where colours meet.
    error = np.abs((found - means) @ np.array([0.299, 0.587, 0.114]))
    assert error.mean() < 1, error.mean()
    assert scaled.take_frames_decoded("env", [10])["env"].shape == (1, 32, 48, 3)


@pytest.mark.parametrize("size", [(24, 32), (64, 96), (90, 130), (48, 200)])
def test_a_scaled_picture_still_shows_its_number(built: LakeModel, size: tuple[int, int]) -> None:
    scaled = RobotLanceDataset(built.root, built.dataset, image_size=size, columns=[])
    shown = [read_number(item["observation.images.env"]) for item in scaled[:20]]
    assert shown == picture_numbers(built, "env")[:20]


def test_what_pads_an_odd_picture_is_not_scaled_into_it(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    shape = LakeShape(num_rows=2, cameras=("env",), width_px=33, height_px=25)
    model = build_lake(tmp_path_factory.mktemp("lake"), num_episodes=1, shape=shape)
    whole = RobotLanceDataset(model.root, "robot")[0]["observation.images.env"]
    found = RobotLanceDataset(model.root, "robot", image_size=(5, 11))[0]["observation.images.env"]
    means = whole.reshape(5, 5, 11, 3, 3).astype(np.float64).mean(axis=(1, 3))
    np.testing.assert_allclose(found, means, atol=2)


def test_cameras_of_several_sizes_are_scaled_to_one(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    root = tmp_path_factory.mktemp("lake")
    small = LakeShape(num_rows=4, cameras=("env",), width_px=48, height_px=32)
    model = build_lake(root, num_episodes=1, shape=small)
    large = LakeShape(num_rows=4, cameras=("env",), width_px=96, height_px=64)
    (other,) = add_upload(root, "robot", "upload-2", 1, 1, large)
    rows = RobotLanceDataset(root, "robot", image_size=(48, 72))
    shown = [read_number(item["observation.images.env"]) for item in rows[:]]
    numbers = [e.picture_number["env"].tolist() for e in (model.episodes[0], other)]
    assert shown == numbers[0] + numbers[1]


@pytest.mark.parametrize("size", [(0, 5), (5, 20_000), (5,), (5, 5, 3)])
def test_a_size_that_is_none_is_refused(built: LakeModel, size: tuple[int, ...]) -> None:
    with pytest.raises(InvalidInputError, match="image_size") as caught:
        RobotLanceDataset(built.root, built.dataset, image_size=size)  # type: ignore[arg-type]
    assert caught.value.kind is ErrorKind.INVALID_ARGUMENT


def test_a_slice_is_a_batch(rows: RobotLanceDataset) -> None:
    assert [int(item["index"]) for item in rows[120:200:4]] == [120, 124, 128]
    assert [int(item["index"]) for item in rows[2:0:-1]] == [2, 1]
    assert rows[5:5] == []


def test_pictures_are_valid_for_as_long_as_they_are_held(large: LakeModel) -> None:
    rows = RobotLanceDataset(large.root, large.dataset)
    held = [rows.take_frames_decoded("env", [n] * 2)["env"][1:] for n in range(10)]
    gc.collect()
    shown = [read_number(pictures[0]) for pictures in held]
    assert shown == picture_numbers(large, "env")[:10]


def test_memory_of_pictures_that_are_gone_is_used_again(large: LakeModel) -> None:
    rows = RobotLanceDataset(large.root, large.dataset)
    places = {
        rows.take_frames_decoded("env", [n, n])["env"].__array_interface__["data"][0]
        for n in range(6)
    }
    assert len(places) == 1


def test_views_of_the_ring_are_right_until_the_third_read_after_theirs(large: LakeModel) -> None:
    rows = RobotLanceDataset(large.root, large.dataset, zero_copy=True)
    first = rows[0]["observation.images.env"]
    for index in (4, 6, 8):
        assert read_number(first) == picture_numbers(large, "env")[0]
        rows[index]
    rows[10]
    assert read_number(first) == picture_numbers(large, "env")[10]


def test_a_batch_of_the_ring_is_right_until_the_next(large: LakeModel) -> None:
    rows = RobotLanceDataset(large.root, large.dataset, zero_copy=True)
    shown: list[int] = []
    for batch in rows.iter_batches(3, prefetch=2):
        shown += [read_number(picture) for picture in batch["observation.images.env"]]
    assert shown == picture_numbers(large, "env")


def test_in_development_mode_stale_views_are_poisoned(large: LakeModel, repository: Path) -> None:
    code = f"""
from robot_data_platform.reader import RobotLanceDataset
rows = RobotLanceDataset({large.root!r}, "robot")
views = [rows.take_frames_decoded("env", [n], zero_copy=True)["env"] for n in range(6)]
print([bool((view == 0xFA).all()) for view in views])
"""
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "ignore", "-c", code],
        cwd=repository,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[True, True, False, False, False, False]"


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> LakeModel:
    """Pictures of which two take more than a megabyte."""
    shape = LakeShape(
        num_rows=12, cameras=("env",), width_px=640, height_px=480, rows_per_picture=1
    )
    return build_lake(tmp_path_factory.mktemp("lake"), num_episodes=1, shape=shape)


def test_a_camera_that_is_not_read_is_not_found(built: LakeModel) -> None:
    rows = RobotLanceDataset(built.root, built.dataset, cameras=["env"])
    with pytest.raises(NotFoundError, match="'wrist'"):
        rows.take_frames_decoded(["wrist"], [0])
