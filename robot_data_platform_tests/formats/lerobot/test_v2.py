"""LeRobot v2.0 and v2.1 are read by value, as written and as broken."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from robot_data_platform.core.finding import Severity
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform_tests.formats.coded_video import coded_picture
from robot_data_platform_tests.formats.lerobot_files import (
    TASKS,
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


@pytest.mark.parametrize("version", ["v2.0", "v2.1"])
@pytest.mark.parametrize("is_fixed", [True, False], ids=["fixed lists", "variable lists"])
def test_an_episode_is_read_with_its_own_values_times_task_and_pictures(
    tmp_path: Path, version: str, is_fixed: bool
) -> None:
    root = write_v2(tmp_path, TAKES, version=version, is_fixed=is_fixed)
    recording = read_episode(root, "episode_000030")
    np.testing.assert_array_equal(signal(recording, "observation_state").values, TAKES[1].state)
    np.testing.assert_array_equal(signal(recording, "action").values, TAKES[1].state + 0.5)
    # k / 30 s, rounded half up to the nanosecond by hand
    exact = [0, 33333333, 66666667, 100000000, 133333333, 166666667, 200000000]
    assert signal(recording, "action").timestamp_ns.tolist() == exact
    assert camera(recording, "top").timestamp_ns.tolist() == exact
    assert shown_codes(camera(recording, "top")) == TAKES[1].codes
    assert (recording.task, recording.robot) == (TASKS[1], "test_arm")
    assert recording.findings == ()


def test_listed_episodes_keep_their_numbers_and_name_every_file(tmp_path: Path) -> None:
    listing = list_folder(write_v2(tmp_path, TAKES))
    assert [ref.source_key for ref in listing.episodes] == ["episode_000029", "episode_000030"]
    assert [ref.source_episode_index for ref in listing.episodes] == [29, 30]
    assert [ref.num_rows_claimed for ref in listing.episodes] == [5, 7]
    assert listing.episodes[0].files == (
        "data/chunk-000/episode_000029.parquet",
        "meta/episodes.jsonl",
        "meta/info.json",
        "meta/tasks.jsonl",
        f"videos/chunk-000/{TOP}/episode_000029.mp4",
    )
    assert listing.findings == ()


def test_the_names_of_the_dimensions_come_from_any_nesting(tmp_path: Path) -> None:
    for names in (
        ["a", "b", "c"],
        [["a", "b", "c"]],
        {"motors": ["a", "b", "c"]},
        {"a": 0, "b": 1, "c": 2},
    ):
        root = write_v2(tmp_path, TAKES, cameras=())
        vector = {"dtype": "float32", "shape": [3], "names": names}
        edit_info(root, features={"action": vector})
        assert signal(read_episode(root, "episode_000029"), "action").names == ("a", "b", "c")


@pytest.mark.parametrize("names", [None, [["h", "w", "c"]], ["only one"]])
def test_names_that_fit_nothing_become_none(tmp_path: Path, names: object) -> None:
    root = write_v2(tmp_path, TAKES, cameras=())
    edit_info(root, features={"action": {"dtype": "float32", "shape": [3], "names": names}})
    assert signal(read_episode(root, "episode_000029"), "action").names is None


@pytest.mark.parametrize(
    ("shape", "names"),
    [
        ([3, 48, 64], ["channels", "height", "width"]),
        ([48, 64, 3], ["height", "width", "channel"]),
        ([48, 64, 3], None),
        ([48, 64, 3], [["h", "w", "c"]]),
    ],
)
def test_a_picture_shape_is_understood_with_channels_first_or_last(
    tmp_path: Path, shape: list[int], names: object
) -> None:
    root = write_v2(tmp_path, TAKES)
    picture = {"dtype": "video", "shape": shape, "names": names, "video_info": {"video.fps": 30.0}}
    edit_info(root, features={**features(()), TOP: picture})
    declared = list_folder(root).declared_cameras["top"]
    assert (declared.width_px, declared.height_px, declared.fps) == (64, 48, 30.0)
    assert shown_codes(camera(read_episode(root, "episode_000029"), "top")) == TAKES[0].codes


def test_tables_without_frame_index_whose_times_start_a_period_late_keep_them(
    tmp_path: Path,
) -> None:
    root = write_v2(tmp_path, (Take(index=0, num_rows=100),), info={"fps": 20.0})
    late = (np.arange(100) + 1) * 0.05
    edit_parquet(data_path(root, 0), frame_index=None, timestamp=late)
    recording = read_episode(root, "episode_000000")
    finding = by_rule(recording.findings)["time_offset_constant"]
    assert finding.severity is Severity.WARN
    assert finding.value == pytest.approx(50.0)
    assert (finding.unit, signal(recording, "action").timestamp_ns[0]) == ("ms", 50_000_000)
    assert shown_codes(camera(recording, "top")) == list(range(100))


def test_extra_columns_become_signals_and_the_global_index_is_kept_nowhere(tmp_path: Path) -> None:
    root = write_v2(tmp_path, TAKES, cameras=())
    edit_parquet(
        data_path(root, 29),
        **{
            "next.reward": [0.0, 0.0, 0.0, 0.0, 1.0],
            "next.done": [False] * 4 + [True],
            "annotation.human.validity": [1] * 5,
            "source": [7.0] * 5,
        },
    )
    recording = read_episode(root, "episode_000029")
    assert {s.name for s in recording.signals} == {
        "observation_state",
        "action",
        "next_reward",
        "next_done",
        "annotation_human_validity",
        "observation_source",
    }
    assert signal(recording, "next_done").values[:, 0].tolist() == [0, 0, 0, 0, 1]


def test_a_constant_text_is_metadata_and_a_changing_one_is_told(tmp_path: Path) -> None:
    root = write_v2(tmp_path, TAKES, cameras=())
    edit_parquet(data_path(root, 29), operator=["ann"] * 5, note=["a", "b", "c", "d", "e"])
    recording = read_episode(root, "episode_000029")
    assert recording.metadata["operator"] == "ann"
    assert by_rule(recording.findings)["columns_are_read"].where == "note"


def test_matrices_are_laid_flat_row_by_row(tmp_path: Path) -> None:
    root = write_v2(tmp_path, (Take(index=0, num_rows=2),), cameras=())
    edit_parquet(data_path(root, 0), pose=[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]])
    values = signal(read_episode(root, "episode_000000"), "pose").values
    assert values.tolist() == [[1, 2, 3, 4], [5, 6, 7, 8]]


def test_nan_and_infinity_stay_in_the_values(tmp_path: Path) -> None:
    root = write_v2(tmp_path, (Take(index=0, num_rows=2),), cameras=())
    edit_parquet(data_path(root, 0), action=[[1.0, np.nan, 3.0], [np.inf, 5.0, 6.0]])
    values = signal(read_episode(root, "episode_000000"), "action").values
    np.testing.assert_array_equal(values, [[1, np.nan, 3], [np.inf, 5, 6]])


def test_keys_written_as_floats_by_other_tools_are_whole_numbers(tmp_path: Path) -> None:
    root = write_v2(tmp_path, TAKES)
    keys = {"episode_index": [29.0] * 5, "frame_index": [0.0, 1, 2, 3, 4], "task_index": [1.0] * 5}
    edit_parquet(data_path(root, 29), **keys)
    recording = read_episode(root, "episode_000029")
    assert recording.task == TASKS[1]
    assert signal(recording, "action").values[:, 1].tolist() == [0.5, 1.5, 2.5, 3.5, 4.5]


def test_the_instruction_changes_where_task_index_does(tmp_path: Path) -> None:
    root = write_v2(tmp_path, (Take(index=0, num_rows=5),), cameras=())
    edit_parquet(data_path(root, 0), task_index=[0, 0, 1, 1, 0])
    recording = read_episode(root, "episode_000000")
    spans = [(i.start_ns, i.end_ns, i.value) for i in recording.instructions]
    assert spans == [
        (0, 66666667, TASKS[0]),
        (66666667, 133333333, TASKS[1]),
        (133333333, 133333334, TASKS[0]),
    ]
    assert recording.task == TASKS[0]


def test_a_task_index_without_text_is_told(tmp_path: Path) -> None:
    root = write_v2(tmp_path, (Take(index=0, num_rows=2),), cameras=())
    edit_parquet(data_path(root, 0), task_index=[9, 9])
    write_lines(
        root / "meta/episodes.jsonl",
        [{"episode_index": 0, "length": 2, "tasks": ["pick the cube", "valid"]}],
    )
    recording = read_episode(root, "episode_000000")
    assert recording.task is None
    assert "task_index 9" in by_rule(recording.findings)["task_index_is_known"].message


def test_bom_crlf_and_blank_lines_in_json_lines_are_no_fault(tmp_path: Path) -> None:
    root = write_v2(tmp_path, TAKES, cameras=())
    for name in ("meta/tasks.jsonl", "meta/episodes.jsonl"):
        first, *rest = (root / name).read_text().splitlines()
        text = "\ufeff" + "\r\n".join([first, "", *rest, "", ""])
        (root / name).write_bytes(text.encode())
    assert read_episode(root, "episode_000030").task == TASKS[1]


def test_a_broken_line_is_named_and_costs_only_itself(tmp_path: Path) -> None:
    root = write_v2(tmp_path, TAKES, cameras=())
    with (root / "meta/episodes.jsonl").open("a") as file:
        file.write('{"episode_index": 31, "len')
    listing = list_folder(root)
    assert by_rule(listing.findings)["metadata_is_readable"].where == "meta/episodes.jsonl line 3"
    assert len(listing.episodes) == 2


def test_declared_episodes_without_files_are_counted_and_left_out(tmp_path: Path) -> None:
    root = write_v2(tmp_path, TAKES, cameras=(), info={"total_episodes": 4, "total_frames": 20})
    declared = [{"episode_index": i, "tasks": [], "length": 5} for i in (28, 29, 30, 31)]
    write_lines(root / "meta/episodes.jsonl", declared)
    listing = list_folder(root)
    finding = by_rule(listing.findings)["declared_episodes_have_files"]
    assert finding.message.startswith("2 of 4 declared episodes have no files: got none for")
    assert (finding.value, "28, 31" in finding.message) == (2, True)
    assert [ref.source_episode_index for ref in listing.episodes] == [29, 30]


def test_totals_that_the_episodes_contradict_are_told(tmp_path: Path) -> None:
    root = write_v2(tmp_path, TAKES, cameras=(), info={"total_episodes": 7})
    finding = by_rule(list_folder(root).findings)["declared_counts_match"]
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


def test_shuffled_rows_are_sorted_by_frame_index(tmp_path: Path) -> None:
    root = write_v2(tmp_path, (Take(index=0, num_rows=3),))
    table = rows_table(Take(index=0, num_rows=3)).take([2, 0, 1])
    write_parquet(data_path(root, 0), table)
    recording = read_episode(root, "episode_000000")
    assert signal(recording, "observation_state").values[:, 1].tolist() == [0, 1, 2]
    assert "rows_in_order" in by_rule(recording.findings)


@pytest.mark.parametrize("numbers", [[0, 1, 1, 2], [0, 1, 3, 4]], ids=["doubled", "missing"])
def test_rows_whose_pictures_can_not_be_told_are_refused(
    tmp_path: Path, numbers: list[int]
) -> None:
    root = write_v2(tmp_path, (Take(index=0, num_rows=4),))
    edit_parquet(data_path(root, 0), frame_index=numbers, timestamp=np.array(numbers) / 30)
    assert refusal(root, "episode_000000").kind is ErrorKind.ROW_MISMATCH


def test_missing_rows_without_a_video_are_told(tmp_path: Path) -> None:
    root = write_v2(tmp_path, (Take(index=0, num_rows=3),), cameras=())
    edit_parquet(data_path(root, 0), frame_index=[0, 1, 4], timestamp=np.array([0, 1, 4]) / 30)
    recording = read_episode(root, "episode_000000")
    assert "2 values" in by_rule(recording.findings)["rows_are_contiguous"].message
    assert signal(recording, "action").timestamp_ns.tolist() == [0, 33333333, 133333333]


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


def test_user_fields_of_an_episode_are_metadata(tmp_path: Path) -> None:
    root = write_v2(tmp_path, TAKES, cameras=())
    entry = {"episode_index": 29, "length": 5, "tasks": [], "operator": {"name": "ann"}}
    write_lines(root / "meta/episodes.jsonl", [entry])
    metadata = read_episode(root, "episode_000029").metadata
    assert json.loads(metadata["operator"]) == {"name": "ann"}


def test_a_template_that_leads_out_of_the_folder_reads_nothing(tmp_path: Path) -> None:
    outside = tmp_path / "outside.parquet"
    pq.write_table(rows_table(TAKES[0]), outside)
    root = write_v2(tmp_path / "set", TAKES, cameras=(), info={"data_path": "../outside.parquet"})
    assert list_folder(root).episodes == ()
