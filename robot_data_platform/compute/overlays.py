"""Overlays on demand: one picture of an episode with the robot as its calibration projects it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from robot_data_platform.compute.calibrations import accepted_calibrations, accepted_for, proposals
from robot_data_platform.compute.spatial_input import StatedFacts, spatial_input
from robot_data_platform.errors import ErrorKind, InvalidInputError, NotFoundError
from robot_data_platform.formats.profile import Profile
from robot_data_platform.quality.stored_episode import read_episode
from robot_data_platform.spatial.overlay import overlays
from robot_data_platform.spatial.reading import CameraReading
from robot_data_platform.storage.predicate import equals
from robot_data_platform.storage.snapshot import open_snapshot

if TYPE_CHECKING:
    from robot_data_platform.core.recording import Picture
    from robot_data_platform.quality.stored_episode import StoredEpisode, StoredStream
    from robot_data_platform.storage.lake import Lake


def overlay_picture(lake: Lake, dataset: str, episode_index: int, row: int, camera: str) -> Picture:
    """Return the picture that a row points at, with the projected robot drawn in, (h, w, 3).

    As declared red, or as accepted where something was; as proposed green. The picture is at the
    size that is measured.

    Raises
    ------
    NotFoundError
        ``episode-not-found``; ``camera-not-found``: the episode has no such camera.
    InvalidInputError
        ``invalid-argument``: the robot can't be projected, or the row has no picture; the message
        says why. ``not-installed``: the extra ``spatial`` is not.
    """
    snapshot = open_snapshot(lake, dataset)
    stored = read_episode(snapshot, episode_index)
    stream = stored.stream(camera)
    if stream is None:
        raise NotFoundError(
            f"Dataset {dataset!r} episode {episode_index} has no camera {camera!r}: it has "
            f"{[s.camera for s in stored.streams]}.",
            kind=ErrorKind.CAMERA_NOT_FOUND,
            camera=camera,
        )
    frame = _frame_of(stored, stream, row)
    stated = _stated(lake, dataset, episode_index)
    alone = replace(stored, streams=(stream,))
    episode, doubts = spatial_input(snapshot.gops, alone, "", stated, only=[frame])
    drawn = (
        overlays(episode, episode.cameras[0], _proposed(lake, dataset, episode_index, camera))
        if episode is not None
        else []
    )
    if not drawn:
        reason = " ".join(doubt.message for doubt in doubts) or "Its lens or place is not known."
        raise _refused(f"Camera {camera!r} of episode {episode_index}", reason)
    return drawn[0]


def _frame_of(stored: StoredEpisode, stream: StoredStream, row: int) -> int:
    """Return the number of the frame that a row points at."""
    what = f"Row {row} of episode {stored.episode_index}"
    if row >= len(stored.timestamp_ns):
        raise _refused(what, f"It has {len(stored.timestamp_ns)} rows.")
    gop_index = int(stored.references(stream.camera, "gop_index")[row])
    if gop_index < 0:
        raise _refused(what, f"It points at no picture of {stream.camera!r}.")
    first = next(gop.first_frame for gop in stream.gops if gop.gop_index == gop_index)
    return first + int(stored.references(stream.camera, "frame_index_in_gop")[row])


def _stated(lake: Lake, dataset: str, episode_index: int) -> StatedFacts:
    columns = ["robot", "calibrations_json", "upload", "ingestion_id"]
    rows = lake.open(dataset, "episodes").read(columns, equals("episode_index", episode_index))
    (episode,) = rows.to_pylist()
    uploads = lake.ensure_catalog("uploads").read(
        ["profile_yaml"], equals("ingestion_id", episode["ingestion_id"])
    )
    profile = Profile.model_validate_json(uploads["profile_yaml"][0].as_py() or "{}")
    known = accepted_calibrations(lake, dataset, episode["upload"])
    declared = episode["calibrations_json"]
    return StatedFacts.of(profile, episode["robot"], declared, accepted_for(declared, known))


def _proposed(lake: Lake, dataset: str, episode_index: int, camera: str) -> CameraReading | None:
    for facts in proposals(lake, dataset, episode_index):
        if facts["camera"] == camera and facts["proposed"] is not None:
            return CameraReading(
                parent_from_cam=np.array(facts["proposed"]["base_from_cam"]),
                intrinsics_px=np.array(facts["proposed"]["intrinsics_px"]),
                parent_link=str(facts["proposed"]["parent_frame"]),
            )
    return None


def _refused(what: str, reason: str) -> InvalidInputError:
    return InvalidInputError(
        f"{what} can't be shown with the projected robot: {reason} See `rdp findings`.",
        kind=ErrorKind.INVALID_ARGUMENT,
    )
