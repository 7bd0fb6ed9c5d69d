"""Pictures inside the data files of a LeRobot dataset."""

from __future__ import annotations

from pathlib import Path

import pytest

from robot_data_platform.errors import DataFaultError
from robot_data_platform_tests.formats.coded_video import coded_picture
from robot_data_platform_tests.formats.lerobot_files import (
    TOP,
    V2_DATA,
    Take,
    edit_info,
    edit_parquet,
    features,
    write_v2,
)
from robot_data_platform_tests.formats.reading import (
    by_rule,
    camera,
    read_episode,
    shown_codes,
)

TAKES = (Take(index=29, num_rows=5), Take(index=30, num_rows=7, task=1))


def data_path(root: Path, index: int) -> Path:
    return root / V2_DATA.format(episode_chunk=0, episode_index=index)


def png(code: int) -> bytes:
    import io

    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(coded_picture(code)).save(buffer, "PNG")
    return buffer.getvalue()


def image_set(root: Path, pictures: list[bytes], *, is_struct: bool = True) -> Path:
    take = Take(index=0, num_rows=len(pictures))
    write_v2(root, (take,), cameras=())
    edit_info(root, features=features((TOP,), dtype="image"))
    column = [{"bytes": data, "path": None} for data in pictures] if is_struct else pictures
    edit_parquet(data_path(root, 0), **{TOP: column})
    return root


@pytest.mark.parametrize("is_struct", [True, False], ids=["struct", "plain bytes"])
def test_pictures_inside_the_table_are_read_one_by_one(tmp_path: Path, is_struct: bool) -> None:
    root = image_set(tmp_path, [png(code) for code in (5, 6, 7)], is_struct=is_struct)
    stream = camera(read_episode(root, "episode_000000"), "top")
    assert (stream.pictures.num_frames, shown_codes(stream)) == (3, [5, 6, 7])


def test_an_empty_picture_among_others_is_refused_with_its_row(tmp_path: Path) -> None:
    root = image_set(tmp_path, [png(0), b"", png(2)])
    stream = camera(read_episode(root, "episode_000000"), "top")
    with pytest.raises(DataFaultError, match=r"row 1 of episode 0 is no readable picture: got 0"):
        shown_codes(stream)


def test_depth_maps_are_left_out_and_told(tmp_path: Path) -> None:
    root = write_v2(tmp_path, TAKES)
    depth = {"dtype": "video", "shape": [48, 64, 1], "info": {"video.is_depth_map": True}}
    edit_info(root, features={**features(()), TOP: depth})
    recording = read_episode(root, "episode_000029")
    assert recording.cameras == ()
    assert by_rule(recording.findings)["cameras_are_read"].where == f"camera={TOP}"
