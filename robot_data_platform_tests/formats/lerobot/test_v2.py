"""LeRobot v2.0 and v2.1 are read by value."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from robot_data_platform.core.finding import Severity
from robot_data_platform_tests.formats.coded_video import write_video
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
    shown_codes,
    signal,
)

TAKES = (Take(index=29, num_rows=5), Take(index=30, num_rows=7, task=1))


def data_path(root: Path, index: int) -> Path:
    return root / V2_DATA.format(episode_chunk=0, episode_index=index)


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


@pytest.mark.parametrize("names", [None, [["a", "b"]], ["only one"]])
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
    assert finding.severity is Severity.INFO
    assert finding.value == pytest.approx(50.0)
    assert (finding.unit, signal(recording, "action").timestamp_ns[0]) == ("ms", 50_000_000)
    assert shown_codes(camera(recording, "top")) == list(range(100))


def test_a_table_slower_than_its_video_is_matched_by_order_and_told(tmp_path: Path) -> None:
    root = write_v2(tmp_path, (Take(index=0, num_rows=348),), info={"fps": 20})
    path = root / V2_VIDEO.format(episode_chunk=0, episode_index=0, video_key=TOP)
    write_video(path, range(348), 20)
    steps = 0.0545 + np.random.default_rng(0).uniform(-0.0045, 0.0085, 347)
    steps *= 18.9115 / steps.sum()  # 347 steps of 0.0545 s: 8 % more than 347 / 20 s
    seconds = np.concatenate([[0], np.cumsum(steps)])
    edit_parquet(data_path(root, 0), timestamp=seconds)
    recording = read_episode(root, "episode_000000")
    assert shown_codes(camera(recording, "top")) == list(range(348))
    finding = by_rule(recording.findings)["rate_as_declared"]
    assert finding.value == pytest.approx(1 / 0.0545)
    assert finding.threshold == 20
    recorded_ns = np.rint(seconds * 1e9).astype(np.int64)
    np.testing.assert_array_equal(signal(recording, "action").timestamp_ns, recorded_ns)


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


def test_shuffled_rows_are_sorted_by_frame_index(tmp_path: Path) -> None:
    root = write_v2(tmp_path, (Take(index=0, num_rows=3),))
    table = rows_table(Take(index=0, num_rows=3)).take([2, 0, 1])
    write_parquet(data_path(root, 0), table)
    recording = read_episode(root, "episode_000000")
    assert signal(recording, "observation_state").values[:, 1].tolist() == [0, 1, 2]
    assert "rows_in_order" in by_rule(recording.findings)


def test_missing_rows_without_a_video_are_told(tmp_path: Path) -> None:
    root = write_v2(tmp_path, (Take(index=0, num_rows=3),), cameras=())
    edit_parquet(data_path(root, 0), frame_index=[0, 1, 4], timestamp=np.array([0, 1, 4]) / 30)
    recording = read_episode(root, "episode_000000")
    assert "2 values" in by_rule(recording.findings)["rows_are_contiguous"].message
    assert signal(recording, "action").timestamp_ns.tolist() == [0, 33333333, 133333333]


def test_user_fields_of_an_episode_are_metadata(tmp_path: Path) -> None:
    root = write_v2(tmp_path, TAKES, cameras=())
    entry = {"episode_index": 29, "length": 5, "tasks": [], "operator": {"name": "ann"}}
    write_lines(root / "meta/episodes.jsonl", [entry])
    metadata = read_episode(root, "episode_000029").metadata
    assert json.loads(metadata["operator"]) == {"name": "ann"}
