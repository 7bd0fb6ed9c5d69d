from __future__ import annotations

import inspect
import re
from dataclasses import fields
from typing import get_args

import pytest

from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.video.settings import PROFILES, GopProfile, GopSettings


@pytest.mark.parametrize("field", fields(GopSettings), ids=lambda field: field.name)
def test_the_documented_default_is_the_default(field: object) -> None:
    name, default = field.name, field.default  # type: ignore[attr-defined]
    source = inspect.getsource(GopSettings)
    text = re.search(rf'    {name}: [^=\n]+ = [^\n]+\n    """(.+?)"""', source, re.DOTALL)
    assert text
    documented = re.search(r"Default\s+(?:``)?([\w]+)", text[1])
    assert documented
    assert documented[1] == str(default)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("gop_size", 0),
        ("gop_size", 129),
        ("anchor_distance", 0),
        ("anchor_distance", 18),
        ("crf", 0),
        ("crf", 52),
        ("copy_budget_frames", 0),
        ("profile", "long"),
        ("preset", "warp"),
        ("gop_size", 2.5),
        ("gop_size", True),
    ],
)
def test_a_value_out_of_range_is_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(InvalidInputError, match=f"'{name}'.*{value}") as caught:
        GopSettings(**{name: value})  # type: ignore[arg-type]
    assert caught.value.kind is ErrorKind.INVALID_ARGUMENT


@pytest.mark.parametrize(
    ("gop_size", "distance", "num_b_frames"),
    [(1, 8, 0), (2, 8, 0), (3, 8, 1), (8, 8, 6), (9, 8, 7), (16, 8, 7), (128, 17, 16), (16, 1, 0)],
)
def test_b_frames_fit_between_anchors_and_never_end_a_gop(
    gop_size: int, distance: int, num_b_frames: int
) -> None:
    settings = GopSettings(gop_size=gop_size, anchor_distance=distance)
    assert settings.num_b_frames == num_b_frames


def test_settings_are_plain_values_for_a_fingerprint() -> None:
    values = GopSettings(gop_size=8).as_dict()
    assert values["gop_size"] == 8
    assert set(values) == {field.name for field in fields(GopSettings)}
    assert all(type(value) in (str, int, bool) for value in values.values())


def test_the_profiles_are_the_ones_of_the_type() -> None:
    assert get_args(GopProfile) == PROFILES
