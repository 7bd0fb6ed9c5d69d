"""Templates of ``info.json`` reach no further than their fields."""

from __future__ import annotations

import pytest

from robot_data_platform.formats.lerobot.path_template import PathTemplate
from robot_data_platform_tests.formats.lerobot_files import V2_DATA, V3_VIDEO


def test_fields_are_filled_as_str_format_does() -> None:
    values: dict[str, int | str] = {
        "video_key": "observation.images.top",
        "chunk_index": 3,
        "file_index": 1234,
    }
    assert PathTemplate(V3_VIDEO).fill(**values) == V3_VIDEO.format(**values)


@pytest.mark.parametrize(
    "template",
    ["{episode_index.__class__}.parquet", "{episode_index:0999999999d}.parquet", "{0}.parquet"],
)
def test_anything_but_plain_fields_stays_as_it_is_written(template: str) -> None:
    assert PathTemplate(template).fill(episode_index=1) == template


def test_a_path_gives_back_the_number_it_was_filled_with() -> None:
    template = PathTemplate(V2_DATA)
    path = template.fill(episode_index=123456, episode_chunk=123)
    assert template.number("episode_index", path) == 123456
    assert template.number("episode_index", "data/other.parquet") is None
    assert (template.folder, PathTemplate("{episode_index}").folder) == ("data/", "")
