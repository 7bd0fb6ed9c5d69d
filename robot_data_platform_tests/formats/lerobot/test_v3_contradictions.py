"""LeRobot v3 datasets that contradict themselves are told, or refused episode by episode."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from robot_data_platform.core.finding import Severity
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform_tests.formats.lerobot.sets_v3 import META, TAKES, assert_right, plan
from robot_data_platform_tests.formats.lerobot_files import (
    TOP,
    Take,
    data_file,
    edit_info,
    edit_parquet,
    features,
    rows_table,
    write_parquet,
    write_v3,
)
from robot_data_platform_tests.formats.reading import (
    by_rule,
    list_folder,
    read_episode,
    refusal,
)


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


def test_a_task_table_without_texts_is_refused(tmp_path: Path) -> None:
    root = write_v3(tmp_path, plan(video_files={}))
    edit_parquet(root / "meta/tasks.parquet", task=None)
    with pytest.raises(DataFaultError, match="expected task_index and task or"):
        list_folder(root)


@pytest.mark.parametrize("num_rows", [0, 1, 2, 50])
def test_episodes_of_few_rows_are_refused_flagged_or_read(tmp_path: Path, num_rows: int) -> None:
    takes = [Take(index=i, num_rows=n) for i, n in enumerate((0, 1, 2, 50))]
    root = write_v3(tmp_path, plan([[0, 1, 2, 3]], takes=takes))
    take = next(take for take in takes if take.num_rows == num_rows)
    if num_rows == 0:
        assert refusal(root, "episode_000000").kind is ErrorKind.NO_ROWS
        return
    assert_right(root, take)
    rules = {finding.rule for finding in read_episode(root, f"episode_{take.index:06d}").findings}
    assert rules == ({"episode_has_several_rows"} if num_rows == 1 else set())


def test_a_dataset_that_was_created_and_never_recorded_to_is_refused_as_empty(
    tmp_path: Path,
) -> None:
    root = write_v3(tmp_path, plan(takes=TAKES[:1], data_files=((0,),), video_files={}))
    edit_info(root, total_episodes=0, total_frames=0)
    for folder in ("data", "meta/episodes"):
        shutil.rmtree(root / folder)
    with pytest.raises(
        DataFaultError, match="nothing was recorded: got total_episodes 0"
    ) as caught:
        list_folder(root)
    assert caught.value.kind is ErrorKind.EMPTY_SOURCE


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("length", ["a", "b"]),
        ("data/file_index", [[0], [0]]),
        (f"videos/{TOP}/from_timestamp", ["0", "1"]),
        ("dataset_from_index", [b"0", b"1"]),
    ],
)
def test_metadata_of_another_type_is_refused_with_the_column(
    tmp_path: Path, column: str, values: list[object]
) -> None:
    root = write_v3(tmp_path, plan(((0, 1),), takes=TAKES[:2]))
    edit_parquet(root / META, **{column: values})
    with pytest.raises(DataFaultError, match=f"column '{column}' has the wrong shape: got type"):
        read_episode(root, list_folder(root).episodes[0].source_key)


@pytest.mark.parametrize("column", ["data/file_index", f"videos/{TOP}/from_timestamp"])
def test_metadata_of_nothing_is_no_metadata(tmp_path: Path, column: str) -> None:
    root = write_v3(tmp_path, plan(((0, 1),), takes=TAKES[:2]))
    edit_parquet(root / META, **{column: pa.nulls(2)})
    if column.startswith("data"):
        assert_right(root, TAKES[1])
    else:
        assert "got no from_timestamp" in str(refusal(root, "episode_000001"))


def test_metadata_files_whose_types_do_not_go_together_are_refused(tmp_path: Path) -> None:
    root = write_v3(tmp_path, plan(((0, 1),), takes=TAKES[:2]))
    other = pq.read_table(root / META).append_column("mood", pa.array(["good", "bad"]))
    write_parquet(root / META.replace("file-000", "file-001"), other)
    edit_parquet(root / META, mood=[[1], [2]])
    with pytest.raises(DataFaultError, match="differ in their columns") as caught:
        list_folder(root)
    assert caught.value.kind is ErrorKind.METADATA_CONTRADICTION


def test_task_texts_of_another_type_are_refused(tmp_path: Path) -> None:
    root = write_v3(tmp_path, plan(((0, 1),), takes=TAKES[:2]))
    edit_parquet(root / "meta/tasks.parquet", task=[1, 2])
    assert "got task of type int64, expected texts" in str(refusal(root, "episode_000000"))


@pytest.mark.parametrize("values", [[[1]] * 7, [b"0"] * 7, ["0"] * 7])
def test_episode_numbers_of_another_type_lose_the_file(
    tmp_path: Path, values: list[object]
) -> None:
    root = write_v3(tmp_path, plan(((0,), (1,)), takes=TAKES[:2]))
    edit_parquet(root / data_file(0), episode_index=values)
    assert_right(root, TAKES[1])
    finding = by_rule(list_folder(root).findings)["data_files_are_readable"]
    assert "got episode_index of type" in finding.message


@pytest.mark.parametrize("value", [None, 10**30, [], {"shape": [3]}, {"dtype": 7}])
def test_a_feature_that_is_none_refuses_the_dataset(tmp_path: Path, value: object) -> None:
    root = write_v3(tmp_path, plan(((0,),), takes=TAKES[:1]))
    edit_info(root, features={**features((TOP,)), "observation.state": value})
    with pytest.raises(DataFaultError, match=r"got feature 'observation.state' .*expected an obj"):
        list_folder(root)
