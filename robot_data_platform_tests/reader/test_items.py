from __future__ import annotations

import numpy as np
import pytest

from robot_data_platform.reader import RobotLanceDataset
from robot_data_platform.testing.lake import build_lake
from robot_data_platform.testing.lake_model import NO_PICTURE, EpisodeModel, LakeModel, LakeShape
from robot_data_platform.testing.pictures import numbered_picture, read_number
from robot_data_platform.video.settings import GopProfile


def every_row(model: LakeModel) -> list[tuple[EpisodeModel, int]]:
    return [(episode, row) for episode in model.episodes for row in range(episode.num_rows)]


@pytest.fixture(scope="module")
def rows(built: LakeModel) -> RobotLanceDataset:
    return RobotLanceDataset(built.root, built.dataset)


def test_every_row_of_every_episode_is_one_item(built: LakeModel, rows: RobotLanceDataset) -> None:
    assert len(rows) == sum(episode.num_rows for episode in built.episodes)


def test_an_item_says_which_row_it_is(built: LakeModel, rows: RobotLanceDataset) -> None:
    for position, (episode, row) in enumerate(every_row(built)):
        item = rows[position]
        assert (item["index"], item["frame_index"]) == (position, row)
        assert (item["episode_index"], item["episode_id"]) == (
            episode.episode_index,
            episode.episode_id,
        )
        seconds = (episode.timestamp_ns[row] - episode.timestamp_ns[0]) / 1e9
        assert item["timestamp"] == np.float32(seconds)


def test_vectors_and_labels_are_those_that_were_stored(
    built: LakeModel, rows: RobotLanceDataset
) -> None:
    for position, (episode, row) in enumerate(every_row(built)):
        item = rows[position]
        np.testing.assert_array_equal(item["observation.state"], episode.state[row])
        np.testing.assert_array_equal(item["action"], episode.action[row])
        np.testing.assert_array_equal(item["observation.gripper"], episode.gripper[row])
        assert (item["task"], item["source"]) == (episode.task, episode.source[row] or "")


def test_every_picture_carries_the_number_that_its_row_refers_to(
    built: LakeModel, rows: RobotLanceDataset
) -> None:
    for position, (episode, row) in enumerate(every_row(built)):
        item = rows[position]
        for camera, numbers in episode.picture_number.items():
            is_missing = item[f"observation.images.{camera}_is_missing"]
            assert is_missing == (numbers[row] == NO_PICTURE)
            if not is_missing:
                assert read_number(item[f"observation.images.{camera}"]) == numbers[row]


def test_a_picture_is_the_one_that_was_taken_and_not_only_its_number(
    built: LakeModel, rows: RobotLanceDataset
) -> None:
    number = int(built.episodes[0].picture_number["env"][10])
    taken = numbered_picture(number, 64, 96).astype(np.float64)
    error = np.mean((rows[10]["observation.images.env"] - taken) ** 2)
    psnr_db = 10 * np.log10(255**2 / error)
    assert psnr_db > 30, f"{psnr_db:.1f} dB"


def test_a_row_without_a_picture_is_black_and_says_so(rows: RobotLanceDataset) -> None:
    item = rows[0]
    assert item["observation.images.wrist_is_missing"]
    assert not item["observation.images.wrist"].any()


def test_a_label_that_is_not_known_is_told_from_one_that_is_false(
    built: LakeModel, rows: RobotLanceDataset
) -> None:
    for position, (episode, row) in enumerate(every_row(built)):
        item = rows[position]
        assert item["is_intervention"] == (episode.source[row] == "intervention")
        assert item["is_intervention_is_missing"] == (episode.source[row] is None)


def test_keys_and_dtypes_are_the_documented_ones(rows: RobotLanceDataset) -> None:
    dtypes = {key: getattr(value, "dtype", type(value)) for key, value in rows[5].items()}
    assert dtypes == {
        "index": np.int64,
        "episode_index": np.int64,
        "episode_id": str,
        "frame_index": np.int64,
        "timestamp": np.float32,
        "observation.state": np.float32,
        "action": np.float32,
        "observation.gripper": np.float32,
        "task": str,
        "language_instruction": str,
        "source": str,
        "is_intervention": np.bool_,
        "is_intervention_is_missing": np.bool_,
        "observation.images.env": np.uint8,
        "observation.images.env_is_missing": np.bool_,
        "observation.images.wrist": np.uint8,
        "observation.images.wrist_is_missing": np.bool_,
    }


