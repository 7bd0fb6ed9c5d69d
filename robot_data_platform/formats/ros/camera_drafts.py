"""The cameras of a recording, from its topics of pictures and of video."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from robot_data_platform.core.calibration import CameraCalibration
from robot_data_platform.core.recording import (
    CameraStream,
    Int64Array,
    PictureSequence,
    VideoSegment,
)
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.names import unique_names
from robot_data_platform.formats.profile import Profile
from robot_data_platform.formats.ros.calibrations import CameraFacts
from robot_data_platform.formats.ros.clocks import ChosenTimes
from robot_data_platform.formats.ros.drafts import Draft
from robot_data_platform.formats.ros.picture_topics import PicturePlaces, PictureTopic
from robot_data_platform.formats.ros.pixels import DEPTH
from robot_data_platform.formats.ros.recording_files import RecordingFiles
from robot_data_platform.formats.ros.topic import Topic
from robot_data_platform.formats.ros.topic_names import camera_names
from robot_data_platform.formats.ros.topic_types import Role
from robot_data_platform.formats.ros.topics import Topics
from robot_data_platform.formats.ros.video_topics import write_video

ROS_DEPTH_UNIT_M = 0.001
"""Unit of depth maps of whole numbers in ROS (REP 118)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Camera:
    name: str
    topic: Topic
    pictures: PictureTopic
    topics: Topics
    files: RecordingFiles
    channel_order: str | None
    calibration: CameraCalibration | None

    def places(self, index: Int64Array) -> PicturePlaces:
        """Return where the pictures of some messages lie."""
        return PicturePlaces(
            files=self.files,
            channel=self.topic.channel,
            types=self.topics.types,
            role=self.topic.role,
            places=self.topic.places(index),
            channel_order=self.channel_order,
        )

    def stream(self, pictures: VideoSegment | PictureSequence, chosen: ChosenTimes) -> CameraStream:
        """Return the finished camera."""
        return CameraStream(
            name=self.name,
            timestamp_ns=chosen.timestamp_ns,
            pictures=pictures,
            calibration=self.calibration,
            depth_unit_m=self._depth_unit_m,
        )

    @property
    def _depth_unit_m(self) -> float | None:
        is_of_ros = not self.topic.channel.type_name.startswith("foxglove")
        return ROS_DEPTH_UNIT_M if is_of_ros and self.pictures.kinds[DEPTH] else None


def camera_drafts(
    topics: Topics,
    files: RecordingFiles,
    profile: Profile,
    facts_by_topic: Mapping[str, CameraFacts],
) -> Iterator[tuple[Draft[CameraStream], int]]:
    """Yield the cameras of a recording, by topic, each with the frames left out before its start.

    Parameters
    ----------
    topics : Topics
        What was gathered.
    files : RecordingFiles
        Where the pictures are read from again; video streams are put together at once.
    profile : Profile
        States names and channel order.
    facts_by_topic : mapping
        What is known of each camera.

    Raises
    ------
    DataFaultError
        ``metadata-contradiction``: two get the same name, or a stream changes its codec.
        ``video-unreadable``: a video stream has no key frame.
    """
    found = {t.channel.topic: (t, p) for t, p in topics.of(PictureTopic) if p.index}
    names = camera_names(name for name, (topic, _) in found.items() if not topic.stated.camera)
    names |= {name: t.stated.camera for name, (t, _) in found.items() if t.stated.camera}
    unique_names(names, names.__getitem__, topics.subject)
    for name, (topic, pictures) in found.items():
        camera = _Camera(
            name=names[name],
            topic=topic,
            pictures=pictures,
            topics=topics,
            files=files,
            channel_order=profile.channel_order(names[name]),
            calibration=facts_by_topic[name].calibration,
        )
        yield _video(camera) if topic.role is Role.VIDEO else (_pictures(camera), 0)


def _pictures(camera: _Camera) -> Draft[CameraStream]:
    index = np.array(camera.pictures.index, dtype=np.int64)

    def build(chosen: ChosenTimes) -> CameraStream:
        read = camera.places(index[chosen.index]).read
        pictures = PictureSequence(
            num_frames=len(chosen.index), read=read, is_depth=camera.pictures.is_depth
        )
        return camera.stream(pictures, chosen)

    return Draft(name=camera.name, times=camera.topic.times(index), build=build)


def _video(camera: _Camera) -> tuple[Draft[CameraStream], int]:
    index = np.array(camera.pictures.index, dtype=np.int64)
    # Frames are logged in decode order, which overlapping chunks need not be in.
    index = index[np.argsort(camera.topic.times(index).log_ns, kind="stable")]
    places = camera.places(index)
    video, num_skipped = write_video(places.frames(), _codec(camera), places.label)
    # Decoders show frames in the order of their times, whatever order they are coded in.
    build = partial(camera.stream, video)
    times = camera.topic.times(index[num_skipped:])
    return Draft(name=camera.name, times=times, build=build), num_skipped


def _codec(camera: _Camera) -> str:
    codecs = sorted(camera.pictures.kinds)
    if len(codecs) > 1:
        raise DataFaultError(
            f"{camera.topics.subject} topic {camera.topic.channel.topic!r} changes its codec: got "
            f"{codecs}, expected one. Split the recording where it changes.",
            kind=ErrorKind.METADATA_CONTRADICTION,
            topic=camera.topic.channel.topic,
        )
    return codecs[0]
