"""Npz archives: plain arrays without permission, Python values with it, and no bombs."""

from __future__ import annotations

import io
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

from robot_data_platform.core.recording import PictureSequence
from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.formats.profile import Profile
from robot_data_platform.formats.registry import detect_format
from robot_data_platform.storage.source import LocalSource
from robot_data_platform_tests.depth_maps import depth_maps
from robot_data_platform_tests.formats.array_files.test_hostile_pickles import Command
from robot_data_platform_tests.formats.pickle_files import (
    ROWS,
    Episode,
    pictures,
    state,
    write_npz,
)
from robot_data_platform_tests.formats.reading import (
    by_rule,
    camera,
    list_folder,
    read_episode,
    refusal,
    shown_codes,
    shown_depth,
    signal,
)

PROFILE = Profile(control_hz=10.0)
ALLOWED = Profile(control_hz=10.0, allow_pickle=True)
MAX_MIB = 64


def plain(start: float = 0.0) -> Episode:
    return {
        "action": state(start=start),
        "observation/state": state(start=start).astype(np.float32),
        "observation/cam": pictures(range(ROWS)),
        "task": np.array("open the door"),
        "intrinsics": np.eye(3),
    }


@pytest.mark.parametrize("compressed", [False, True])
def test_plain_arrays_are_read_without_permission(tmp_path: Path, *, compressed: bool) -> None:
    for number in (2, 10):
        write_npz(tmp_path / f"ep_{number}.npz", plain(number), compressed=compressed)
    assert detect_format(LocalSource(tmp_path)).name == "npz"
    refs = list_folder(tmp_path, PROFILE).episodes
    assert [ref.source_episode_index for ref in refs] == [2, 10]
    recording = read_episode(tmp_path, "ep_10.npz", PROFILE)
    np.testing.assert_array_equal(signal(recording, "action").values, state(start=10.0))
    assert signal(recording, "observation_state").values.dtype == np.float32
    assert shown_codes(camera(recording, "cam")) == list(range(ROWS))
    assert recording.task == "open the door"
    assert recording.metadata["intrinsics"].startswith("[[1.0, 0.0")


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("dtype", ["<u2", ">u2"])
def test_depth_maps_come_back_bit_for_bit(tmp_path: Path, dtype: str, *, compressed: bool) -> None:
    maps = np.stack(depth_maps(ROWS)).astype(dtype)
    values: Episode = {"action": state(), "obs/tof": maps, "obs/stereo": maps[..., None]}
    write_npz(tmp_path / "ep.npz", values, compressed=compressed)
    recording = read_episode(tmp_path, "ep.npz", PROFILE)
    for name in ("tof", "stereo"):
        np.testing.assert_array_equal(shown_depth(camera(recording, name)), depth_maps(ROWS))
    assert "channel_order_is_stated" not in {finding.rule for finding in recording.findings}


def test_arrays_in_fortran_order_are_read(tmp_path: Path) -> None:
    values = {"action": np.asfortranarray(state()), "cam": np.asfortranarray(pictures([3, 4, 5]))}
    write_npz(tmp_path / "ep.npz", values | {"action": np.asfortranarray(state(3))})
    recording = read_episode(tmp_path, "ep.npz", PROFILE)
    np.testing.assert_array_equal(signal(recording, "action").values, state(3))
    assert shown_codes(camera(recording, "cam")) == [3, 4, 5]


@pytest.mark.parametrize(
    "values",
    [
        {"action": np.array([[1.0], [2.0]], dtype=object)},
        {"episode": np.array({"action": state()}, dtype=object)},
    ],
)
def test_python_values_need_permission(tmp_path: Path, values: Episode) -> None:
    write_npz(tmp_path / "ep.npz", values)
    with pytest.raises(InvalidInputError, match="expected `--allow-pickle`"):
        list_folder(tmp_path, PROFILE)


def test_a_dict_in_an_array_is_an_episode(tmp_path: Path) -> None:
    write_npz(tmp_path / "ep.npz", {"episode": np.array({"action": state()}, dtype=object)})
    values = signal(read_episode(tmp_path, "ep.npz", ALLOWED), "action").values
    np.testing.assert_array_equal(values, state())


def test_an_array_of_dicts_has_an_episode_in_each(tmp_path: Path) -> None:
    demos = np.array([{"action": state(start=k)} for k in range(3)], dtype=object)
    write_npz(tmp_path / "ep.npz", {"demos": demos})
    assert len(list_folder(tmp_path, ALLOWED).episodes) == 3
    values = signal(read_episode(tmp_path, "ep.npz:2", ALLOWED), "action").values
    np.testing.assert_array_equal(values, state(start=2.0))


def test_python_values_beside_plain_arrays_are_read(tmp_path: Path) -> None:
    facts = np.array({"seed": 7}, dtype=object)
    write_npz(tmp_path / "ep.npz", {"action": state(), "facts": facts})
    recording = read_episode(tmp_path, "ep.npz", ALLOWED)
    assert recording.metadata["facts/seed"] == "7"


