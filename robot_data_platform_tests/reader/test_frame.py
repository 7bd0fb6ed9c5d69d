from __future__ import annotations

import numpy as np
import pytest

from robot_data_platform.errors import ErrorKind, InvalidInputError, NotFoundError
from robot_data_platform.reader import read_frame
from robot_data_platform.testing.lake_model import LakeModel
from robot_data_platform.testing.pictures import read_number


def test_a_frame_is_the_picture_of_the_row_of_that_episode(built: LakeModel) -> None:
    episode = built.episodes[1]
    for row in (3, 20, episode.num_rows - 1):
        for named in (episode.episode_id, episode.episode_index):
            picture = read_frame(built.root, built.dataset, named, row, "wrist")
            assert picture.dtype == np.uint8
            assert read_number(picture.astype(np.uint8)) == episode.picture_number["wrist"][row]


def test_a_row_without_a_picture_has_no_frame(built: LakeModel) -> None:
    with pytest.raises(NotFoundError, match=r"Row 0 .*'wrist'") as caught:
        read_frame(built.root, built.dataset, 0, 0, "wrist")
    assert caught.value.kind is ErrorKind.CAMERA_NOT_FOUND


def test_a_row_that_the_episode_lacks_is_refused(built: LakeModel) -> None:
    with pytest.raises(InvalidInputError, match="40 rows") as caught:
        read_frame(built.root, built.dataset, 0, 40, "env")
    assert caught.value.kind is ErrorKind.INDEX_OUT_OF_RANGE
