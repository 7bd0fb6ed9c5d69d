"""Masks that a dataset records as a camera of its own, and models of installed packages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robot_data_platform.compute.mask_input import with_recorded_masks
from robot_data_platform.compute.spatial_input import StatedFacts
from robot_data_platform.core.recording import Picture
from robot_data_platform.formats.profile import load_profile
from robot_data_platform.quality.stored_episode import StoredEpisode, read_episode
from robot_data_platform.spatial.episode_input import CameraInput
from robot_data_platform.spatial.frame_plan import FramePlan
from robot_data_platform.storage.snapshot import open_snapshot
from robot_data_platform.storage.table import LakeTable
from robot_data_platform.testing.rawlog import RawlogShape, write_rawlog
from robot_data_platform_tests.compute.uploads import IN_PROCESS, RUN, STEPS, workplace
from robot_data_platform_tests.video.videos import write_video

SHAPE = RawlogShape(num_episodes=1, num_rows=24, cameras=("env", "env_mask"))
FRAMES = np.array([1, 4, 9])
NONE = np.zeros(0, np.int64)
Stored = tuple[LakeTable, StoredEpisode]


def white_up_to(frame: int) -> Picture:
    """Return a mask whose first columns are white, two more in each frame."""
    picture = np.zeros((SHAPE.height_px, SHAPE.width_px, 3), dtype=np.uint8)
    picture[:, : 8 + 2 * frame] = 255
    return picture


def film(path: Path, num_frames: int, draw: Callable[[int], Picture]) -> Path:
    shown = white_up_to if path.stem == "env_mask" else draw
    return write_video(path, num_frames, options={"crf": "8"}, picture=shown)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    folder = tmp_path_factory.mktemp("masks")
    place = workplace(folder)
    write_rawlog(folder / "source", SHAPE, film)
    place.landing.put(folder / "source", "masked", "u1")
    for name in ("raw_episodes", "gop_video", "frames", "episodes"):
        STEPS[name](place, "u1", IN_PROCESS, RUN)
    snapshot = open_snapshot(place.lake, "masked")
    return snapshot.gops, read_episode(snapshot, 0)


def camera(
    episode: StoredEpisode, late_ns: int = 0, height_px: int = SHAPE.height_px
) -> CameraInput:
    stream = episode.stream("env")
    assert stream is not None
    return CameraInput(
        name="env",
        frame_ns=stream.pts_ns + late_ns,
        width_px=SHAPE.width_px,
        height_px=height_px,
        plan=FramePlan(single=FRAMES, pair_first=NONE, pair_second=NONE, motion=range(0)),
        pictures=np.zeros((len(FRAMES), height_px, SHAPE.width_px, 3), np.uint8),
        motion_greys=np.zeros((0, 1, 1), np.uint8),
    )


def test_each_picture_has_the_mask_of_its_time(stored: Stored) -> None:
    gops, episode = stored
    masked, doubts = with_recorded_masks(gops, episode, camera(episode), "env_mask")
    assert doubts == []
    assert masked.masks is not None
    assert masked.masks.sum(axis=2)[:, 10].tolist() == [8 + 2 * frame for frame in FRAMES]


@pytest.mark.parametrize(
    ("late_ns", "height_px", "mask_camera", "reason"),
    [
        (0, SHAPE.height_px, "elsewhere", "is not in the data"),
        (0, 24, "env_mask", "have the shape"),
        (10**9, SHAPE.height_px, "env_mask", "no mask at the time"),
    ],
)
def test_masks_that_do_not_fit_are_not_taken_and_the_reason_is_told(
    stored: Stored, late_ns: int, height_px: int, mask_camera: str, reason: str
) -> None:
    gops, episode = stored
    given = camera(episode, late_ns, height_px)
    masked, (doubt,) = with_recorded_masks(gops, episode, given, mask_camera)
    assert masked.masks is None
    assert doubt.message.startswith("Not measured: ")
    assert reason in doubt.message


def test_without_a_statement_no_camera_is_taken_for_masks(stored: Stored) -> None:
    gops, episode = stored
    masked, doubts = with_recorded_masks(gops, episode, camera(episode), None)
    assert (masked.masks, doubts) == (None, [])


def test_a_camera_of_masks_is_not_checked_as_one_of_the_room(stored: Stored) -> None:
    profile = load_profile("cameras: {front: {rename: env, mask_camera: env_mask}}")
    stated = StatedFacts.of(profile, "panda", None, ())
    assert stated.mask_cameras == {"env": "env_mask"}
    assert stated.pictured(stored[1]) == {"env"}
    assert replace(stated, mask_cameras={}).pictured(stored[1]) == {"env", "env_mask"}
