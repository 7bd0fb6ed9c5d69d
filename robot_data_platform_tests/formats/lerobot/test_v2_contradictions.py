"""LeRobot v2 datasets that contradict themselves are told, or refused episode by episode."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from robot_data_platform.core.finding import Severity
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform_tests.formats.lerobot_files import (
    TOP,
    V2_DATA,
    V2_VIDEO,
    Take,
    edit_info,
    edit_parquet,
    features,
    rows_table,
    write_lines,
    write_parquet,
    write_v2,
)
from robot_data_platform_tests.formats.reading import (
    by_rule,
    camera,
    list_folder,
    read_episode,
    refusal,
    shown_codes,
    signal,
)

TAKES = (Take(index=29, num_rows=5), Take(index=30, num_rows=7, task=1))


def data_path(root: Path, index: int) -> Path:
    return root / V2_DATA.format(episode_chunk=0, episode_index=index)


def video_path(root: Path, index: int, key: str = TOP) -> Path:
    return root / V2_VIDEO.format(episode_chunk=0, episode_index=index, video_key=key)


def test_declared_episodes_without_files_are_counted_and_left_out(tmp_path: Path) -> None:
    root = write_v2(tmp_path, TAKES, cameras=(), info={"total_episodes": 4, "total_frames": 20})
    declared: list[dict[str, object]] = [
        {"episode_index": i, "tasks": [], "length": 5} for i in (28, 29, 30, 31)
    ]
    write_lines(root / "meta/episodes.jsonl", declared)
    listing = list_folder(root)
    finding = by_rule(listing.findings)["declared_episodes_have_files"]
    assert finding.message.startswith("2 of 4 declared episodes have no files: got none for")
    assert (finding.value, "28, 31" in finding.message) == (2, True)
    assert [ref.source_episode_index for ref in listing.episodes] == [29, 30]


def test_totals_that_the_episodes_contradict_are_told(tmp_path: Path) -> None:
    root = write_v2(tmp_path, TAKES, cameras=(), info={"total_episodes": 7})
    finding = by_rule(list_folder(root).findings)["total_episodes_as_declared"]
    assert (finding.value, finding.threshold) == (2, 7)


def test_an_episode_that_no_metadata_knows_is_read_and_told(tmp_path: Path) -> None:
    root = write_v2(tmp_path, TAKES, cameras=())
    write_parquet(data_path(root, 31), rows_table(Take(index=31, num_rows=3)))
    finding = by_rule(list_folder(root).findings)["episodes_are_declared"]
    assert "31" in finding.message
    assert len(signal(read_episode(root, "episode_000031"), "action").values) == 3


def test_lengths_that_contradict_the_rows_refuse_the_episode_with_both_numbers(
    tmp_path: Path,
) -> None:
    takes = [Take(index=i, num_rows=n) for i, n in enumerate((50, 60, 70))]
    root = write_v2(tmp_path, takes, cameras=())
    lengths = [{"episode_index": i, "length": n} for i, n in enumerate((50, 61, 69))]
    write_lines(root / "meta/episodes.jsonl", lengths)
    error = refusal(root, "episode_000001")
    assert error.kind is ErrorKind.METADATA_CONTRADICTION
    assert "got 60 rows" in str(error)
    assert "expected 61" in str(error)
    assert len(signal(read_episode(root, "episode_000000"), "action").values) == 50


def test_rows_of_another_episode_in_a_file_are_left_out_and_counted(tmp_path: Path) -> None:
    root = write_v2(tmp_path, TAKES, cameras=())
    mixed = pa.concat_tables([rows_table(TAKES[0]), rows_table(Take(index=8, num_rows=2))])
    write_parquet(data_path(root, 29), mixed)
    recording = read_episode(root, "episode_000029")
    finding = by_rule(recording.findings)["data_pointer_matches_rows"]
    assert (finding.value, len(signal(recording, "action").values)) == (2, 5)


def test_a_file_that_holds_another_episode_is_refused(tmp_path: Path) -> None:
    root = write_v2(tmp_path, TAKES, cameras=())
    data_path(root, 30).replace(data_path(root, 29))
    error = refusal(root, "episode_000029")
    assert "got 0 rows with episode_index 29" in str(error)


def test_an_episode_declared_twice_is_refused(tmp_path: Path) -> None:
    root = write_v2(tmp_path, TAKES, cameras=())
    write_lines(root / "meta/episodes.jsonl", [{"episode_index": 29, "length": 5}] * 2)
    error = refusal(root, "episode_000029")
    assert (error.kind, "got 2 lines" in str(error)) == (ErrorKind.METADATA_CONTRADICTION, True)


def test_a_camera_without_any_file_is_told_and_left_out(tmp_path: Path) -> None:
    root = write_v2(tmp_path, TAKES)
    edit_info(root, features=features((TOP, "observation.images.egoview")))
    finding = by_rule(list_folder(root).findings)["declared_cameras_have_files"]
    assert finding.where == "camera=observation.images.egoview"
    recording = read_episode(root, "episode_000029")
    assert [c.name for c in recording.cameras] == ["top"]


def test_a_video_that_one_episode_lacks_refuses_that_episode_alone(tmp_path: Path) -> None:
    root = write_v2(tmp_path, TAKES)
    video_path(root, 29).unlink()
    error = refusal(root, "episode_000029")
    assert error.kind is ErrorKind.MISSING_FILE
    assert "episode_000029.mp4" in str(error)
    assert shown_codes(camera(read_episode(root, "episode_000030"), "top")) == TAKES[1].codes


def test_videos_that_no_episode_refers_to_are_named(tmp_path: Path) -> None:
    root = write_v2(tmp_path, TAKES)
    moved = root / "video/chunk-000/episode_000029.mp4"
    moved.parent.mkdir(parents=True)
    video_path(root, 29).replace(moved)
    finding = by_rule(list_folder(root).findings)["videos_are_referenced"]
    assert "video/chunk-000/episode_000029.mp4" in finding.message


@pytest.mark.parametrize("name", ["data", "video"])
def test_an_lfs_pointer_is_told_from_data_with_its_size(tmp_path: Path, name: str) -> None:
    root = write_v2(tmp_path, TAKES)
    path = data_path(root, 29) if name == "data" else video_path(root, 29)
    path.write_text(
        "version https://git-lfs.github.com/spec/v1\n"
        "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n"
        "size 12345\n"
    )
    error = refusal(root, "episode_000029")
    assert error.kind is ErrorKind.UNREADABLE_FILE
    assert "Git LFS pointer in place of 12345 bytes" in str(error)
    assert path.name in str(error)


def test_an_empty_video_is_refused_by_name(tmp_path: Path) -> None:
    root = write_v2(tmp_path, TAKES)
    video_path(root, 29).write_bytes(b"")
    assert "got 0 bytes" in str(refusal(root, "episode_000029"))


def test_a_parquet_without_footer_is_refused_by_name(tmp_path: Path) -> None:
    root = write_v2(tmp_path, TAKES, cameras=())
    data_path(root, 29).write_bytes(data_path(root, 29).read_bytes()[:-100])
    error = refusal(root, "episode_000029")
    assert (error.kind, error.facts["path"]) == (
        ErrorKind.UNREADABLE_FILE,
        "data/chunk-000/episode_000029.parquet",
    )
    assert len(list_folder(root).episodes) == 2


def test_an_episode_without_rows_is_refused(tmp_path: Path) -> None:
    root = write_v2(tmp_path, (Take(index=0, num_rows=0), TAKES[0]), cameras=())
    assert refusal(root, "episode_000000").kind is ErrorKind.NO_ROWS


def test_an_episode_of_one_row_is_read_and_flagged(tmp_path: Path) -> None:
    root = write_v2(tmp_path, (Take(index=0, num_rows=1),))
    recording = read_episode(root, "episode_000000")
    assert by_rule(recording.findings)["episode_has_several_rows"].severity is Severity.WARN
    assert shown_codes(camera(recording, "top")) == [0]


def test_times_that_do_not_increase_are_refused_with_the_row(tmp_path: Path) -> None:
    root = write_v2(tmp_path, (Take(index=0, num_rows=4),), cameras=())
    edit_parquet(data_path(root, 0), timestamp=[0.0, 0.5, 0.5, 0.9])
    error = refusal(root, "episode_000000")
    assert (error.kind, error.facts["row"]) == (ErrorKind.TIME_NOT_INCREASING, 2)


def test_rows_of_different_width_are_refused_with_the_row(tmp_path: Path) -> None:
    root = write_v2(tmp_path, (Take(index=0, num_rows=3),), cameras=())
    edit_parquet(data_path(root, 0), action=[[1.0, 2.0, 3.0], [1.0, 2.0], [1.0, 2.0, 3.0]])
    error = refusal(root, "episode_000000")
    assert error.kind is ErrorKind.SHAPE_MISMATCH
    assert "got 2 values at row 1, expected 3" in str(error)


def test_a_width_other_than_declared_is_read_as_it_is_and_told(tmp_path: Path) -> None:
    root = write_v2(tmp_path, (Take(index=0, num_rows=2),), cameras=())
    edit_parquet(data_path(root, 0), action=[[1.0, 2.0], [3.0, 4.0]])
    recording = read_episode(root, "episode_000000")
    finding = by_rule(recording.findings)["shape_as_declared"]
    assert (finding.value, finding.threshold) == (2, 3)


@pytest.mark.parametrize("numbers", [[0, 1, 1, 2], [0, 1, 3, 4]], ids=["doubled", "missing"])
def test_rows_whose_pictures_can_not_be_told_are_refused(
    tmp_path: Path, numbers: list[int]
) -> None:
    root = write_v2(tmp_path, (Take(index=0, num_rows=4),))
    edit_parquet(data_path(root, 0), frame_index=numbers, timestamp=np.array(numbers) / 30)
    assert refusal(root, "episode_000000").kind is ErrorKind.ROW_MISMATCH


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"codebase_version": "v4.0"}, "codebase_version 'v4.0'"),
        ({"storage_format": "lance"}, "storage_format 'lance'"),
    ],
)
def test_a_layout_that_is_not_read_is_named(
    tmp_path: Path, values: dict[str, object], text: str
) -> None:
    root = write_v2(tmp_path, TAKES, cameras=(), info=values)
    with pytest.raises(DataFaultError, match=text) as caught:
        list_folder(root)
    assert caught.value.kind is ErrorKind.UNKNOWN_FORMAT


@pytest.mark.parametrize("fps", [0, -1, None, "30", True])
def test_an_impossible_rate_is_refused(tmp_path: Path, fps: object) -> None:
    root = write_v2(tmp_path, TAKES, cameras=(), info={"fps": fps})
    with pytest.raises(DataFaultError, match="expected a rate above 0"):
        list_folder(root)


def test_a_damaged_info_file_is_named(tmp_path: Path) -> None:
    root = write_v2(tmp_path, TAKES, cameras=())
    (root / "meta/info.json").write_text('{"codebase_version": ')
    with pytest.raises(DataFaultError, match=r"'meta/info\.json'.*expected a JSON object"):
        list_folder(root)


def test_a_template_that_leads_out_of_the_folder_reads_nothing(tmp_path: Path) -> None:
    outside = tmp_path / "outside.parquet"
    pq.write_table(rows_table(TAKES[0]), outside)
    root = write_v2(tmp_path / "set", TAKES, cameras=(), info={"data_path": "../outside.parquet"})
    assert list_folder(root).episodes == ()


def test_rows_that_repeat_until_they_fill_memory_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_v2(tmp_path, (Take(index=0, num_rows=100_000),), cameras=())
    path = root / V2_DATA.format(episode_chunk=0, episode_index=0)
    table = pq.read_table(path)
    write_parquet(path, table.take([0] * table.num_rows))
    assert path.stat().st_size < 10_000
    monkeypatch.setattr("robot_data_platform.formats.lerobot.rows.MAX_TABLE_BYTES", 1 << 20)
    error = refusal(root, "episode_000000")
    assert error.kind is ErrorKind.SHAPE_MISMATCH
    assert "takes absurd memory" in str(error)
