"""Raw logs of other layouts, whose files a profile finds by patterns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from robot_data_platform.core.recording import Interval, Recording
from robot_data_platform.errors import DataFaultError, ErrorKind, InvalidInputError
from robot_data_platform.formats.inspect import inspect_source
from robot_data_platform.formats.profile import Profile, load_profile
from robot_data_platform.formats.protocol import EpisodeListing
from robot_data_platform.formats.rawlog import RawlogFormat
from robot_data_platform.storage.source import LocalSource
from robot_data_platform_tests.formats.rawlog_files import (
    START_NS,
    times,
    write_json,
    write_pictures,
)
from robot_data_platform_tests.formats.reading import by_rule, camera, shown_codes, signal

ROWS = 5
LAYOUT = """\
rawlog:
  episodes: takes/*/raw
  signals:
    observation_state: {path: joints-*.parquet, time: t, values: [arm, hand]}
    action: {path: commands.csv, columns: [t, x, y, unused], time: t, values: [y, x]}
  cameras:
    top: pictures/top/*.jpeg
    wrist: pictures/wrist/*.jpeg
"""


def write_take(root: Path, name: str = "take_2") -> Path:
    """Write an episode of the layout; return its folder."""
    folder = root / "takes" / name / "raw"
    folder.mkdir(parents=True)
    rows = np.arange(ROWS, dtype=np.float32)
    arms = [[float(row), row + 0.5] for row in rows]
    columns = {"t": pa.array(times(ROWS), pa.timestamp("ns")), "arm": arms, "hand": -rows}
    pq.write_table(pa.table(columns), folder / "joints-a.parquet")
    lines = [f"{time},{row},{row + 100},9" for row, time in enumerate(times(ROWS).tolist())]
    (folder / "commands.csv").write_text("\n".join(lines) + "\n")
    write_pictures(folder / "pictures" / "top", {START_NS + k: k + 1 for k in range(3)})
    for path in (folder / "pictures" / "top").iterdir():
        path.rename(path.with_suffix(".jpeg"))
    return folder


def read(root: Path, layout: str = LAYOUT) -> tuple[EpisodeListing, list[Recording]]:
    source, profile = LocalSource(root), load_profile(layout)
    listing = RawlogFormat().list_episodes(source, profile)
    return listing, [RawlogFormat().read(source, ref, profile) for ref in listing.episodes]


def refused(root: Path, layout: str = LAYOUT) -> DataFaultError:
    with pytest.raises(DataFaultError) as caught:
        read(root, layout)
    return caught.value


def test_signals_and_cameras_are_where_the_patterns_say(tmp_path: Path) -> None:
    write_take(tmp_path)
    listing, (recording,) = read(tmp_path)
    (ref,) = listing.episodes
    assert (ref.source_key, ref.source_episode_index) == ("takes/take_2/raw", None)
    state = signal(recording, "observation_state")
    assert state.timestamp_ns.tolist() == times(ROWS).tolist()
    np.testing.assert_array_equal(state.values[:, 1], state.values[:, 0] + 0.5)
    assert state.values.shape == (ROWS, 3)
    assert state.names is None
    action = signal(recording, "action")
    assert action.values.tolist() == [[row + 100, row] for row in range(ROWS)]
    assert action.names == ("y", "x")
    assert action.timestamp_ns.tolist() == times(ROWS).tolist()
    assert shown_codes(camera(recording, "top")) == [1, 2, 3]
    assert by_rule(recording.findings)["camera_is_recorded"].where == "camera=wrist"


def test_files_that_no_pattern_knows_are_told(tmp_path: Path) -> None:
    (write_take(tmp_path) / "notes.txt").write_text("x")
    (tmp_path / "readme.txt").write_text("x")
    (tmp_path / "takes" / "empty").mkdir()
    (tmp_path / "takes" / "empty" / "raw").write_text("no folder")
    (tmp_path / "profile.yaml").write_text(LAYOUT)
    listing, _ = read(tmp_path)
    finding = by_rule(listing.findings)["files_are_read"]
    assert finding.value == 3
    assert len(listing.episodes) == 1


def test_an_episode_json_and_events_keep_their_meaning(tmp_path: Path) -> None:
    folder = write_take(tmp_path)
    write_json(folder / "episode.json", {"task": "stack", "episode_index": 7, "success": True})
    events = [{"kind": "source", "value": "human", "start_ns": 0, "end_ns": 5}]
    write_json(folder / "events.json", {"events": events})
    listing, (recording,) = read(tmp_path)
    assert listing.episodes[0].source_episode_index == 7
    assert (recording.task, recording.metadata["success"]) == ("stack", "true")
    assert recording.sources == (Interval(start_ns=0, end_ns=5, value="human"),)


def test_a_dot_makes_the_source_one_episode(tmp_path: Path) -> None:
    write_take(tmp_path).rename(tmp_path / "data")
    listing, (recording,) = read(tmp_path / "data", LAYOUT.replace("takes/*/raw", "."))
    assert [ref.source_key for ref in listing.episodes] == ["."]
    assert len(signal(recording, "action").values) == ROWS


