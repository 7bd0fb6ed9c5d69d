from __future__ import annotations

import numpy as np
import pytest

from robot_data_platform.core.identity import MAX_CAMERAS, gop_key, ref_id
from robot_data_platform.core.rendition import (
    MAX_RENDITIONS,
    key_offset,
    parse_rendition,
    rendition_ref_id,
    slot_of,
)
from robot_data_platform.errors import ErrorKind, InvalidInputError


@pytest.mark.parametrize("name", ["224x224-crop", "1x4096-letterbox"])
def test_a_name_says_all_of_a_rendition(name: str) -> None:
    assert parse_rendition(name).name == name


@pytest.mark.parametrize(
    "name", ["", "224", "224x224", "0x10-crop", "224x224-stretch", "5000x10-crop", "224X224-crop"]
)
def test_a_name_that_is_not_understood_is_refused(name: str) -> None:
    with pytest.raises(InvalidInputError, match="HEIGHTxWIDTH-crop") as caught:
        parse_rendition(name)
    assert caught.value.kind is ErrorKind.INVALID_ARGUMENT


def test_no_two_streams_and_slots_share_a_key() -> None:
    streams = [ref_id(episode, camera) for episode in (0, 1, 9) for camera in range(MAX_CAMERAS)]
    keys = [rendition_ref_id(key, slot) for key in streams for slot in range(MAX_RENDITIONS + 1)]
    assert len(set(keys)) == len(keys)
    assert slot_of(np.array(keys)).tolist() == list(range(MAX_RENDITIONS + 1)) * len(streams)


def test_the_offset_leads_from_a_gop_to_its_rendition() -> None:
    stream = ref_id(12, 5)
    assert gop_key(stream, 33) + key_offset(2) == gop_key(rendition_ref_id(stream, 2), 33)
