from __future__ import annotations

import pyarrow as pa
import pytest

from robot_data_platform.errors import (
    ErrorKind,
    InvalidInputError,
    NotFoundError,
    RobotDataError,
)
from robot_data_platform.reader import RobotLanceDataset
from robot_data_platform.storage.commit import append_rows
from robot_data_platform.storage.lake import Lake
from robot_data_platform.testing.lake import add_upload, build_lake
from robot_data_platform.testing.lake_model import LakeModel, LakeShape


def ids(model: LakeModel, *numbers: int) -> list[str]:
    return [model.episodes[number].episode_id for number in numbers]


def opened(model: LakeModel, **arguments: object) -> RobotLanceDataset:
    return RobotLanceDataset(model.root, model.dataset, **arguments)  # type: ignore[arg-type]


def test_a_dataset_without_a_release_has_all_of_its_episodes(released: LakeModel) -> None:
    assert opened(released).episode_ids == ids(released, 0, 1, 2, 3, 4)


def test_a_split_has_the_episodes_that_the_release_put_there(released: LakeModel) -> None:
    assert opened(released, release="r1", split="train").episode_ids == ids(released, 0, 2, 4)
    assert opened(released, release="r1", split="test").episode_ids == ids(released, 1)


def test_a_release_without_a_split_has_the_episodes_of_all_its_splits(released: LakeModel) -> None:
    assert opened(released, release="r1").episode_ids == ids(released, 0, 1, 2, 4)


def test_only_rows_of_the_chosen_episodes_are_seen(released: LakeModel) -> None:
    rows = opened(released, release="r1", split="train", cameras=[], columns=[])
    seen = [(item["episode_id"], int(item["frame_index"])) for item in rows]
    assert seen == [
        (released.episodes[number].episode_id, row)
        for number in (0, 2, 4)
        for row in range(released.episodes[number].num_rows)
    ]


def test_episodes_are_named_by_id_or_by_index(released: LakeModel) -> None:
    assert opened(released, episodes=[3, *ids(released, 1), 3]).episode_ids == ids(released, 1, 3)


def test_episodes_are_chosen_within_the_split(released: LakeModel) -> None:
    rows = opened(released, release="r1", split="train", episodes=ids(released, 2))
    assert rows.episode_ids == ids(released, 2)


def test_no_episodes_is_an_empty_dataset(released: LakeModel) -> None:
    rows = opened(released, episodes=[])
    assert len(rows) == 0
    assert list(rows) == []


def test_a_quarantined_episode_is_not_read(tmp_path_factory: pytest.TempPathFactory) -> None:
    shape = LakeShape(num_rows=4, cameras=("env",), width_px=48, height_px=32)
    model = build_lake(tmp_path_factory.mktemp("lake"), num_episodes=1, shape=shape)
    table = Lake(model.root).open(model.dataset, "episodes")
    (row,) = table.read().to_pylist()
    broken = {**row, "episode_id": "ep_broken", "episode_index": 7, "status": "quarantined"}
    append_rows(table.uri, pa.Table.from_pylist([broken], table.schema), properties={})
    assert opened(model).episode_ids == ids(model, 0)
    with pytest.raises(NotFoundError, match="quarantined") as caught:
        opened(model, episodes=["ep_broken"])
    assert caught.value.kind is ErrorKind.EPISODE_NOT_FOUND


