"""SQL filters: which rows become items, what their windows see, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from robot_data_platform.errors import ErrorKind, InvalidInputError, NotFoundError, RobotDataError
from robot_data_platform.reader import RobotLanceDataset
from robot_data_platform.reader.samplers import GopBlockSampler, ShuffleSampler
from robot_data_platform.testing.lake_model import EpisodeModel, LakeModel
from robot_data_platform.testing.pictures import read_number
from robot_data_platform_tests.reader.test_processes import read_in_process

FILTERS: dict[str, Callable[[EpisodeModel, int], bool]] = {
    "frame_index >= 5 AND frame_index % 3 = 0": lambda _, row: row >= 5 and row % 3 == 0,
    "source = 'intervention'": lambda episode, row: episode.source[row] == "intervention",
    "source IS NULL OR (frame_index BETWEEN 1 AND 2)": lambda episode, row: (
        episode.source[row] is None or row in (1, 2)
    ),
    "num_rows > 40": lambda episode, _: episode.num_rows > 40,
    "`upload` = 'upload-1' AND status <> 'flagged'": lambda *_: True,
    "task = 'no; such -- task'": lambda *_: False,
    "true": lambda *_: True,
}


@pytest.mark.parametrize("where", FILTERS)
def test_items_are_the_rows_for_which_the_filter_holds(built: LakeModel, where: str) -> None:
    expected = [
        (episode.episode_id, row)
        for episode in built.episodes
        for row in range(episode.num_rows)
        if FILTERS[where](episode, row)
    ]
    rows = RobotLanceDataset(built.root, built.dataset, cameras=[], filter=where)
    found = [(item["episode_id"], int(item["frame_index"])) for item in rows[:]]
    assert found == expected
    assert [int(item["index"]) for item in rows[:]] == list(range(len(expected)))


def test_windows_and_pictures_see_the_rows_that_are_left_out(built: LakeModel) -> None:
    key = "observation.images.env"
    rows = RobotLanceDataset(
        built.root,
        built.dataset,
        filter="frame_index = 10",
        delta_timestamps={"action": [-0.02, 0.0, 0.02], key: [0.0, 0.04]},
    )
    assert len(rows) == 3
    for item, episode in zip(rows[:], built.episodes, strict=True):
        np.testing.assert_array_equal(item["action"], episode.action[[9, 10, 11]])
        shown = [read_number(picture) for picture in item[key]]
        assert shown == episode.picture_number["env"][[10, 12]].tolist()


def test_samplers_and_other_processes_know_the_filtered_rows(built: LakeModel) -> None:
    rows = RobotLanceDataset(built.root, built.dataset, filter="frame_index < 20")
    for sampler in (ShuffleSampler(rows), GopBlockSampler(rows)):
        assert sorted(sampler) == list(range(60))
    (item,) = read_in_process(rows, [59], "spawn")
    assert (item["episode_id"], item["frame_index"]) == (built.episodes[2].episode_id, 19)


@pytest.mark.parametrize(
    ("where", "error", "kind", "message"),
    [
        ("fram = 1", NotFoundError, ErrorKind.COLUMN_NOT_FOUND, r"'fram'.*'frame_index'"),
        ("task = train", NotFoundError, ErrorKind.COLUMN_NOT_FOUND, "'train'.*single quotes"),
        ("action > 1", InvalidInputError, ErrorKind.INVALID_ARGUMENT, "'action'.*holds lists"),
        ("cameras IS NULL", InvalidInputError, ErrorKind.INVALID_ARGUMENT, "'cameras'"),
        (
            "frame_index > 3 AND num_rows > 3",
            InvalidInputError,
            ErrorKind.INVALID_ARGUMENT,
            r"\['frame_index'\] of frames with \['num_rows'\] of episodes",
        ),
        ("frame_index <", InvalidInputError, ErrorKind.INVALID_ARGUMENT, "frame_index <"),
        ("frame_index = 'x'", InvalidInputError, ErrorKind.INVALID_ARGUMENT, "robot"),
        ("frame_index", InvalidInputError, ErrorKind.INVALID_ARGUMENT, "boolean"),
        ("num_rows", InvalidInputError, ErrorKind.INVALID_ARGUMENT, "boolean"),
        ("nothing(task)", InvalidInputError, ErrorKind.INVALID_ARGUMENT, "nothing"),
        ("frame_index > 1; DROP", InvalidInputError, ErrorKind.INVALID_ARGUMENT, "';'"),
        ("frame_index > 1 -- all", InvalidInputError, ErrorKind.INVALID_ARGUMENT, "'--'"),
        ("task = 'open", InvalidInputError, ErrorKind.INVALID_ARGUMENT, r'"\'"'),
        ("", InvalidInputError, ErrorKind.INVALID_ARGUMENT, "filter=''"),
    ],
)
def test_a_filter_that_can_not_be_read_is_named(
    built: LakeModel, where: str, error: type[RobotDataError], kind: ErrorKind, message: str
) -> None:
    with pytest.raises(error, match=message) as caught:
        RobotLanceDataset(built.root, built.dataset, filter=where)
    assert caught.value.kind is kind
