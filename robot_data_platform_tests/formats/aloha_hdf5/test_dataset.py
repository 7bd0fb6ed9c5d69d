"""ALOHA HDF5 episodes are read row by row, and nothing is guessed for them."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import h5py
import numpy as np
import pytest

from robot_data_platform.core.finding import Severity
from robot_data_platform.core.recording import PictureSequence
from robot_data_platform.errors import DataFaultError, ErrorKind, InvalidInputError
from robot_data_platform.formats.aloha_hdf5 import AlohaHdf5Format
from robot_data_platform.formats.profile import Profile, load_profile
from robot_data_platform.storage.source import LocalSource
from robot_data_platform_tests.formats import hdf5_files
from robot_data_platform_tests.formats.hdf5_files import ROWS, jpeg, state, write_episode
from robot_data_platform_tests.formats.reading import (
    by_rule,
    camera,
    list_folder,
    read_episode,
    refusal,
    shown_codes,
    signal,
)

KEY = "episode_0.hdf5"
AT_50_HZ = Profile(control_hz=50.0)
IN_RGB = Profile(control_hz=50.0, picture_channel_order="rgb")
CODES = list(range(ROWS))
JPEGS = [jpeg(code) for code in CODES]


def test_values_and_times_come_at_the_stated_rate(tmp_path: Path) -> None:
    write_episode(tmp_path / KEY)
    recording = read_episode(tmp_path, KEY, AT_50_HZ)
    assert {s.name for s in recording.signals} == {
        "observation_state",
        "observation_qvel",
        "action",
    }
    np.testing.assert_array_equal(signal(recording, "observation_state").values, state())
    np.testing.assert_array_equal(signal(recording, "action").values, state() + 0.5)
    assert signal(recording, "action").timestamp_ns.tolist() == [k * 20_000_000 for k in CODES]
    assert signal(recording, "observation_qvel").values.dtype == np.float32


def test_raw_padded_and_varying_pictures_are_the_same_pictures(tmp_path: Path) -> None:
    path = write_episode(tmp_path / KEY)
    hdf5_files.add_raw(path, "high", CODES)
    hdf5_files.add_padded(path, "cam_left_wrist", JPEGS)
    hdf5_files.add_varying(path, "right", JPEGS)
    hdf5_files.add(path, "strings", np.array(JPEGS))
    recording = read_episode(tmp_path, KEY, IN_RGB)
    for name in ("high", "cam_left_wrist", "right", "strings"):
        assert shown_codes(camera(recording, name)) == CODES
    assert recording.findings == ()


def test_pictures_can_be_read_again_and_elsewhere(tmp_path: Path) -> None:
    import pickle

    hdf5_files.add_padded(write_episode(tmp_path / KEY), "high", JPEGS)
    stream = camera(read_episode(tmp_path, KEY, IN_RGB), "high")
    assert shown_codes(pickle.loads(pickle.dumps(stream))) == shown_codes(stream) == CODES


@pytest.mark.parametrize("layout", ["raw", "jpeg"])
@pytest.mark.parametrize(("order", "red"), [("bgr", 2), ("rgb", 0), (None, 0)])
def test_the_channel_order_is_the_profiles(
    tmp_path: Path, layout: str, order: Literal["rgb", "bgr"] | None, red: int
) -> None:
    import io

    from PIL import Image

    picture = np.zeros((16, 16, 3), dtype=np.uint8)
    picture[..., 0] = 255
    path = write_episode(tmp_path / KEY, num_rows=1)
    if layout == "raw":
        hdf5_files.add(path, "high", picture[None])
    else:
        buffer = io.BytesIO()
        Image.fromarray(picture).save(buffer, "JPEG", quality=95)
        hdf5_files.add_varying(path, "high", [buffer.getvalue()])
    profile = Profile(control_hz=50.0, picture_channel_order=order)
    recording = read_episode(tmp_path, KEY, profile)
    (read,) = camera(recording, "high").pictures.read()  # type: ignore[union-attr]
    assert int(read.mean(axis=(0, 1)).argmax()) == red
    assert ("channel_order_is_stated" in by_rule(recording.findings)) is (order is None)


def test_an_unstated_channel_order_is_told_without_a_doubt_on_the_episode(tmp_path: Path) -> None:
    hdf5_files.add_raw(write_episode(tmp_path / KEY), "high", CODES)
    finding = by_rule(read_episode(tmp_path, KEY, AT_50_HZ).findings)["channel_order_is_stated"]
    assert finding.severity is Severity.INFO


def test_a_row_that_is_no_jpeg_is_refused_with_its_number(tmp_path: Path) -> None:
    rows = [*JPEGS[:7], b"", *JPEGS[8:]]
    hdf5_files.add_padded(write_episode(tmp_path / KEY), "high", rows)
    stream = camera(read_episode(tmp_path, KEY, IN_RGB), "high")
    with pytest.raises(DataFaultError, match=r"'/observations/images/high' row 7") as caught:
        shown_codes(stream)
    assert caught.value.kind is ErrorKind.UNREADABLE_FILE


def test_a_truncated_jpeg_is_refused_with_its_number(tmp_path: Path) -> None:
    rows = [JPEGS[0], JPEGS[1][:200], *JPEGS[2:]]
    hdf5_files.add_varying(write_episode(tmp_path / KEY), "high", rows)
    stream = camera(read_episode(tmp_path, KEY, IN_RGB), "high")
    with pytest.raises(DataFaultError, match=r"row 1 .*damaged picture"):
        shown_codes(stream)


def test_episodes_are_numbered_by_their_names_in_natural_order(tmp_path: Path) -> None:
    for name in ("episode_10.hdf5", "episode_2.hdf5", "more/episode_3.h5"):
        write_episode(tmp_path / name)
    episodes = list_folder(tmp_path).episodes
    keys = [(ref.source_key, ref.source_episode_index) for ref in episodes]
    assert keys == [("episode_2.hdf5", 2), ("episode_10.hdf5", 10), ("more/episode_3.h5", 3)]
    assert episodes[0].files == ("episode_2.hdf5",)


def test_without_a_rate_nothing_is_guessed(tmp_path: Path) -> None:
    write_episode(tmp_path / KEY)
    with pytest.raises(InvalidInputError, match="State `control_hz` in the profile") as caught:
        read_episode(tmp_path, KEY)
    assert caught.value.kind is ErrorKind.INVALID_PROFILE


def test_an_fps_attribute_is_a_rate(tmp_path: Path) -> None:
    with h5py.File(write_episode(tmp_path / KEY), "a") as file:
        file.attrs["fps"] = 25
    times = signal(read_episode(tmp_path, KEY), "action").timestamp_ns
    assert times[1] == 40_000_000


def test_a_profile_wins_over_the_fps_attribute_and_that_is_told(tmp_path: Path) -> None:
    with h5py.File(write_episode(tmp_path / KEY), "a") as file:
        file.attrs["fps"] = 25
    recording = read_episode(tmp_path, KEY, AT_50_HZ)
    finding = by_rule(recording.findings)["rate_as_profile_states"]
    assert (finding.value, finding.threshold) == (25, 50)
    assert signal(recording, "action").timestamp_ns[1] == 20_000_000


@pytest.mark.parametrize("fps", [0, -5, np.nan, "fast", [1, 2]])
def test_an_impossible_fps_attribute_is_refused(tmp_path: Path, fps: object) -> None:
    with h5py.File(write_episode(tmp_path / KEY), "a") as file:
        file.attrs["fps"] = fps
    with pytest.raises(InvalidInputError, match="got attribute `fps` of"):
        read_episode(tmp_path, KEY)


def test_cameras_that_an_episode_lacks_are_left_out_and_told_where_the_profile_names_them(
    tmp_path: Path,
) -> None:
    hdf5_files.add_raw(write_episode(tmp_path / KEY), "high", CODES)
    profile = load_profile("control_hz: 50\ncameras: {high: {}, low: {fps: 50}}")
    recording = read_episode(tmp_path, KEY, profile)
    assert [c.name for c in recording.cameras] == ["high"]
    finding = by_rule(recording.findings)["cameras_as_profile_states"]
    assert (finding.where, finding.severity) == ("camera=low", Severity.WARN)


def test_fewer_pictures_than_rows_are_refused_with_both_numbers(tmp_path: Path) -> None:
    hdf5_files.add_raw(write_episode(tmp_path / KEY), "high", CODES[:-2])
    error = refusal(tmp_path, KEY, AT_50_HZ)
    assert error.kind is ErrorKind.VIDEO_TOO_SHORT
    assert "got 10, expected 12" in str(error)


def test_more_pictures_than_rows_are_left_out_and_counted(tmp_path: Path) -> None:
    hdf5_files.add_raw(write_episode(tmp_path / KEY), "high", [*CODES, 77, 78])
    recording = read_episode(tmp_path, KEY, IN_RGB)
    assert shown_codes(camera(recording, "high")) == CODES
    assert "2 pictures" in by_rule(recording.findings)["video_frames_are_referenced"].message


def test_datasets_of_different_lengths_are_refused_by_name(tmp_path: Path) -> None:
    path = write_episode(tmp_path / KEY)
    with h5py.File(path, "a") as file:
        del file["action"]
        file["action"] = state(9)
    error = refusal(tmp_path, KEY, AT_50_HZ)
    assert error.kind is ErrorKind.ROW_MISMATCH
    assert "'/action' has another length than the episode: got 9 rows" in str(error)


def test_depth_of_16_bits_is_a_camera_and_other_depth_is_left_out_and_told(
    tmp_path: Path,
) -> None:
    path = write_episode(tmp_path / KEY)
    hdf5_files.add(path, "depth", np.full((ROWS, 8, 8), 40_000, np.uint16))
    hdf5_files.add(path, "metres", np.zeros((ROWS, 8, 8), np.float32))
    recording = read_episode(tmp_path, KEY, AT_50_HZ)
    pictures = camera(recording, "depth").pictures
    assert isinstance(pictures, PictureSequence)
    assert pictures.is_depth
    assert {int(value) for depth in pictures.read() for value in depth.flat} == {40_000}
    finding = by_rule(recording.findings)["cameras_are_read"]
    assert (finding.where, "float32" in finding.message) == ("camera=metres", True)


def test_an_episode_without_rows_is_refused(tmp_path: Path) -> None:
    write_episode(tmp_path / KEY, num_rows=0)
    assert refusal(tmp_path, KEY, AT_50_HZ).kind is ErrorKind.NO_ROWS


def test_a_truncated_file_is_refused_by_name_and_the_others_are_read(tmp_path: Path) -> None:
    broken = write_episode(tmp_path / KEY)
    broken.write_bytes(broken.read_bytes()[: broken.stat().st_size // 2])
    write_episode(tmp_path / "episode_1.hdf5")
    error = refusal(tmp_path, KEY, AT_50_HZ)
    assert (error.kind, error.facts["path"]) == (ErrorKind.UNREADABLE_FILE, KEY)
    assert len(read_episode(tmp_path, "episode_1.hdf5", AT_50_HZ).signals) == 3


def test_a_file_of_another_layout_among_the_episodes_is_refused(tmp_path: Path) -> None:
    write_episode(tmp_path / KEY)
    with h5py.File(tmp_path / "other.hdf5", "w") as file:
        file["frames/actions"] = state()
    assert "expected numbers in /observations/qpos" in str(
        refusal(tmp_path, "other.hdf5", AT_50_HZ)
    )


def test_links_to_other_files_are_refused(tmp_path: Path) -> None:
    outside = write_episode(tmp_path / "outside.hdf5")
    with h5py.File(write_episode(tmp_path / "in" / KEY), "a") as file:
        del file["action"]
        file["action"] = h5py.ExternalLink(str(outside), "action")
    error = refusal(tmp_path / "in", KEY, AT_50_HZ)
    assert error.kind is ErrorKind.UNSAFE_PATH


def test_datasets_stored_in_other_files_are_refused(tmp_path: Path) -> None:
    secret = tmp_path / "secret.bin"
    secret.write_bytes(bytes(ROWS * 8))
    with h5py.File(write_episode(tmp_path / "in" / KEY), "a") as file:
        del file["action"]
        file.create_dataset("action", (ROWS,), "f8", external=[(str(secret), 0, ROWS * 8)])
    assert refusal(tmp_path / "in", KEY, AT_50_HZ).kind is ErrorKind.UNSAFE_PATH


def test_absurd_sizes_are_refused_before_memory_is_taken(tmp_path: Path) -> None:
    with h5py.File(write_episode(tmp_path / KEY), "a") as file:
        file.create_dataset("observations/force", (ROWS, 10**12), "f8", chunks=(1, 1024))
    error = refusal(tmp_path, KEY, AT_50_HZ)
    assert "absurd size" in str(error)


def test_text_attributes_are_metadata_and_name_the_task(tmp_path: Path) -> None:
    with h5py.File(write_episode(tmp_path / KEY), "a") as file:
        file.attrs["task"] = "insert the peg"
        file.attrs["sim"] = True
    recording = read_episode(tmp_path, KEY, AT_50_HZ)
    assert (recording.task, recording.metadata["sim"]) == ("insert the peg", "True")


def test_a_damaged_first_file_does_not_hide_the_format(tmp_path: Path) -> None:
    (tmp_path / "episode_0.hdf5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(50))
    write_episode(tmp_path / "episode_1.hdf5")
    assert AlohaHdf5Format().sniff(LocalSource(tmp_path))
