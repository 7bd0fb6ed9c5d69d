"""Still pictures of every format are turned to RGB as the profile says, and no others."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from robot_data_platform.core.recording import (
    CameraStream,
    EpisodeRef,
    PictureSequence,
    Recording,
    VideoSegment,
)
from robot_data_platform.formats.channel_order import in_rgb
from robot_data_platform.formats.profile import Profile, load_profile
from robot_data_platform.formats.registry import detect_format, known_formats
from robot_data_platform.storage.source import LocalSource
from robot_data_platform_tests.formats import (
    hdf5_files,
    pickle_files,
    rawlog_files,
    rlds_files,
    robomimic_files,
)
from robot_data_platform_tests.formats.lerobot_files import (
    TOP,
    V2_DATA,
    Take,
    edit_info,
    edit_parquet,
    features,
    write_v2,
)

VIDEO_ONLY = {"droid"}
"""Formats that record no still pictures."""
STATED_IN_THE_DATA = {"mcap", "rosbag1", "rosbag2"}
"""Formats in which a raw picture says its own order."""


def red_and_blue() -> np.ndarray:
    """Return a picture, (48, 64, 3) RGB, that is red at the left and blue at the right."""
    picture = np.zeros((48, 64, 3), dtype=np.uint8)
    picture[:, :32, 0] = picture[:, 32:, 2] = 255
    return picture


def png() -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(red_and_blue()).save(buffer, "PNG")
    return buffer.getvalue()


def raw(num_pictures: int) -> np.ndarray:
    return np.stack([red_and_blue()] * num_pictures)


def _lerobot(root: Path) -> None:
    write_v2(root, (Take(index=0, num_rows=3),), cameras=())
    edit_info(root, features=features((TOP,), dtype="image"))
    rows = [{"bytes": png(), "path": None}] * 3
    edit_parquet(root / V2_DATA.format(episode_chunk=0, episode_index=0), **{TOP: rows})


def _aloha(root: Path) -> None:
    path = hdf5_files.write_episode(root / "episode_0.hdf5")
    hdf5_files.add_padded(path, "top", [png()] * hdf5_files.ROWS)


def _robomimic(root: Path) -> None:
    path = robomimic_files.write_file(root / "demos.hdf5", demos=(0,))
    robomimic_files.edit(path, "data/demo_0/obs/top", raw(robomimic_files.ROWS))


def _rawlog(root: Path) -> None:
    folder = rawlog_files.folder_of(rawlog_files.write_episode(root)) / "cameras" / "top"
    folder.mkdir()
    for time in rawlog_files.times(5).tolist():
        (folder / f"{time}.png").write_bytes(png())


def _rlds(root: Path) -> None:
    pictures = ([png()] * rlds_files.STEPS, "byte")
    record = rlds_files.record(changed={"steps/observation/image_0": pictures})
    rlds_files.write_dataset(root, [record])


def _arrays() -> dict[str, object]:
    return {**pickle_files.episode(), "observation/top": raw(pickle_files.ROWS)}


WRITERS: dict[str, Callable[[Path], object]] = {
    "lerobot": _lerobot,
    "aloha_hdf5": _aloha,
    "robomimic_hdf5": _robomimic,
    "rawlog": _rawlog,
    "rlds": _rlds,
    "npz": lambda root: pickle_files.write_npz(root / "episode_0.npz", _arrays()),
    "pickle": lambda root: pickle_files.write_pickle(root / "episode_0.pkl", _arrays()),
}
"""Writes a source whose only still camera shows red and blue throughout."""


def shown(root: Path, stated: str) -> np.ndarray:
    """Return the first still picture of a source."""
    source = LocalSource(root)
    profile = load_profile(f"control_hz: 50\nallow_pickle: true\n{stated}")
    reader = detect_format(source)
    (ref, *_) = reader.list_episodes(source, profile).episodes
    cameras = reader.read(source, ref, profile).cameras
    (still,) = (c.pictures for c in cameras if isinstance(c.pictures, PictureSequence))
    return next(iter(still.read()))


def test_every_format_is_known_to_have_an_order_or_not() -> None:
    assert known_formats().keys() == WRITERS.keys() | VIDEO_ONLY | STATED_IN_THE_DATA


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize(
    ("stated", "is_turned"),
    [
        ("", False),
        ("picture_channel_order: rgb", False),
        ("picture_channel_order: bgr", True),
        ("cameras: {%s: {channel_order: bgr}}", True),
        ("picture_channel_order: bgr\ncameras: {%s: {channel_order: rgb}}", False),
        ("cameras: {other: {channel_order: bgr}}", False),
    ],
    ids=["unstated", "rgb", "bgr", "bgr of the camera", "rgb of the camera", "bgr of another"],
)
def test_a_still_picture_is_turned_as_the_profile_says(
    name: str, stated: str, tmp_path: Path, *, is_turned: bool
) -> None:
    WRITERS[name](tmp_path)
    camera = "image_0" if name == "rlds" else "top"
    expected = red_and_blue()[:, :, ::-1] if is_turned else red_and_blue()
    np.testing.assert_array_equal(shown(tmp_path, stated.replace("%s", camera)), expected)


def recording(*cameras: CameraStream) -> Recording:
    return Recording(
        ref=EpisodeRef(source_key="e"), signals=(), cameras=cameras, task=None, robot=None
    )


def test_videos_and_depth_maps_are_left_alone() -> None:
    times = np.arange(1, dtype=np.int64)
    video = VideoSegment(path="a.mp4", first_frame=0, num_frames=1)
    depth = PictureSequence(num_frames=1, read=lambda: iter(()), is_depth=True)
    streams = [
        CameraStream(name=name, timestamp_ns=times, pictures=pictures)
        for name, pictures in (("video", video), ("depth", depth))
    ]
    found = in_rgb(recording(*streams), Profile(picture_channel_order="bgr"))
    assert [camera.pictures for camera in found.cameras] == [video, depth]
