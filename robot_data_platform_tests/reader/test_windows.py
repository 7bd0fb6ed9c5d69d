from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.reader import RobotLanceDataset
from robot_data_platform.testing.lake import add_upload, build_lake
from robot_data_platform.testing.lake_model import NO_PICTURE, EpisodeModel, LakeModel, LakeShape
from robot_data_platform.testing.pictures import read_number

STEPS = st.lists(st.integers(-50, 50), min_size=1, max_size=6)


def windows_of_model(
    model: LakeModel, steps: list[int]
) -> list[tuple[EpisodeModel, list[int], list[bool]]]:
    """Return, for each row, the rows of its window and which are padding, by plain Python."""
    windows = []
    for episode in model.episodes:
        for row in range(episode.num_rows):
            wanted = [row + step for step in steps]
            held = [min(max(each, 0), episode.num_rows - 1) for each in wanted]
            windows.append((episode, held, [a != b for a, b in zip(wanted, held, strict=True)]))
    return windows


def seconds(model: LakeModel, steps: list[int]) -> list[float]:
    return [step / model.shape.control_hz for step in steps]


@settings(max_examples=15)
@given(steps=STEPS, indices=st.lists(st.integers(0, 128), min_size=1, max_size=8))
def test_a_window_of_vectors_is_that_of_the_model(
    built: LakeModel, steps: list[int], indices: list[int]
) -> None:
    windows = windows_of_model(built, steps)
    rows = RobotLanceDataset(
        built.root,
        built.dataset,
        cameras=[],
        delta_timestamps={"action": seconds(built, steps)},
    )
    for index, item in zip(indices, rows.__getitems__(indices), strict=True):
        episode, held, is_pad = windows[index]
        np.testing.assert_array_equal(item["action"], episode.action[held])
        assert item["action_is_pad"].tolist() == is_pad
        np.testing.assert_array_equal(item["observation.state"], episode.state[item["frame_index"]])


@settings(max_examples=15)
@given(steps=STEPS, indices=st.lists(st.integers(0, 128), min_size=1, max_size=3))
def test_a_window_of_pictures_is_that_of_the_model(
    built: LakeModel, steps: list[int], indices: list[int]
) -> None:
    windows = windows_of_model(built, steps)
    keys = [f"observation.images.{camera}" for camera in built.shape.cameras]
    rows = RobotLanceDataset(
        built.root,
        built.dataset,
        columns=[],
        delta_timestamps={key: seconds(built, steps) for key in keys},
    )
    for index, item in zip(indices, rows.__getitems__(indices), strict=True):
        episode, held, is_pad = windows[index]
        for key, camera in zip(keys, built.shape.cameras, strict=True):
            shown = [
                NO_PICTURE if is_missing else read_number(picture)
                for picture, is_missing in zip(item[key], item[f"{key}_is_missing"], strict=True)
            ]
            assert shown == episode.picture_number[camera][held].tolist()
            assert item[f"{key}_is_pad"].tolist() == is_pad


def test_keys_with_windows_of_their_own_and_without_one_share_an_item(built: LakeModel) -> None:
    rows = RobotLanceDataset(
        built.root,
        built.dataset,
        cameras=["env"],
        delta_timestamps={
            "observation.state": [-0.02, 0.0],
            "observation.images.env": [0.0],
            "is_intervention": [0.0, 0.02, 0.04],
        },
    )
    item = rows[10]
    assert item["observation.state"].shape == (2, 7)
    assert item["observation.images.env"].shape == (1, 64, 96, 3)
    assert item["is_intervention"].tolist() == [False, True, False]
    assert item["is_intervention_is_missing"].tolist() == [False, False, True]
    assert item["action"].shape == (3,)
    assert "action_is_pad" not in item


def test_each_episode_has_the_steps_of_its_own_rate(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    root = tmp_path_factory.mktemp("lake")
    slow = LakeShape(num_rows=10, control_hz=20, cameras=("env",), rows_per_picture=5)
    model = build_lake(root, num_episodes=1, shape=slow)
    fast = LakeShape(num_rows=10, control_hz=100, cameras=("env",), rows_per_picture=5)
    (other,) = add_upload(root, "robot", "upload-2", 1, 1, fast)
    rows = RobotLanceDataset(root, "robot", cameras=[], delta_timestamps={"action": [0.0, 0.05]})
    np.testing.assert_array_equal(rows[0]["action"], model.episodes[0].action[[0, 1]])
    np.testing.assert_array_equal(rows[10]["action"], other.action[[0, 5]])


def test_an_episode_of_one_row_is_all_padding_but_for_itself(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    root = tmp_path_factory.mktemp("lake")
    model = build_lake(root, num_episodes=1, shape=LakeShape(num_rows=1, cameras=("env",)))
    windows = {"action": [-0.013, 0.0, 0.02]}
    item = RobotLanceDataset(root, "robot", cameras=[], delta_timestamps=windows)[0]
    np.testing.assert_array_equal(item["action"], model.episodes[0].action[[0, 0, 0]])
    assert item["action_is_pad"].tolist() == [True, False, True]


def test_a_window_off_the_rows_is_refused_when_the_dataset_is_opened(built: LakeModel) -> None:
    with pytest.raises(InvalidInputError, match=r"'action'.*0\.013 s.*50 Hz.*0\.020000 s") as e:
        RobotLanceDataset(built.root, built.dataset, delta_timestamps={"action": [0.013]})
    assert e.value.kind is ErrorKind.WINDOW_OFF_GRID


def test_a_wider_tolerance_takes_the_nearest_row(built: LakeModel) -> None:
    rows = RobotLanceDataset(
        built.root,
        built.dataset,
        cameras=[],
        delta_timestamps={"action": [0.013]},
        tolerance_s=0.01,
    )
    np.testing.assert_array_equal(rows[4]["action"], built.episodes[0].action[[5]])


def test_text_has_no_window(built: LakeModel) -> None:
    with pytest.raises(InvalidInputError, match=r"'task'.*is text") as caught:
        RobotLanceDataset(built.root, built.dataset, delta_timestamps={"task": [0.0]})
    assert caught.value.kind is ErrorKind.INVALID_ARGUMENT
