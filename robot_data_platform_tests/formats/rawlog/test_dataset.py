"""Rawlog episodes keep every clock as it was recorded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from robot_data_platform.core.finding import Severity
from robot_data_platform.core.recording import Interval, VideoSegment
from robot_data_platform.errors import ErrorKind
from robot_data_platform_tests.formats.rawlog_files import (
    FRAMES,
    ROWS,
    START_NS,
    folder_of,
    times,
    write_camera,
    write_episode,
    write_json,
    write_signal,
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

KEY = "ep_0"


def test_an_episode_is_read_with_its_own_clocks_values_and_pictures(tmp_path: Path) -> None:
    recording = read_episode(write_episode(tmp_path), KEY)
    state = signal(recording, "observation_state")
    assert state.timestamp_ns.tolist() == [START_NS + 10_000_000 * k for k in range(ROWS)]
    assert state.values.tolist() == [[k, -k] for k in range(ROWS)]
    assert (state.names, state.values.dtype.name) == (("left", "right"), "float32")
    stream = camera(recording, "env")
    assert stream.timestamp_ns.tolist() == [START_NS + 33_333_333 * k for k in range(FRAMES)]
    assert shown_codes(stream) == list(range(FRAMES))
    assert (recording.task, recording.robot) == ("fold the towel", "aloha")
    assert recording.metadata["clock"] == "host_monotonic_epoch"
    assert recording.findings == ()


def test_episodes_are_listed_in_natural_order_with_their_own_numbers(tmp_path: Path) -> None:
    for number in (10, 9):
        write_episode(tmp_path, f"take_{number}", number)
    refs = list_folder(tmp_path).episodes
    assert [(r.source_key, r.source_episode_index) for r in refs] == [
        ("take_9", 9),
        ("take_10", 10),
    ]
    assert refs[0].files == (
        "episodes/take_9/cameras/env.mp4",
        "episodes/take_9/cameras/env.timestamps.json",
        "episodes/take_9/episode.json",
        "episodes/take_9/signals/action.parquet",
        "episodes/take_9/signals/observation_state.parquet",
    )


def test_csv_and_parquet_hold_the_same_signal(tmp_path: Path) -> None:
    root = write_episode(tmp_path)
    expected = signal(read_episode(root, KEY), "action")
    (folder_of(root) / "signals/action.parquet").unlink()
    lines = [f"{t},{k + 1},{-(k + 1)}.0" for k, t in enumerate(times().tolist())]
    path = folder_of(root) / "signals/action.csv"
    path.write_text("\ufefftimestamp_ns,left,right\r\n" + "\r\n".join(lines) + "\r\n")
    got = signal(read_episode(root, KEY), "action")
    np.testing.assert_array_equal(got.timestamp_ns, expected.timestamp_ns)
    np.testing.assert_array_equal(got.values, expected.values)
    assert got.names == expected.names


def test_signals_keep_their_own_rates_and_get_plain_names(tmp_path: Path) -> None:
    root = write_episode(tmp_path)
    write_signal(folder_of(root), "Gripper Force", times(5, 50_000_000))
    recording = read_episode(root, KEY)
    assert len(signal(recording, "observation_gripper_force").timestamp_ns) == 5
    assert len(signal(recording, "action").timestamp_ns) == ROWS


def test_nan_stays_in_the_values(tmp_path: Path) -> None:
    root = write_episode(tmp_path)
    write_signal(folder_of(root), "action", times(), np.nan)
    assert np.isnan(signal(read_episode(root, KEY), "action").values).all()


@pytest.mark.parametrize("kind", [np.int64, np.uint64])
def test_nanoseconds_since_1970_survive_to_the_last_digit(
    tmp_path: Path, kind: type[np.int64] | type[np.uint64]
) -> None:
    root = write_episode(tmp_path)
    write_signal(folder_of(root), "action", times(150, 33_333_333).astype(kind))
    got = signal(read_episode(root, KEY), "action").timestamp_ns
    assert (got.dtype.name, got[149]) == ("int64", START_NS + 149 * 33_333_333)


@pytest.mark.parametrize(
    ("clock", "text"),
    [
        (times().astype(np.float64), "values of type float64"),
        (times().astype(np.float32), "values of type float32"),
        (times() // 1_000_000_000, "does not increase at row 1"),
        (times()[::-1].copy(), "does not increase at row 1"),
        (times().astype(np.uint64) + np.uint64(1 << 63), "at row 0, beyond int64"),
        (pa.array([START_NS, None, START_NS + 2]), "no time at row 1"),
    ],
    ids=["float64", "float32", "seconds", "backwards", "uint64", "null"],
)
def test_times_that_lost_their_meaning_are_refused_with_the_row(
    tmp_path: Path, clock: npt.NDArray[np.generic] | pa.Array, text: str
) -> None:
    root = write_episode(tmp_path)
    write_signal(folder_of(root), "action", clock)
    error = refusal(root, KEY)
    assert error.kind is ErrorKind.TIME_NOT_INCREASING
    assert text in str(error)
    assert "action.parquet" in str(error)


@pytest.mark.parametrize(
    ("time", "text"),
    [("1.77e18", "'1.77e18' at row 1"), ("9223372036854775808", "9223372036854775808")],
)
def test_csv_times_that_are_no_int64_are_refused(tmp_path: Path, time: str, text: str) -> None:
    root = write_episode(tmp_path)
    (folder_of(root) / "signals/action.parquet").unlink()
    path = folder_of(root) / "signals/action.csv"
    path.write_text(f"timestamp_ns,left\n{START_NS},1\n{time},2\n")
    error = refusal(root, KEY)
    assert (error.kind, text in str(error)) == (ErrorKind.TIME_NOT_INCREASING, True)


def test_csv_values_that_are_no_numbers_are_refused_by_name(tmp_path: Path) -> None:
    root = write_episode(tmp_path)
    (folder_of(root) / "signals/action.parquet").unlink()
    (folder_of(root) / "signals/action.csv").write_text(f"timestamp_ns,left\n{START_NS},open\n")
    error = refusal(root, KEY)
    assert (error.kind, "'open'" in str(error)) == (ErrorKind.UNREADABLE_FILE, True)


def test_instructions_and_drivers_are_intervals(tmp_path: Path) -> None:
    root = write_episode(tmp_path)
    events = [
        {"kind": "source", "value": "intervention", "start_ns": 60, "end_ns": 70},
        {"kind": "instruction", "value": "grasp", "start_ns": 0, "end_ns": 60},
        {"kind": "source", "value": "policy", "start_ns": 0, "end_ns": 60},
    ]
    write_json(folder_of(root) / "events.json", {"events": events})
    recording = read_episode(root, KEY)
    assert recording.instructions == (Interval(start_ns=0, end_ns=60, value="grasp"),)
    assert recording.sources == (
        Interval(start_ns=0, end_ns=60, value="policy"),
        Interval(start_ns=60, end_ns=70, value="intervention"),
    )


@pytest.mark.parametrize(
    "event",
    [
        {"kind": "mood", "value": "good", "start_ns": 0, "end_ns": 1},
        {"kind": "source", "value": "ghost", "start_ns": 0, "end_ns": 1},
        {"kind": "instruction", "value": "grasp", "start_ns": 0.5, "end_ns": 1},
        {"kind": "instruction", "value": "grasp", "start_ns": 1, "end_ns": 1},
        {"kind": "instruction", "start_ns": 0, "end_ns": 1},
        "grasp",
    ],
)
def test_an_event_that_says_nothing_clear_is_refused_with_its_number(
    tmp_path: Path, event: object
) -> None:
    root = write_episode(tmp_path)
    write_json(folder_of(root) / "events.json", {"events": [event]})
    error = refusal(root, KEY)
    assert (error.kind, "got event 0" in str(error)) == (ErrorKind.UNREADABLE_FILE, True)


def test_two_drivers_at_once_are_refused(tmp_path: Path) -> None:
    root = write_episode(tmp_path)
    events = [
        {"kind": "source", "value": "policy", "start_ns": 0, "end_ns": 60},
        {"kind": "source", "value": "human", "start_ns": 59, "end_ns": 70},
    ]
    write_json(folder_of(root) / "events.json", {"events": events})
    assert refusal(root, KEY).kind is ErrorKind.METADATA_CONTRADICTION


@pytest.mark.parametrize("name", ["env.mp4", "env.timestamps.json"])
def test_a_camera_without_video_or_times_is_refused(tmp_path: Path, name: str) -> None:
    root = write_episode(tmp_path)
    (folder_of(root) / "cameras" / name).unlink()
    error = refusal(root, KEY)
    assert (error.kind, name in str(error)) == (ErrorKind.MISSING_FILE, True)


@pytest.mark.parametrize("time", [1.5, True, None, 1 << 63, "1"])
def test_frame_times_that_are_no_int64_are_refused(tmp_path: Path, time: object) -> None:
    root = write_episode(tmp_path)
    content = {"clock": "host", "timestamp_ns": [0, time]}
    write_json(folder_of(root) / "cameras/env.timestamps.json", content)
    error = refusal(root, KEY)
    assert (error.kind, "for frame 1" in str(error)) == (ErrorKind.UNREADABLE_FILE, True)


def test_frame_times_that_run_backwards_are_refused(tmp_path: Path) -> None:
    root = write_episode(tmp_path)
    write_camera(folder_of(root), "env", [10, 30, 20])
    error = refusal(root, KEY)
    assert (error.kind, error.facts["row"]) == (ErrorKind.TIME_NOT_INCREASING, 2)


def test_cameras_on_different_clocks_are_told(tmp_path: Path) -> None:
    root = write_episode(tmp_path)
    write_camera(folder_of(root), "wrist", times(3).tolist())
    content = {"clock": "camera", "timestamp_ns": times(3).tolist()}
    write_json(folder_of(root) / "cameras/wrist.timestamps.json", content)
    recording = read_episode(root, KEY)
    assert by_rule(recording.findings)["cameras_share_a_clock"].severity is Severity.WARN


def test_a_camera_that_recorded_nothing_is_left_out_and_told(tmp_path: Path) -> None:
    root = write_episode(tmp_path)
    content = {"clock": "host", "timestamp_ns": []}
    write_json(folder_of(root) / "cameras/env.timestamps.json", content)
    recording = read_episode(root, KEY)
    assert recording.cameras == ()
    assert by_rule(recording.findings)["camera_is_recorded"].where == "camera=env"


@pytest.mark.parametrize("content", ["{", "[]", '{"task": 5}'])
def test_a_broken_episode_file_refuses_its_episode_alone(tmp_path: Path, content: str) -> None:
    root = write_episode(write_episode(tmp_path), "ep_1", 1)
    (folder_of(root) / "episode.json").write_text(content)
    assert [ref.source_key for ref in list_folder(root).episodes] == ["ep_0", "ep_1"]
    error = refusal(root, KEY)
    assert (error.kind, "ep_0/episode.json" in str(error)) == (ErrorKind.UNREADABLE_FILE, True)
    assert read_episode(root, "ep_1").ref.source_episode_index == 1


def test_a_folder_without_episode_file_is_listed_and_refused(tmp_path: Path) -> None:
    root = write_episode(write_episode(tmp_path), "ep_1", 1)
    (folder_of(root) / "episode.json").unlink()
    assert [ref.source_key for ref in list_folder(root).episodes] == ["ep_0", "ep_1"]
    assert "expected episode.json too" in str(refusal(root, KEY))


def test_a_folder_without_signals_is_refused(tmp_path: Path) -> None:
    root = write_episode(tmp_path)
    for path in (folder_of(root) / "signals").iterdir():
        path.unlink()
    error = refusal(root, KEY)
    assert (error.kind, "signals/*.parquet" in str(error)) == (ErrorKind.MISSING_FILE, True)


def test_one_signal_in_two_files_is_refused(tmp_path: Path) -> None:
    root = write_episode(tmp_path)
    (folder_of(root) / "signals/action.csv").write_text(f"timestamp_ns,left\n{START_NS},1\n")
    assert refusal(root, KEY).kind is ErrorKind.METADATA_CONTRADICTION


def test_a_signal_without_rows_is_refused(tmp_path: Path) -> None:
    root = write_episode(tmp_path)
    write_signal(folder_of(root), "action", times(0))
    assert refusal(root, KEY).kind is ErrorKind.NO_ROWS


def test_a_signal_without_dimensions_is_refused(tmp_path: Path) -> None:
    root = write_episode(tmp_path)
    path = folder_of(root) / "signals/action.parquet"
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"timestamp_ns": times()}), path)
    assert "expected timestamp_ns and one per dimension" in str(refusal(root, KEY))


def test_a_column_of_lists_is_refused_as_a_dimension(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    root = write_episode(tmp_path)
    table = pa.table({"timestamp_ns": times(2), "left": [[1.0, 2.0], [3.0, 4.0]]})
    pq.write_table(table, folder_of(root) / "signals/action.parquet")
    error = refusal(root, KEY)
    assert (error.kind, "2 values per row" in str(error)) == (ErrorKind.SHAPE_MISMATCH, True)


def test_files_that_the_layout_does_not_know_are_told(tmp_path: Path) -> None:
    root = write_episode(tmp_path)
    (folder_of(root) / "cameras/env.mkv").write_text("x")
    finding = by_rule(list_folder(root).findings)["files_are_read"]
    assert (finding.value, finding.severity) == (1, Severity.INFO)
    assert "env.mkv" in finding.message


def test_frames_without_a_time_are_told_of_when_the_video_is_cut(tmp_path: Path) -> None:
    root = write_episode(tmp_path)
    clock = times(FRAMES - 2, 33_333_333).tolist()
    write_json(
        folder_of(root) / "cameras" / "env.timestamps.json", {"clock": "a", "timestamp_ns": clock}
    )
    pictures = camera(read_episode(root, KEY), "env").pictures
    assert isinstance(pictures, VideoSegment)
    assert (pictures.num_frames, pictures.is_last) == (FRAMES - 2, True)


@pytest.mark.parametrize(
    ("suffix", "limit"),
    [("parquet", "parquet_files.MAX_TABLE_BYTES"), ("csv", "rawlog.signals.MAX_CSV_BYTES")],
)
def test_a_table_that_takes_absurd_memory_is_refused_unread(
    tmp_path: Path, suffix: str, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder_of(write_episode(tmp_path)) / "signals" / "action.parquet"
    if suffix == "csv":
        path.unlink()
        path.with_suffix(".csv").write_text("timestamp_ns,x\n" + "1,2\n" * 1000)
    else:
        write_signal(path.parents[1], "action", [0] * 1000)
    monkeypatch.setattr(f"robot_data_platform.formats.{limit}", 3000)
    error = refusal(tmp_path, KEY)
    assert error.kind is ErrorKind.UNREADABLE_FILE
    assert f"'episodes/ep_0/signals/action.{suffix}'" in str(error)
    assert "expected at most 3000" in str(error)