def test_a_camera_of_a_later_upload_is_missing_in_earlier_episodes(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    root = tmp_path_factory.mktemp("lake")
    shape = LakeShape(num_rows=4, width_px=48, height_px=32)
    model = build_lake(root, num_episodes=1, shape=shape)
    one = LakeShape(num_rows=4, cameras=("env",), width_px=48, height_px=32)
    add_upload(root, "robot", "upload-2", 1, 1, one)
    rows = opened(model)
    assert not rows[0]["observation.images.wrist_is_missing"]
    assert rows[4]["observation.images.wrist_is_missing"]
    assert not rows[4]["observation.images.env_is_missing"]
    assert RobotLanceDataset(root, "robot", episodes=[1]).cameras == ("env",)


def test_a_camera_of_two_sizes_is_refused_unless_it_is_left_out(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    root = tmp_path_factory.mktemp("lake")
    small = LakeShape(num_rows=4, cameras=("env",), width_px=48, height_px=32)
    large = LakeShape(num_rows=4, cameras=("env",), width_px=64, height_px=48)
    model = build_lake(root, num_episodes=1, shape=small)
    add_upload(root, "robot", "upload-2", 1, 1, large)
    with pytest.raises(InvalidInputError, match=r"'env'.*32x48.*48x64") as caught:
        opened(model)
    assert caught.value.kind is ErrorKind.SHAPE_MISMATCH
    assert opened(model, cameras=[])[0]["index"] == 0
    assert opened(model, episodes=[1])[0]["observation.images.env"].shape == (48, 64, 3)


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"release": "r9"}, ErrorKind.RELEASE_NOT_FOUND, r"'r9'.*\['r1'\]"),
        (
            {"release": "r1", "split": "val"},
            ErrorKind.SPLIT_NOT_FOUND,
            r"'val'.*'robot' release 'r1'.*\['test', 'train'\]",
        ),
        ({"version": 99}, ErrorKind.VERSION_NOT_FOUND, "99"),
        ({"episodes": ["ep_x"]}, ErrorKind.EPISODE_NOT_FOUND, r"'ep_x'.*5 episodes"),
        ({"episodes": [5]}, ErrorKind.EPISODE_NOT_FOUND, r"\[5\]"),
        ({"release": "r1", "episodes": [3]}, ErrorKind.EPISODE_NOT_FOUND, r"\[3\].*another split"),
        ({"cameras": ["head"]}, ErrorKind.CAMERA_NOT_FOUND, r"'head'.*\['env'\]"),
        (
            {"columns": ["observation.stat"]},
            ErrorKind.COLUMN_NOT_FOUND,
            r"'observation\.stat'.*'observation\.state'",
        ),
        ({"delta_timestamps": {"acton": [0]}}, ErrorKind.COLUMN_NOT_FOUND, r"'acton'.*'action'"),
        (
            {"delta_timestamps": {"observation.images.head": [0]}},
            ErrorKind.CAMERA_NOT_FOUND,
            r"'head'.*\['env'\]",
        ),
        (
            {"cameras": [], "delta_timestamps": {"observation.images.env": [0]}},
            ErrorKind.CAMERA_NOT_FOUND,
            r"'env'.*\[\]",
        ),
        (
            {"release": "r1", "version": 1},
            ErrorKind.INVALID_ARGUMENT,
            "release='r1' and version=1",
        ),
        ({"split": "train"}, ErrorKind.INVALID_ARGUMENT, "without a release"),
        ({"output": "jax"}, ErrorKind.INVALID_ARGUMENT, r"'jax'.*'numpy', 'torch'"),
        ({"picture_dtype": "f16"}, ErrorKind.INVALID_ARGUMENT, r"'f16'.*'uint8', 'float32'"),
    ],
)
def test_what_is_not_there_is_named_with_what_is(
    released: LakeModel, arguments: dict[str, object], kind: ErrorKind, message: str
) -> None:
    with pytest.raises(RobotDataError, match=message) as caught:
        opened(released, **arguments)
    assert caught.value.kind is kind


def test_an_unknown_dataset_is_named_with_the_lake(released: LakeModel) -> None:
    with pytest.raises(NotFoundError, match="'robt'") as caught:
        RobotLanceDataset(released.root, "robt")
    assert caught.value.kind is ErrorKind.DATASET_NOT_FOUND


@pytest.mark.parametrize("index", [56 + 24, -(56 + 24) - 1])
def test_an_index_outside_the_dataset_is_also_an_index_error(
    released: LakeModel, index: int
) -> None:
    rows = opened(released, cameras=[])
    assert len(rows) == 80
    with pytest.raises(IndexError, match=rf"{index}.*'robot'.*80 rows") as caught:
        rows[index]
    assert isinstance(caught.value, InvalidInputError)
    assert caught.value.kind is ErrorKind.INDEX_OUT_OF_RANGE
