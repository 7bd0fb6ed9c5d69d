"""Camera streams of a LeRobot episode: videos, and pictures inside the data files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from robot_data_platform.core.finding import Finding
from robot_data_platform.core.recording import (
    AnyPicture,
    CameraStream,
    Int64Array,
    PictureSequence,
    VideoSegment,
)
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.depth_pictures import decode_depth, is_depth_picture
from robot_data_platform.formats.lerobot.depth import check_depth, depth_unit_m
from robot_data_platform.formats.lerobot.info import Feature
from robot_data_platform.formats.lerobot.place import EpisodePlace, VideoPlace
from robot_data_platform.formats.lerobot.row_source import RowSource
from robot_data_platform.formats.names import camera_name, unique_names
from robot_data_platform.formats.pictures import decode_picture

if TYPE_CHECKING:
    import pyarrow as pa


def read_cameras(
    features: Sequence[Feature],
    rows: RowSource,
    place: EpisodePlace,
    timestamp_ns: Int64Array,
    local_video: Callable[[str], str],
    subject: str,
) -> tuple[tuple[CameraStream, ...], tuple[Finding, ...]]:
    """Return every camera of an episode: frame k belongs to row k.

    Parameters
    ----------
    features : sequence of Feature
        The dataset's picture features.
    rows : RowSource
        The episode's rows, which hold the pictures of ``image`` features.
    place : EpisodePlace
        Where the videos lie.
    timestamp_ns : ndarray of int64, shape (N,)
        Time of each row, which is the time of its picture.
    local_video : callable
        Returns a local path of the video at ``VideoPlace.path``.
    subject : str
        The episode, for messages.

    Raises
    ------
    DataFaultError
        ``missing-file``, ``unreadable-file``: a video is absent, empty, or a Git LFS pointer.
        ``metadata-contradiction``: two cameras would get the same name.
    """
    names = unique_names((f.key for f in features), camera_name, subject)
    cameras: list[CameraStream] = []
    findings = [finding for video in place.videos.values() for finding in video.findings]
    for feature in (f for f in features if f.dtype == "image" or f.key in place.videos):
        pictures: VideoSegment | PictureSequence = (
            _video(place.videos[feature.key], len(timestamp_ns), local_video)
            if feature.dtype == "video"
            else _images(rows, feature, place.episode_index, len(timestamp_ns))
        )
        is_read, told = check_depth(feature, pictures)
        findings += told
        if is_read:
            camera = CameraStream(
                name=names[feature.key],
                timestamp_ns=timestamp_ns,
                pictures=pictures,
                depth_unit_m=depth_unit_m(feature, pictures),
            )
            cameras.append(camera)
    return tuple(cameras), tuple(findings)


def _video(video: VideoPlace, num_rows: int, local_video: Callable[[str], str]) -> VideoSegment:
    return VideoSegment(
        path=local_video(video.path),
        first_frame=video.first_frame,
        num_frames=num_rows,
        is_last=video.is_last,
    )


def _images(
    rows: RowSource, feature: Feature, episode_index: int, num_rows: int
) -> PictureSequence:
    # Only of one channel can they be depth; of others not even the first one is read.
    may_be_depth = feature.is_depth or 1 in feature.shape
    first = next(_pictures(rows, feature.key, episode_index), None) if may_be_depth else None
    is_depth = first is not None and is_depth_picture(first[0])
    decode = decode_depth if is_depth else decode_picture
    read = partial(_iterate, rows, feature.key, episode_index, decode)
    return PictureSequence(num_frames=num_rows, read=read, is_depth=is_depth)


def _iterate(
    rows: RowSource, key: str, episode_index: int, decode: Callable[[bytes, str], AnyPicture]
) -> Iterator[AnyPicture]:
    for data, where in _pictures(rows, key, episode_index):
        yield decode(data, where)


def _pictures(rows: RowSource, key: str, episode_index: int) -> Iterator[tuple[bytes, str]]:
    """Yield each row's encoded picture, and where it is."""
    row = 0
    for name, piece in rows.read([key]):
        for value in _encoded(piece, key, name):
            where = f"{name!r} column {key!r} row {row} of episode {episode_index}"
            yield _bytes(value, where), where
            row += 1


def _encoded(piece: pa.Table, key: str, relative: str) -> Iterator[object]:
    if key not in piece.column_names:
        raise DataFaultError(
            f"File {relative!r} has no pictures: got columns {piece.column_names}, expected "
            f"{key!r} among them. Upload the episode again.",
            kind=ErrorKind.METADATA_CONTRADICTION,
            path=relative,
        )
    for value in piece[key]:
        yield value.as_py()


def _bytes(value: object, where: str) -> bytes:
    data = value.get("bytes") if isinstance(value, dict) else value
    if not isinstance(data, bytes):
        raise DataFaultError(
            f"{where} has no picture in the file: got {value!r:.80}, expected encoded bytes. "
            "Embed the pictures before uploading.",
            kind=ErrorKind.MISSING_FILE,
            where=where,
        )
    return data
