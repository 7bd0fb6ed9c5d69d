"""LeRobot v3 datasets that the tests of v3 start from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from robot_data_platform_tests.formats.lerobot_files import (
    TASKS,
    TOP,
    Take,
    V3Plan,
)
from robot_data_platform_tests.formats.reading import (
    camera,
    read_episode,
    shown_codes,
    signal,
)

META = "meta/episodes/chunk-000/file-000.parquet"
"""The one metadata file of these datasets."""
TAKES = tuple(Take(index=i, num_rows=7 + i, task=i % 2) for i in range(6))


def plan(
    data_files: Sequence[Sequence[int]] = ((0, 1, 2, 3, 4, 5),),
    video_files: Mapping[str, Sequence[Sequence[int]]] | None = None,
    takes: Sequence[Take] = TAKES,
) -> V3Plan:
    """Return a dataset of six episodes in one data file and one video, or as told."""
    videos = {TOP: [list(range(len(takes)))]} if video_files is None else video_files
    return V3Plan(takes=takes, data_files=data_files, video_files=videos)


def assert_right(root: Path, take: Take, names: Sequence[str] = ("top",)) -> None:
    """Values, task and pictures are those of one take."""
    recording = read_episode(root, f"episode_{take.index:06d}")
    np.testing.assert_array_equal(signal(recording, "observation_state").values, take.state)
    assert recording.task == TASKS[take.task]
    for name in names:
        assert shown_codes(camera(recording, name)) == take.codes