def test_a_command_in_an_array_does_not_run(tmp_path: Path) -> None:
    trace = tmp_path / "ran"
    command = np.array([Command(f"touch {trace}")], dtype=object)
    write_npz(tmp_path / "data" / "ep.npz", {"action": state(), "infos": command})
    error = refusal(tmp_path / "data", "ep.npz", ALLOWED)
    assert (error.kind, "posix.system" in str(error)) == (ErrorKind.UNREADABLE_FILE, True)
    assert not trace.exists()


def header(shape: str, descr: str = "<f8") -> bytes:
    """Return an npy header that claims a shape."""
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    padded = text.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded.encode()


def write_members(path: Path, members: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("shape", "kind"),
    [
        ("(1000000000000,)", ErrorKind.SHAPE_MISMATCH),
        ("(100000000, 2)", ErrorKind.SHAPE_MISMATCH),
        ("(100000000, 0)", ErrorKind.NO_ROWS),
        ("(6, 2)", ErrorKind.SHAPE_MISMATCH),  # more than there is
        ("(-6, 2)", ErrorKind.UNREADABLE_FILE),
        ("(6.0, 2)", ErrorKind.UNREADABLE_FILE),
        ("(99999999999999999999,)", ErrorKind.UNREADABLE_FILE),
        ("__import__('os')", ErrorKind.UNREADABLE_FILE),
        ("(" * 50, ErrorKind.UNREADABLE_FILE),
    ],
)
def test_an_array_that_is_not_what_it_claims_takes_no_memory(
    tmp_path: Path, shape: str, kind: ErrorKind
) -> None:
    write_members(tmp_path / "ep.npz", {"action.npy": header(shape) + b"\0" * 40})
    tracemalloc.start()
    error = refusal(tmp_path, "ep.npz", PROFILE)
    assert tracemalloc.get_traced_memory()[1] < MAX_MIB << 20
    tracemalloc.stop()
    assert error.kind is kind


def test_pictures_that_unpack_to_much_more_are_read_one_at_a_time(tmp_path: Path) -> None:
    rows = 120
    dark = np.zeros((1, 480, 640, 3), np.uint8)
    with zipfile.ZipFile(tmp_path / "ep.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("action.npy", npy(state(rows)))
        with archive.open("cam.npy", "w") as member:
            member.write(header(f"({rows}, 480, 640, 3)", "|u1"))
            for _ in range(rows):
                member.write(dark.tobytes())
    tracemalloc.start()
    recording = read_episode(tmp_path, "ep.npz", PROFILE)
    pictures = camera(recording, "cam").pictures
    assert isinstance(pictures, PictureSequence)
    assert sum(1 for _ in pictures.read()) == rows
    assert tracemalloc.get_traced_memory()[1] < MAX_MIB << 20
    tracemalloc.stop()
    assert by_rule(recording.findings)["camera_shows_something"].value == rows


def test_a_picture_of_absurd_size_is_refused(tmp_path: Path) -> None:
    members = {
        "action.npy": npy(state(3)),
        "cam.npy": header("(3, 1000000, 1000000, 3)", "|u1") + b"\0" * 40,
    }
    write_members(tmp_path / "ep.npz", members)
    assert refusal(tmp_path, "ep.npz", PROFILE).kind is ErrorKind.SHAPE_MISMATCH


def test_a_python_value_that_unpacks_to_much_more_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = "robot_data_platform.formats.array_files.npz_files.MAX_PICKLE_BYTES"
    monkeypatch.setattr(limit, 1 << 20)
    huge = header("(1,)", "|O") + b"\0" * (2 << 20)
    write_members(tmp_path / "ep.npz", {"action.npy": huge})
    error = refusal(tmp_path, "ep.npz", ALLOWED)
    assert (error.kind, "a larger pickle" in str(error)) == (ErrorKind.SHAPE_MISMATCH, True)


def test_one_name_twice_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "ep.npz", "w") as archive:
        archive.writestr("action.npy", npy(state()))
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("action.npy", npy(state()))
    assert "expected each name once" in str(refusal(tmp_path, "ep.npz", PROFILE))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "got 0 bytes"),
        (b"version https://git-lfs.github.com/spec/v1\nsize 9\n", "LFS pointer"),
        (b"PK\x03\x04" + b"\0" * 100, "BadZipFile"),
    ],
)
def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "ep.npz").write_bytes(content)
    assert reason in str(refusal(tmp_path, "ep.npz", PROFILE))


def test_structured_and_complex_arrays_are_left_out_and_told(tmp_path: Path) -> None:
    values: Episode = {
        "action": state(),
        "pairs": np.zeros(ROWS, dtype=[("a", "f4"), ("b", "i4")]),
        "waves": np.zeros(ROWS, dtype=np.complex64),
    }
    write_npz(tmp_path / "ep.npz", values)
    recording = read_episode(tmp_path, "ep.npz", PROFILE)
    told = {f.where for f in recording.findings if f.rule == "columns_are_read"}
    assert told == {"pairs", "waves"}


def test_a_file_of_one_step_is_refused_for_its_rows(tmp_path: Path) -> None:
    write_npz(tmp_path / "step.npz", {"robot_obs": np.zeros(15), "scene": np.zeros(24)})
    assert refusal(tmp_path, "step.npz", PROFILE).kind is ErrorKind.NO_ROWS
