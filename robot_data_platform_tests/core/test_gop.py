from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from robot_data_platform.core.gop import PacketIndex, needed_packets


def index_of(display: list[int], references: str, keys: str) -> PacketIndex:
    return PacketIndex(
        size_bytes=np.ones(len(display), np.int32),
        display_index=np.array(display, np.int32),
        is_reference=np.array([mark == "x" for mark in references]),
        is_key=np.array([mark == "x" for mark in keys]),
    )


# Shown I B B B P B B P; decoded I P B B B P B B.
ANCHORED = index_of([0, 4, 1, 2, 3, 7, 5, 6], "xx...x..", "x.......")


def needed(packets: PacketIndex, *frames: int) -> list[int]:
    return np.flatnonzero(needed_packets(packets, np.array(frames, np.int64))).tolist()


def test_a_b_frame_needs_the_references_before_it_and_itself() -> None:
    assert needed(ANCHORED, 2) == [0, 1, 3]


def test_a_reference_needs_no_b_frame() -> None:
    assert needed(ANCHORED, 7) == [0, 1, 5]


def test_the_first_frame_needs_itself_only() -> None:
    assert needed(ANCHORED, 0) == [0]


def test_several_frames_need_the_union_whatever_their_order() -> None:
    assert needed(ANCHORED, 3, 1, 3) == [0, 1, 2, 4]


def test_decoding_starts_at_the_last_entry_before_the_frame() -> None:
    two_gops = index_of([0, 1, 2, 3, 4, 5], "xxxxxx", "x..x..")
    assert needed(two_gops, 4) == [3, 4]
    assert needed(two_gops, 1, 5) == [0, 1, 3, 4, 5]


def test_no_frames_need_no_packets() -> None:
    assert needed(ANCHORED) == []


@given(st.data())
def test_needed_packets_are_what_a_walk_back_from_each_frame_finds(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 12))
    display = data.draw(st.permutations(range(size)))
    references = data.draw(st.lists(st.sampled_from("x."), min_size=size, max_size=size))
    keys = ["x", *data.draw(st.lists(st.sampled_from("x."), min_size=size - 1, max_size=size - 1))]
    frames = data.draw(st.lists(st.integers(0, size - 1), max_size=4))
    packets = index_of(list(display), "".join(references), "".join(keys))
    expected = set()
    for frame in frames:
        at = list(display).index(frame)
        expected.add(at)
        while keys[at] != "x":
            at -= 1
            if references[at] == "x":
                expected.add(at)
    assert needed(packets, *frames) == sorted(expected)