def test_numbers_of_folders_are_the_episodes_numbers_and_their_order(tmp_path: Path) -> None:
    for name in ("10", "9"):
        write_take(tmp_path, name)
        (tmp_path / "takes" / name / "raw").rename(tmp_path / name)
    listing, _ = read(tmp_path, LAYOUT.replace("takes/*/raw", '"*"'))
    assert [ref.source_episode_index for ref in listing.episodes] == [9, 10]


def test_the_profile_says_which_format_it_is(tmp_path: Path) -> None:
    write_take(tmp_path)
    report = inspect_source(LocalSource(tmp_path), None, load_profile(LAYOUT))
    assert (report.format, len(report.episodes), report.refused) == ("rawlog", 1, ())
    (tmp_path / "profile.yaml").write_text(LAYOUT)
    assert inspect_source(LocalSource(tmp_path)).format == "rawlog"


def test_a_signal_that_an_episode_lacks_refuses_it(tmp_path: Path) -> None:
    (write_take(tmp_path) / "commands.csv").unlink()
    error = refused(tmp_path)
    assert (error.kind, "commands.csv of 'action'" in str(error)) == (ErrorKind.MISSING_FILE, True)


def test_a_pattern_that_fits_two_files_refuses_the_episode(tmp_path: Path) -> None:
    folder = write_take(tmp_path)
    (folder / "joints-b.parquet").write_bytes((folder / "joints-a.parquet").read_bytes())
    error = refused(tmp_path)
    assert (error.kind, "joints-b" in str(error)) == (ErrorKind.METADATA_CONTRADICTION, True)


def test_a_picture_that_is_not_named_by_a_time_is_refused(tmp_path: Path) -> None:
    folder = write_take(tmp_path)
    (folder / "pictures/top/first.jpeg").write_bytes(b"x")
    error = refused(tmp_path)
    assert (error.kind, "first.jpeg" in str(error)) == (ErrorKind.UNREADABLE_FILE, True)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("values: [arm, hand]", "values: [arm, foot]"), "expected t and ['arm', 'foot']"),
        (("time: t, values: [arm, hand]", "time: clock"), "expected clock and one per dimension"),
        (("[t, x, y, unused]", "[t, x, y]"), "expected a table of numbers"),
        (("values: [arm, hand]", "time_unit: ns"), "'arm' is no dimension: got 2 values"),
    ],
)
def test_columns_that_are_not_as_stated_are_refused(
    tmp_path: Path, change: tuple[str, str], reason: str
) -> None:
    write_take(tmp_path)
    assert reason in str(refused(tmp_path, LAYOUT.replace(*change)))