def test_columns_are_named_by_item_key_or_stored_name(built: LakeModel) -> None:
    names = ["action", "observation_state", "observation.gripper_age_ns"]
    rows = RobotLanceDataset(built.root, built.dataset, columns=names, cameras=[])
    values = set(rows[0]) - {"index", "episode_index", "episode_id", "frame_index", "timestamp"}
    assert values == {
        "action",
        "observation.state",
        "observation.gripper_age_ns",
        "observation.gripper_age_ns_is_missing",
    }


def test_an_integer_without_a_value_is_zero_and_says_so(built: LakeModel) -> None:
    key = "observation.gripper_age_ns"
    rows = RobotLanceDataset(built.root, built.dataset, columns=[key], cameras=[])
    assert [(int(rows[n][key]), bool(rows[n][f"{key}_is_missing"])) for n in (1, 2, 3)] == [
        (0, True),
        (0, False),
        (1, False),
    ]


def test_only_the_cameras_asked_for_are_in_an_item(built: LakeModel) -> None:
    rows = RobotLanceDataset(built.root, built.dataset, cameras=["wrist"])
    pictures = [key for key in rows[0] if key.startswith("observation.images.")]
    assert pictures == ["observation.images.wrist", "observation.images.wrist_is_missing"]


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("channels_first", [False, True])
def test_pictures_come_in_the_dtype_and_order_asked_for(
    built: LakeModel, rows: RobotLanceDataset, dtype: str, channels_first: bool
) -> None:
    asked = RobotLanceDataset(
        built.root,
        built.dataset,
        cameras=["env"],
        picture_dtype=dtype,  # type: ignore[arg-type]
        channels_first=channels_first,
    )
    expected = rows[7]["observation.images.env"]
    expected = expected.transpose(2, 0, 1) if channels_first else expected
    expected = expected if dtype == "uint8" else expected.astype(np.float32) / np.float32(255)
    np.testing.assert_array_equal(asked[7]["observation.images.env"], expected, strict=True)


def test_a_batch_is_the_items_one_by_one_in_the_order_asked_for(rows: RobotLanceDataset) -> None:
    indices = [90, 3, 3, 41, -1, 4, 90]
    for batched, index in zip(rows.__getitems__(indices), indices, strict=True):
        single = rows[index]
        assert batched.keys() == single.keys()
        for key, value in single.items():
            np.testing.assert_array_equal(batched[key], value, err_msg=key)


def test_an_empty_batch_has_no_items(rows: RobotLanceDataset) -> None:
    assert rows.__getitems__([]) == []


def test_a_negative_index_counts_from_the_end(rows: RobotLanceDataset) -> None:
    assert rows[-1]["index"] == len(rows) - 1
    assert rows[-len(rows)]["index"] == 0


def test_iteration_gives_every_item_once_and_ends(built: LakeModel) -> None:
    rows = RobotLanceDataset(built.root, built.dataset, cameras=[], columns=[])
    assert [int(item["index"]) for item in rows] == list(range(len(rows)))


def test_a_closed_dataset_opens_again_when_it_is_read(built: LakeModel) -> None:
    rows = RobotLanceDataset(built.root, built.dataset, cameras=["env"], columns=[])
    versions = rows.versions()
    rows.close()
    assert rows[0]["index"] == 0
    assert rows.versions() == versions


@pytest.mark.parametrize("profile", ["anchored", "chain"])
def test_frames_of_every_profile_are_found_in_any_order(
    profile: GopProfile, tmp_path_factory: pytest.TempPathFactory
) -> None:
    shape = LakeShape(cameras=("env",), rows_per_picture=1, gop_size=16, profile=profile)
    model = build_lake(tmp_path_factory.mktemp("lake"), num_episodes=1, shape=shape)
    rows = RobotLanceDataset(model.root, model.dataset, columns=[])
    order = np.random.default_rng(0).permutation(len(rows)).tolist()
    shown = [read_number(item["observation.images.env"]) for item in rows.__getitems__(order)]
    assert shown == model.episodes[0].picture_number["env"][order].tolist()
