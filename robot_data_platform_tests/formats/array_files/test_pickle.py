"""Pickles of plain arrays: read with permission, whatever protocol wrote them."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from robot_data_platform.core.finding import Severity
from robot_data_platform.errors import DataFaultError, ErrorKind, InvalidInputError
from robot_data_platform.formats.profile import Profile, find_profile
from robot_data_platform.formats.registry import detect_format
from robot_data_platform.storage.source import LocalSource
from robot_data_platform_tests.formats.pickle_files import (
    PROTOCOLS,
    ROWS,
    Episode,
    episode,
    pictures,
    state,
    write_demos,
    write_pickle,
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

PROFILE = Profile(control_hz=10.0, allow_pickle=True)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_list_of_demonstrations_is_read_as_it_was_written(tmp_path: Path, protocol: int) -> None:
    write_demos(tmp_path, protocol)
    assert detect_format(LocalSource(tmp_path)).name == "pickle"
    keys = [ref.source_key for ref in list_folder(tmp_path, PROFILE).episodes]
    assert keys == [f"demos.pkl:{number}" for number in range(3)]
    recording = read_episode(tmp_path, keys[2], PROFILE)
    observed = signal(recording, "observation_state")
    np.testing.assert_array_equal(observed.values, state(start=20.0))
    assert observed.timestamp_ns.tolist() == [k * 100_000_000 for k in range(ROWS)]
    action = signal(recording, "action").values
    np.testing.assert_array_equal(action, -state(start=20.0))
    assert action.dtype == np.float32
    assert observed.values.dtype == np.float64
    np.testing.assert_array_equal(signal(recording, "rewards").values[:, 0], np.arange(ROWS) * 0.1)
    assert shown_codes(camera(recording, "cam")) == list(range(ROWS))


def test_without_permission_a_pickle_is_refused_with_the_reason(tmp_path: Path) -> None:
    write_demos(tmp_path)
    with pytest.raises(InvalidInputError, match="expected `--allow-pickle`") as caught:
        list_folder(tmp_path, Profile(control_hz=10.0))
    assert (caught.value.kind, caught.value.facts["key"]) == (
        ErrorKind.INVALID_PROFILE,
        "allow_pickle",
    )


def test_a_source_cannot_permit_its_own_pickles(tmp_path: Path) -> None:
    write_demos(tmp_path)
    (tmp_path / "profile.yaml").write_text("allow_pickle: true\n")
    with pytest.raises(InvalidInputError, match="can't permit its own pickles"):
        find_profile(LocalSource(tmp_path))
    assert find_profile(LocalSource(tmp_path), PROFILE) is PROFILE


def test_a_dict_is_one_episode_and_its_number_is_in_the_name(tmp_path: Path) -> None:
    for number in (2, 10):
        write_pickle(tmp_path / f"demo_{number}.pkl", episode(start=number))
    refs = list_folder(tmp_path, PROFILE).episodes
    assert [(r.source_key, r.source_episode_index) for r in refs] == [
        ("demo_2.pkl", 2),
        ("demo_10.pkl", 10),
    ]
    recording = read_episode(tmp_path, "demo_10.pkl", PROFILE)
    assert signal(recording, "observation_state").values[0, 0] == 10.0


def test_what_is_no_row_becomes_metadata_or_is_told(tmp_path: Path) -> None:
    item = episode() | {"task": "open the door", "seed": 7, "info": [{"a": 1}], "good": np.True_}
    write_pickle(tmp_path / "demo.pkl", item)
    recording = read_episode(tmp_path, "demo.pkl", PROFILE)
    assert recording.task == "open the door"
    assert recording.metadata["init_state_dict/qpos"] == "[1.5, 2.5]"
    assert (recording.metadata["seed"], recording.metadata["good"]) == ("7", "true")
    told = {f.where: f for f in recording.findings if f.rule == "columns_are_read"}
    assert sorted(told) == ["info", "init_state_dict/door"]
    assert told["info"].severity is Severity.INFO


def test_nested_observations_keep_their_names_and_lists_become_rows(tmp_path: Path) -> None:
    rows = state()
    item = {
        "obs": {"qpos": [row.astype(np.float32) for row in rows], "rgb": pictures(range(ROWS))},
        "action": rows,
        "reward": [float(k) for k in range(ROWS)],
        "done": [k == ROWS - 1 for k in range(ROWS)],
    }
    write_pickle(tmp_path / "demo.pkl", item)
    recording = read_episode(tmp_path, "demo.pkl", PROFILE)
    np.testing.assert_array_equal(signal(recording, "observation_qpos").values, rows)
    assert signal(recording, "reward").values[:, 0].tolist() == list(range(ROWS))
    assert signal(recording, "done").values[-1].tolist() == [1.0]
    assert shown_codes(camera(recording, "rgb")) == list(range(ROWS))


def test_an_observation_after_the_last_action_keeps_its_row(tmp_path: Path) -> None:
    item = {"observations": state(ROWS + 1), "actions": state(ROWS)}
    write_pickle(tmp_path / "demo.pkl", item)
    recording = read_episode(tmp_path, "demo.pkl", PROFILE)
    lengths = {s.name: len(s.timestamp_ns) for s in recording.signals}
    assert lengths == {"observation_state": ROWS + 1, "action": ROWS}


def test_arrays_in_fortran_order_big_endian_or_of_python_2_are_read(tmp_path: Path) -> None:
    rows = state()
    two = b"\x80\x02cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R"
    two += b"(K\x01K\x06K\x02\x86cnumpy\ndtype\nU\x02f8K\x00K\x01\x87R(K\x03U\x01<NNNJ\xff\xff\xff"
    two += b"\xffJ\xff\xff\xff\xffK\x00tb\x89U" + bytes([rows.nbytes]) + rows.tobytes() + b"tb"
    (tmp_path / "old.pkl").write_bytes(b"\x80\x02}U\x07actions" + two[2:] + b"s.")
    item = {"actions": np.asfortranarray(rows), "observations": rows.astype(">f4")}
    write_pickle(tmp_path / "demo.pkl", item, 2)
    old = signal(read_episode(tmp_path, "old.pkl", PROFILE), "action")
    recording = read_episode(tmp_path, "demo.pkl", PROFILE)
    for values in (
        old.values,
        signal(recording, "action").values,
        signal(recording, "observation_state").values,
    ):
        np.testing.assert_array_equal(values, rows)


def test_a_blank_camera_is_told_and_an_unstated_channel_order_too(tmp_path: Path) -> None:
    dark = np.zeros((ROWS, 48, 64, 3), np.uint8)
    item = episode() | {"dark": dark, "lit": pictures(range(ROWS))}
    write_pickle(tmp_path / "demo.pkl", item)
    findings = by_rule(read_episode(tmp_path, "demo.pkl", PROFILE).findings)
    assert findings["camera_shows_something"].where == "camera=dark"
    assert "dark, lit" in findings["channel_order_is_stated"].message
    turned = PROFILE.model_copy(update={"picture_channel_order": "bgr"})
    recording = read_episode(tmp_path, "demo.pkl", turned)
    assert "channel_order_is_stated" not in by_rule(recording.findings)


@pytest.mark.parametrize("num_rows", [0, 1, 2, 50])
def test_episodes_of_any_length(tmp_path: Path, num_rows: int) -> None:
    write_pickle(tmp_path / "demo.pkl", {"actions": state(num_rows)})
    if not num_rows:
        assert refusal(tmp_path, "demo.pkl", PROFILE).kind is ErrorKind.NO_ROWS
        return
    recording = read_episode(tmp_path, "demo.pkl", PROFILE)
    assert len(signal(recording, "action").values) == num_rows
    assert ("episode_has_several_rows" in by_rule(recording.findings)) == (num_rows == 1)


def test_two_values_of_one_name_are_refused(tmp_path: Path) -> None:
    write_pickle(tmp_path / "demo.pkl", {"actions": state(), "a/b": 1, "a": {"b": 2}})
    error = refusal(tmp_path, "demo.pkl", PROFILE)
    assert (error.kind, "'a/b' twice" in str(error)) == (ErrorKind.METADATA_CONTRADICTION, True)


@pytest.mark.parametrize(
    ("value", "kind", "reason"),
    [
        ([], ErrorKind.UNREADABLE_FILE, "holds no episodes"),
        ([1, 2], ErrorKind.UNREADABLE_FILE, "got list of 2 ['int']"),
        ("text", ErrorKind.UNREADABLE_FILE, "holds no episodes"),
        ({"x": 1}, ErrorKind.NO_ROWS, "['x']"),
        ({1: state()}, ErrorKind.UNREADABLE_FILE, "a dict with a key that is no text"),
        ({"actions": {1, 2}}, ErrorKind.UNREADABLE_FILE, "EMPTY_SET"),
    ],
)
def test_a_pickle_of_something_else_is_refused(
    tmp_path: Path, value: object, kind: ErrorKind, reason: str
) -> None:
    write_pickle(tmp_path / "demo.pkl", value)
    error = refusal(tmp_path, "demo.pkl", PROFILE)
    assert (error.kind, reason in str(error)) == (kind, True)


def test_a_broken_pickle_costs_only_itself(tmp_path: Path) -> None:
    write_pickle(tmp_path / "a.pkl", episode())
    (tmp_path / "b.pkl").write_bytes((tmp_path / "a.pkl").read_bytes()[:-40])
    (tmp_path / "c.pkl").write_bytes(b"")
    (tmp_path / "d.pkl").write_bytes(b"version https://git-lfs.github.com/spec/v1\nsize 9\n")
    assert len(list_folder(tmp_path, PROFILE).episodes) == 4
    assert read_episode(tmp_path, "a.pkl", PROFILE).ref.source_key == "a.pkl"
    assert refusal(tmp_path, "b.pkl", PROFILE).kind is ErrorKind.UNREADABLE_FILE
    assert "got 0 bytes" in str(refusal(tmp_path, "c.pkl", PROFILE))
    assert "LFS pointer" in str(refusal(tmp_path, "d.pkl", PROFILE))


def test_a_larger_pickle_than_fits_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("robot_data_platform.formats.array_files.unpickler.MAX_PICKLE_BYTES", 1000)
    write_demos(tmp_path)
    error = refusal(tmp_path, "demos.pkl", PROFILE)
    assert (error.kind, "Write one file per episode" in str(error)) == (
        ErrorKind.SHAPE_MISMATCH,
        True,
    )


EPOCH_NS = 1_772_010_251_663_250_683
"""A time after 1970 that neither float holds."""
TIMES_NS = EPOCH_NS + np.arange(ROWS, dtype=np.int64) * 33_333_333


@pytest.mark.parametrize("kind", [np.int64, np.uint64])
def test_recorded_nanoseconds_are_the_clock_and_none_is_changed(
    tmp_path: Path, kind: type[np.signedinteger]
) -> None:
    item: Episode = episode() | {"timestamp_ns": TIMES_NS.astype(kind)}
    write_pickle(tmp_path / "demo.pkl", item)
    recording = read_episode(tmp_path, "demo.pkl", Profile(allow_pickle=True))
    assert signal(recording, "action").timestamp_ns.tolist() == TIMES_NS.tolist()
    assert recording.metadata["clock"] == "timestamp_ns"


@pytest.mark.parametrize(
    ("times", "reason"),
    [
        (TIMES_NS.astype(np.float64), "values of type float64"),
        (TIMES_NS.astype(np.float32), "values of type float32"),
        (TIMES_NS // 10**9 * 10**9, "does not increase at row 1"),
        (TIMES_NS.astype(np.uint64) + np.uint64(1 << 63), "beyond int64"),
    ],
)
def test_times_that_are_no_nanoseconds_are_refused(
    tmp_path: Path, times: np.ndarray, reason: str
) -> None:
    write_pickle(tmp_path / "demo.pkl", episode() | {"timestamp_ns": times})
    error = refusal(tmp_path, "demo.pkl", PROFILE)
    assert (error.kind, reason in str(error)) == (ErrorKind.TIME_NOT_INCREASING, True)


def test_as_many_times_as_rows_are_expected(tmp_path: Path) -> None:
    write_pickle(tmp_path / "demo.pkl", episode() | {"timestamp_ns": TIMES_NS[:-1]})
    assert refusal(tmp_path, "demo.pkl", PROFILE).kind is ErrorKind.ROW_MISMATCH


def test_a_pickle_among_files_of_another_layout_makes_no_pickle_source(tmp_path: Path) -> None:
    write_pickle(tmp_path / "cache.pkl", episode())
    (tmp_path / "video.mp4").write_bytes(b"x")
    with pytest.raises(DataFaultError, match="is in no known format"):
        detect_format(LocalSource(tmp_path))


def test_pickle_itself_agrees_with_what_is_read(tmp_path: Path) -> None:
    write_demos(tmp_path, 4)
    for number, demo in enumerate(pickle.loads((tmp_path / "demos.pkl").read_bytes())):
        recording = read_episode(tmp_path, f"demos.pkl:{number}", PROFILE)
        np.testing.assert_array_equal(signal(recording, "action").values, demo["actions"])