@pytest.mark.parametrize(("unit", "factor"), [("us", 1_000), ("ms", 1_000_000)])
def test_whole_numbers_of_another_unit_become_nanoseconds(
    tmp_path: Path, unit: str, factor: int
) -> None:
    folder = write_take(tmp_path)
    ticks = [1_772_010_251_663 + row for row in range(ROWS)]
    (folder / "commands.csv").write_text("".join(f"{tick},1,2,3\n" for tick in ticks))
    layout = LAYOUT.replace("time: t, values: [y, x]", f"time: t, time_unit: {unit}")
    _, (recording,) = read(tmp_path, layout)
    got = signal(recording, "action").timestamp_ns.tolist()
    assert got == [tick * factor for tick in ticks]


def test_whole_numbers_that_leave_int64_as_nanoseconds_are_refused(tmp_path: Path) -> None:
    folder = write_take(tmp_path)
    (folder / "commands.csv").write_text(f"{START_NS},1,2,3\n")
    layout = LAYOUT.replace("time: t, values: [y, x]", "time: t, time_unit: ms")
    assert refused(tmp_path, layout).kind is ErrorKind.TIME_NOT_INCREASING


@pytest.mark.parametrize(
    ("kind", "values", "reason"),
    [
        (pa.float64(), [1.772e18, 1.773e18], "values of type float64"),
        (pa.float32(), [1.772e18, 1.773e18], "values of type float32"),
        (pa.uint64(), [1 << 63, (1 << 63) + 1], "beyond int64"),
        (pa.int64(), [1_772_010_251, 1_772_010_251], "does not increase at row 1"),
        (pa.timestamp("s"), [10**11, 10**11 + 1], "no int64"),
        (pa.timestamp("ns"), [5, None], "no time at row 1"),
    ],
)
def test_times_that_are_no_int64_nanoseconds_are_refused(
    tmp_path: Path, kind: pa.DataType, values: list[float | None], reason: str
) -> None:
    folder = write_take(tmp_path)
    table = pa.table({"t": pa.array(values, kind), "arm": [1.0, 2.0], "hand": [1.0, 2.0]})
    pq.write_table(table, folder / "joints-a.parquet")
    error = refused(tmp_path)
    assert (error.kind, reason in str(error)) == (ErrorKind.TIME_NOT_INCREASING, True)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_timestamps_of_any_unit_and_zone_are_exact(tmp_path: Path, unit: str) -> None:
    folder = write_take(tmp_path)
    per_unit = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}[unit]
    ticks = [START_NS // per_unit, START_NS // per_unit + 1]
    kind = pa.timestamp(unit, "Asia/Tokyo")
    table = pa.table({"t": pa.array(ticks, kind), "arm": [1.0, 2.0], "hand": [1.0, 2.0]})
    pq.write_table(table, folder / "joints-a.parquet")
    _, (recording,) = read(tmp_path)
    got = signal(recording, "observation_state").timestamp_ns.tolist()
    assert got == [tick * per_unit for tick in ticks]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("rawlog:\n  episodes: a/*", "'rawlog.signals'"),
        ("rawlog:\n  signals: {}", "'rawlog.signals'"),
        ("rawlog:\n  signals:\n    task: {path: x}", "are columns of `frames`"),
        ("rawlog:\n  signals:\n    A: {path: x}", "rawlog.signals.A"),
        ("rawlog:\n  signals:\n    a: {path: x, columns: [b]}", "columns lack ['timestamp_ns']"),
        ("rawlog:\n  signals:\n    a: {path: x, time_unit: s}", "time_unit"),
        ("rawlog:\n  signals:\n    a: {path: x}\n  camera: {}", "'rawlog.camera' is not known"),
    ],
)
def test_mistakes_in_the_layout_are_told(text: str, what: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        load_profile(text)
    assert what in str(caught.value)


def test_the_layout_is_part_of_what_is_stated() -> None:
    assert load_profile(LAYOUT).digest() != Profile().digest()
