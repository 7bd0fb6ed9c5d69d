"""LeRobot v3.0: rows and frames are found by value in files that episodes share."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from robot_data_platform.formats.lerobot import row_files
from robot_data_platform_tests.formats.lerobot.sets_v3 import META, TAKES, assert_right, plan
from robot_data_platform_tests.formats.lerobot_files import (
    TASKS,
    TOP,
    data_file,
    edit_info,
    edit_parquet,
    features,
    rows_table,
    write_parquet,
    write_v3,
)
from robot_data_platform_tests.formats.png import png
from robot_data_platform_tests.formats.reading import (
    list_folder,
    read_episode,
    signal,
)


def test_every_episode_of_a_shared_file_has_its_own_rows_task_and_frames(tmp_path: Path) -> None:
    root = write_v3(tmp_path, plan(data_files=((0, 1, 2), (3, 4, 5))))
    for take in TAKES:
        assert_right(root, take)
    assert list_folder(root).findings == ()


def test_a_ref_names_every_file_it_is_read_from(tmp_path: Path) -> None:
    root = write_v3(tmp_path, plan(data_files=((0, 1, 2), (3, 4, 5))))
    assert list_folder(root).episodes[4].files == (
        "data/chunk-000/file-001.parquet",
        META,
        "meta/info.json",
        "meta/tasks.parquet",
        f"videos/{TOP}/chunk-000/file-000.mp4",
    )


def test_metadata_rows_in_any_order_are_listed_by_number(tmp_path: Path) -> None:
    root = write_v3(tmp_path, plan())
    pq.write_table(pq.read_table(root / META).take([3, 0, 5, 1, 2, 4]), root / META)
    assert [r.source_episode_index for r in list_folder(root).episodes] == [0, 1, 2, 3, 4, 5]
    assert_right(root, TAKES[3])


def test_metadata_spread_over_files_is_one_table(tmp_path: Path) -> None:
    root = write_v3(tmp_path, plan())
    table = pq.read_table(root / META)
    write_parquet(root / META, table.slice(0, 2))
    write_parquet(root / META.replace("file-000", "file-001"), table.slice(2))
    for take in TAKES:
        assert_right(root, take)
    # Episode 0 shares its video with episodes of the other file, which its frame number needs.
    assert META.replace("file-000", "file-001") in list_folder(root).episodes[0].files


def test_an_episode_cut_in_two_files_is_put_together(tmp_path: Path) -> None:
    root = write_v3(tmp_path, plan(takes=TAKES[:1], data_files=((0,),)))
    table = rows_table(TAKES[0])
    write_parquet(root / data_file(0), table.slice(0, 3))
    write_parquet(root / data_file(1), table.slice(3))
    assert_right(root, TAKES[0])


@pytest.mark.parametrize("name", ["task", None], ids=["named index", "unnamed index"])
def test_task_texts_kept_as_a_pandas_index_are_found(tmp_path: Path, name: str | None) -> None:
    root = write_v3(tmp_path, plan(video_files={}))
    frame = pd.DataFrame({"task_index": [1, 0]}, index=pd.Index(TASKS[::-1], name=name))
    frame.to_parquet(root / "meta/tasks.parquet")
    assert read_episode(root, "episode_000000").task == TASKS[0]
    assert read_episode(root, "episode_000001").task == TASKS[1]


def test_row_groups_are_no_bounds_of_episodes(tmp_path: Path) -> None:
    root = write_v3(tmp_path, plan())
    pq.write_table(pq.read_table(root / data_file(0)), root / data_file(0), row_group_size=4)
    for take in TAKES:
        assert_right(root, take)


def test_files_without_statistics_are_read_by_value_too(tmp_path: Path) -> None:
    root = write_v3(tmp_path, plan())
    pq.write_table(pq.read_table(root / data_file(0)), root / data_file(0), write_statistics=False)
    for take in TAKES:
        assert_right(root, take)


def test_row_groups_too_large_to_keep_are_read_in_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_v3(tmp_path, plan())
    monkeypatch.setattr(row_files, "MAX_SHARED_BYTES", 0)
    monkeypatch.setattr(row_files, "BATCH_ROWS", 5)
    for take in TAKES:
        assert_right(root, take)


def test_a_rewritten_file_is_read_anew(tmp_path: Path) -> None:
    root = write_v3(tmp_path, plan(takes=TAKES[:1], data_files=((0,),), video_files={}))
    assert_right(root, TAKES[0], ())
    edit_parquet(root / data_file(0), action=[[9.0, 9.0, 9.0]] * 7)
    assert (signal(read_episode(root, "episode_000000"), "action").values == 9).all()


def test_pictures_in_files_that_episodes_share_are_each_episode_s_own(tmp_path: Path) -> None:
    root = write_v3(tmp_path, plan(takes=TAKES[:3], data_files=((0, 1), (2,)), video_files={}))
    edit_info(root, features=features((TOP,), dtype="image"))
    for number, members in enumerate((TAKES[:2], TAKES[2:3])):
        codes = [code for take in members for code in take.codes]
        column = [{"bytes": png(code), "path": f"frame-{code:06d}.png"} for code in codes]
        edit_parquet(root / data_file(number), **{TOP: column})
    for take in TAKES[:3]:
        assert_right(root, take)
