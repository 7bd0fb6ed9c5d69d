"""LeRobot v3.0: rows and frames are found by value in files that episodes share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from robot_data_platform.core.finding import Severity
from robot_data_platform.core.recording import VideoSegment
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.lerobot import row_files
from robot_data_platform_tests.formats.coded_video import write_video
from robot_data_platform_tests.formats.lerobot_files import (
    FPS,
    TASKS,
    TOP,
    Take,
    V3Plan,
    data_file,
    edit_info,
    edit_parquet,
    rows_table,
    video_file,
    write_parquet,
    write_v3,
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

A, B = "observation.images.a", "observation.images.b"
META = "meta/episodes/chunk-000/file-000.parquet"
TAKES = tuple(Take(index=i, num_rows=7 + i, task=i % 2) for i in range(6))


def plan(
    data_files: Sequence[Sequence[int]] = ((0, 1, 2, 3, 4, 5),),
    video_files: Mapping[str, Sequence[Sequence[int]]] | None = None,
    takes: Sequence[Take] = TAKES,
) -> V3Plan:
    videos = {TOP: [list(range(len(takes)))]} if video_files is None else video_files
    return V3Plan(takes=takes, data_files=data_files, video_files=videos)


def segment(root: Path, key: str, name: str = "top") -> VideoSegment:
    pictures = camera(read_episode(root, key), name).pictures
    assert isinstance(pictures, VideoSegment)
    return pictures


def assert_right(root: Path, take: Take, names: Sequence[str] = ("top",)) -> None:
    """Values, task and pictures are those of one take."""
    recording = read_episode(root, f"episode_{take.index:06d}")
    np.testing.assert_array_equal(signal(recording, "observation_state").values, take.state)
    assert recording.task == TASKS[take.task]
    for name in names:
        assert shown_codes(camera(recording, name)) == take.codes


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


def test_cameras_may_split_their_files_otherwise_than_the_rows_and_each_other(
    tmp_path: Path,
) -> None:
    videos = {A: [[0, 1, 2], [3, 4, 5]], B: [[0, 1], [2, 3], [4, 5]]}
    root = write_v3(tmp_path, plan(video_files=videos))
    for take in TAKES:
        assert_right(root, take, ("a", "b"))


def test_rows_are_found_where_they_are_and_not_where_the_metadata_points(tmp_path: Path) -> None:
    root = write_v3(tmp_path, plan(((0, 1), (2, 3)), takes=TAKES[:4]))
    edit_parquet(root / META, **{"data/file_index": [0, 0, 0, 1]})
    assert_right(root, TAKES[2])
    finding = by_rule(read_episode(root, "episode_000002").findings)["data_pointer_matches_rows"]
    assert finding.severity is Severity.WARN
    assert "data/chunk-000/file-001.parquet" in finding.message
    assert read_episode(root, "episode_000001").findings == ()


def test_metadata_with_gaps_in_its_numbers_is_looked_up_by_number(tmp_path: Path) -> None:
    takes = [Take(index=i, num_rows=5) for i in range(7)]
    root = write_v3(tmp_path, plan([list(range(7))], takes=takes))
    table = pq.read_table(root / META)
    pq.write_table(table.take([0, 1, 2, 5, 6]), root / META)
    for index in (0, 1, 2, 5, 6):
        assert_right(root, takes[index])
    findings = by_rule(list_folder(root).findings)
    assert (
        findings["total_episodes_as_declared"].threshold,
        "3..4" in findings["episodes_are_declared"].message,
    ) == (7, True)


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


def test_a_data_file_that_is_missing_is_named_with_the_episodes_it_would_hold(
    tmp_path: Path,
) -> None:
    root = write_v3(tmp_path, plan(((0, 1, 2), (3, 4, 5))))
    (root / data_file(1)).unlink()
    listing = list_folder(root)
    finding = by_rule(listing.findings)["declared_episodes_have_files"]
    assert "episodes 3..5, expected data/chunk-000/file-001.parquet" in finding.message
    assert [ref.source_episode_index for ref in listing.episodes] == [0, 1, 2]


def test_a_data_file_without_footer_loses_its_own_episodes_only(tmp_path: Path) -> None:
    root = write_v3(tmp_path, plan(((0, 1), (2, 3), (4, 5))))
    path = root / data_file(1)
    path.write_bytes(path.read_bytes()[:-100])
    finding = by_rule(list_folder(root).findings)["data_files_are_readable"]
    assert (finding.where, finding.value) == (data_file(1), 2)
    assert "Lost with it: episodes 2..3" in finding.message
    assert refusal(root, "episode_000002").facts["path"] == data_file(1)
    assert_right(root, TAKES[1])
    assert_right(root, TAKES[5])


def test_a_damaged_metadata_file_costs_only_the_episodes_in_it(tmp_path: Path) -> None:
    root = write_v3(tmp_path, plan(video_files={}))
    table = pq.read_table(root / META)
    write_parquet(root / META, table.slice(0, 4))
    (root / META.replace("file-000", "file-001")).write_bytes(b"PAR1 nothing else")
    listing = list_folder(root)
    assert len(listing.episodes) == 4
    assert by_rule(listing.findings)["episodes_are_declared"].value == 2
    assert by_rule(listing.findings)["data_files_are_readable"].where.endswith("file-001.parquet")


def test_an_lfs_pointer_in_place_of_rows_is_told(tmp_path: Path) -> None:
    root = write_v3(tmp_path, plan(video_files={}))
    (root / data_file(0)).write_text("version https://git-lfs.github.com/spec/v1\nsize 77\n")
    assert "LFS pointer in place of 77 bytes" in str(refusal(root, "episode_000000"))


def test_a_source_without_episode_metadata_is_refused(tmp_path: Path) -> None:
    root = write_v3(tmp_path, plan(video_files={}))
    (root / META).unlink()
    with pytest.raises(DataFaultError, match="no parquet file under 'meta/episodes/'"):
        list_folder(root)


def test_scrambled_global_bounds_change_nothing_and_are_told(tmp_path: Path) -> None:
    takes = [Take(index=i, num_rows=3) for i in range(12)]
    root = write_v3(tmp_path, plan([list(range(12))], takes=takes))
    as_text = sorted(range(12), key=str)
    starts = [as_text.index(i) * 3 for i in range(12)]
    stops = [start + 3 for start in starts]
    edit_parquet(root / META, dataset_from_index=starts, dataset_to_index=stops)
    finding = by_rule(list_folder(root).findings)["dataset_bounds_are_cumulative"]
    # 0, 1, 10, 11, 2, ...: only episode 10 lies before the one that comes before it by number
    assert (finding.value, "10" in finding.message) == (1, True)
    assert_right(root, takes[10])


def test_extra_frames_of_one_episode_do_not_shift_the_later_ones(tmp_path: Path) -> None:
    root = write_v3(tmp_path, replace(plan(), extra_frames={1: 25}))
    for take in TAKES:
        assert_right(root, take)
    finding = by_rule(read_episode(root, "episode_000001").findings)["video_frames_are_referenced"]
    assert (finding.value, finding.severity) == (25, Severity.WARN)
    assert read_episode(root, "episode_000002").findings == ()


def test_starts_that_drift_by_frames_are_taken_from_whole_frame_counts(tmp_path: Path) -> None:
    takes = [Take(index=i, num_rows=7 + i % 11) for i in range(60)]
    root = write_v3(tmp_path, plan([list(range(60))], takes=takes))
    lengths = np.array([take.num_rows for take in takes])
    drifting = np.concatenate([[0], np.cumsum(lengths / FPS + 0.001)[:-1]])  # 1 ms an episode
    edit_parquet(root / META, **{f"videos/{TOP}/from_timestamp": drifting})
    assert segment(root, "episode_000059").first_frame == lengths[:-1].sum()
    assert_right(root, takes[59])
    finding = by_rule(read_episode(root, "episode_000059").findings)
    assert finding["video_start_matches_frame_count"].value == 2  # 59 ms at 30 fps


def test_starts_off_by_a_frame_an_episode_yield_to_rows_that_fill_the_file(tmp_path: Path) -> None:
    root = write_v3(tmp_path, plan())
    lengths = np.array([take.num_rows for take in TAKES])
    late = np.concatenate([[0], np.cumsum(lengths + 1)[:-1]]) / FPS
    edit_parquet(root / META, **{f"videos/{TOP}/from_timestamp": late})
    for take in TAKES:
        assert_right(root, take)
    finding = by_rule(read_episode(root, "episode_000003").findings)
    assert finding["video_start_matches_frame_count"].value == 3


def test_episodes_that_overlap_in_a_video_are_refused(tmp_path: Path) -> None:
    root = write_v3(tmp_path, replace(plan(), extra_frames={5: 4}))
    starts = pq.read_table(root / META)[f"videos/{TOP}/from_timestamp"].to_pylist()
    starts[3] = starts[2]
    edit_parquet(root / META, **{f"videos/{TOP}/from_timestamp": starts})
    error = refusal(root, "episode_000003")
    assert error.kind is ErrorKind.METADATA_CONTRADICTION
    assert "expected no overlap" in str(error)
    assert_right(root, TAKES[5])


def test_a_video_that_is_missing_refuses_its_episodes(tmp_path: Path) -> None:
    root = write_v3(tmp_path, plan(video_files={A: [[0, 1, 2], [3, 4, 5]]}))
    (root / video_file(A, 1)).unlink()
    assert refusal(root, "episode_000004").kind is ErrorKind.MISSING_FILE
    assert_right(root, TAKES[0], ("a",))


def test_a_camera_that_one_episode_lacks_is_told_and_the_rest_is_read(tmp_path: Path) -> None:
    root = write_v3(tmp_path, plan())
    edit_parquet(root / META, **{f"videos/{TOP}/file_index": [0, 0, 0, 0, 0, None]})
    recording = read_episode(root, "episode_000005")
    assert recording.cameras == ()
    assert by_rule(recording.findings)["camera_is_recorded"].where == f"camera={TOP}"
    assert_right(root, TAKES[4])


def test_a_declared_episode_without_rows_is_refused(tmp_path: Path) -> None:
    root = write_v3(tmp_path, plan(video_files={}))
    write_parquet(root / data_file(0), pa.concat_tables([rows_table(t) for t in TAKES[:5]]))
    error = refusal(root, "episode_000005")
    assert (error.kind, "got 0 rows" in str(error)) == (ErrorKind.METADATA_CONTRADICTION, True)


def test_rows_of_one_episode_in_two_files_are_refused_as_doubled(tmp_path: Path) -> None:
    root = write_v3(tmp_path, plan(video_files={}, takes=TAKES[:1], data_files=((0,),)))
    write_parquet(root / data_file(1), rows_table(TAKES[0]))
    edit_parquet(root / META, length=[14])
    assert refusal(root, "episode_000000").kind is ErrorKind.ROW_MISMATCH


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


def test_a_task_table_without_texts_is_refused(tmp_path: Path) -> None:
    root = write_v3(tmp_path, plan(video_files={}))
    edit_parquet(root / "meta/tasks.parquet", task=None)
    with pytest.raises(DataFaultError, match="expected task_index and task or"):
        list_folder(root)


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


def test_the_declared_template_finds_the_videos(tmp_path: Path) -> None:
    root = write_v3(tmp_path, plan())
    (root / "videos").rename(root / "clips")
    edit_info(
        root, video_path="clips/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"
    )
    assert_right(root, TAKES[2])


def test_videos_beside_the_template_leave_the_camera_out_and_are_named(tmp_path: Path) -> None:
    root = write_v3(tmp_path, plan())
    (root / "videos").rename(root / "video")
    findings = by_rule(list_folder(root).findings)
    assert set(findings) == {"declared_cameras_have_files", "videos_are_referenced"}
    assert read_episode(root, "episode_000000").cameras == ()


def test_a_longer_last_episode_in_the_file_shifts_nothing(tmp_path: Path) -> None:
    root = write_v3(tmp_path, plan(takes=TAKES[:2], data_files=((0, 1),)))
    codes = TAKES[0].codes + TAKES[1].codes + [0xFFFF] * 9
    write_video(root / video_file(TOP, 0), codes, FPS)
    assert_right(root, TAKES[1])
