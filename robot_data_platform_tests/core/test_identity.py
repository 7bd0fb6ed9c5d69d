from __future__ import annotations

import hashlib

import lance
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from robot_data_platform.core.identity import check_name, episode_id, gop_key, ref_id
from robot_data_platform.errors import ErrorKind, InvalidInputError


def test_an_episode_s_id_is_what_it_always_was() -> None:
    digest = hashlib.sha256(b"piper\x1f20260101-piper-0001\x1fepisode_3").hexdigest()
    assert episode_id("piper", "20260101-piper-0001", "episode_3") == f"ep_{digest[:24]}"


@given(st.lists(st.tuples(st.text("ab-"), st.text("ab-"), st.text("ab-")), unique=True))
def test_episodes_of_other_names_have_other_ids(names: list[tuple[str, str, str]]) -> None:
    assert len({episode_id(*name) for name in names}) == len(names)


STREAMS = st.tuples(st.integers(0, 2**34), st.integers(0, 63))
GOPS = st.tuples(STREAMS, st.integers(0, 2**20 - 1))


@given(STREAMS, STREAMS)
def test_streams_have_keys_in_the_order_of_episode_and_camera(
    one: tuple[int, int], other: tuple[int, int]
) -> None:
    assert (ref_id(*one) < ref_id(*other)) == (one < other)


@given(GOPS, GOPS)
def test_gops_have_keys_in_the_order_of_stream_and_time(
    one: tuple[tuple[int, int], int], other: tuple[tuple[int, int], int]
) -> None:
    assume(one != other)
    keys = [gop_key(ref_id(*stream), index) for stream, index in (one, other)]
    assert (keys[0] < keys[1]) == (one < other)
    assert 0 <= min(keys) <= max(keys) < 2**63


@pytest.mark.parametrize("camera", [-1, 64])
def test_a_camera_beyond_the_key_is_refused(camera: int) -> None:
    with pytest.raises(InvalidInputError, match=f"Camera number {camera} ") as caught:
        ref_id(3, camera)
    assert caught.value.kind is ErrorKind.INVALID_ARGUMENT


@pytest.mark.parametrize("index", [-1, 2**20])
def test_a_gop_beyond_the_key_is_refused_and_does_not_become_another_s(index: int) -> None:
    with pytest.raises(InvalidInputError, match=f"GOP {index} of stream 768") as caught:
        gop_key(ref_id(3, 0), index)
    assert caught.value.kind is ErrorKind.INVALID_ARGUMENT


NAMES = ["a", "0", "so101_pick", "20260101t120000z-set-0001", "v1.2-rc", "x" * 100]
NOT_NAMES = [
    "",
    "A",
    "_a",
    ".a",
    "-a",
    "a/b",
    "a\\b",
    "a b",
    "a..b",
    "ä",
    "a\n",
    "x" * 101,
    "v1.",
    "v1.lock",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_sound_name_is_given_back(name: str) -> None:
    assert check_name(name, "dataset") == name


@pytest.mark.parametrize("name", NOT_NAMES)
def test_a_name_that_is_no_folder_or_tag_is_refused(name: str) -> None:
    with pytest.raises(InvalidInputError, match="The release name") as caught:
        check_name(name, "release")
    assert caught.value.kind is ErrorKind.INVALID_NAME
    assert repr(name) in str(caught.value)


def test_lance_takes_every_sound_name_for_a_tag(tmp_path: object) -> None:
    table = lance.write_dataset(pa.table({"a": [1]}), f"{tmp_path}/tags.lance")
    for name in NAMES:
        table.tags.create(name, 1)
    assert set(table.tags.list()) == set(NAMES)
