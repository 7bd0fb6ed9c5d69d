"""Names from any source become plain and stay apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_data_platform.errors import DataFaultError
from robot_data_platform.formats.names import camera_name, column_name, unique_names
from robot_data_platform.formats.natural_order import (
    last_number,
    natural_key,
    number_ranges,
    shortened,
)


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("observation.images.top", "top"),
        ("observation.images.Left Wrist", "left_wrist"),
        ("observation.image", "image"),
        ("image", "image"),
        ("cam-high.rgb", "cam_high_rgb"),
    ],
)
def test_camera_names(key: str, name: str) -> None:
    assert camera_name(key) == name


def test_keys_that_become_one_name_are_refused_with_both() -> None:
    with pytest.raises(DataFaultError, match=r"'a\.b' and 'a_b' both become 'a_b'"):
        unique_names(["a.b", "a_b"], column_name, "Source 's'")


def test_a_key_that_leaves_no_name_is_refused() -> None:
    with pytest.raises(DataFaultError, match="can't be told apart"):
        unique_names(["..."], column_name, "Source 's'")


def test_numbers_in_names_sort_as_numbers() -> None:
    names = ["demo_10", "demo_2", "demo", "demo_2b", "a"]
    assert sorted(names, key=natural_key) == ["a", "demo", "demo_2", "demo_2b", "demo_10"]


@given(st.lists(st.text(max_size=8)))
def test_any_names_can_be_sorted(names: list[str]) -> None:
    assert sorted(sorted(names, key=natural_key)) == sorted(names)


def test_the_last_number_of_a_name_is_its_number() -> None:
    assert [last_number(n) for n in ("episode_012", "arm2_ep3", "none")] == [12, 3, None]


def test_messages_list_ranges_and_stop_in_time() -> None:
    assert number_ranges([0, 2, 1, 5, 5]) == "0..2, 5"
    assert shortened(["a", "b", "c", "d"], 2) == "a, b and 2 more"
