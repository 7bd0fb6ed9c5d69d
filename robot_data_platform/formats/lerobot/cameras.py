"""Camera streams of a LeRobot episode: videos, and pictures inside the data files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import (
    CameraStream,
    Int64Array,
    Picture,
    PictureSequence,
    VideoSegment,
)
from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.data_files import data_path
from robot_data_platform.formats.lerobot.info import Feature
from robot_data_platform.formats.lerobot.place import EpisodePlace
from robot_data_platform.formats.lerobot.row_files import read_rows
from robot_data_platform.formats.names import camera_name, unique_names
from robot_data_platform.formats.pictures import decode_picture

if TYPE_CHECKING:
    import pyarrow as pa


def read_cameras(
    source: Source,
    features: Sequence[Feature],
    files: Sequence[str],
    place: EpisodePlace,
    timestamp_ns: Int64Array,
) -> tuple[tuple[CameraStream, ...], tuple[Finding, ...]]:
    """Return every camera of an episode: frame k belongs to row k.

    Parameters
    ----------
    source : Source
        The dataset.
    features : sequence of Feature
        Its picture features.
    files : sequence of str
        The episode's data files, which hold the pictures of ``image`` features.
    place : EpisodePlace
        Where the videos lie.
    timestamp_ns : ndarray of int64, shape (N,)
        Time of each row, which is the time of its picture.

    Raises
    ------
    DataFaultError
        ``missing-file``, ``unreadable-file``: a video is absent, empty, or a Git LFS pointer.
        ``metadata-contradiction``: two cameras would get the same name.
    """
    names = unique_names((f.key for f in features), camera_name, f"Source {source.label!r}")
    kept = [f for f in features if not f.is_depth and (f.dtype == "image" or f.key in place.videos)]
    cameras = [
        CameraStream(
            name=names[f.key],
            timestamp_ns=timestamp_ns,
            pictures=_video(source, place, f.key, len(timestamp_ns))
            if f.dtype == "video"
            else _images(source, files, f.key, place.episode_index, len(timestamp_ns)),
        )
        for f in kept
    ]
    in_files = [finding for video in place.videos.values() for finding in video.findings]
    depth = [_depth_left_out(f) for f in features if f.is_depth]
    return tuple(cameras), (*in_files, *depth)


def _video(source: Source, place: EpisodePlace, key: str, num_rows: int) -> VideoSegment:
    video = place.videos[key]
    return VideoSegment(
        path=str(data_path(source, video.path)),
        first_frame=video.first_frame,
        num_frames=num_rows,
    )


def _images(
    source: Source, files: Sequence[str], key: str, episode_index: int, num_rows: int
) -> PictureSequence:
    read = partial(_iterate, source, tuple(files), key, episode_index)
    return PictureSequence(num_frames=num_rows, read=read)


def _iterate(
    source: Source, files: Sequence[str], key: str, episode_index: int
) -> Iterator[Picture]:
    row = 0
    for relative in files:
        for piece in read_rows(source, relative, episode_index, [key]):
            for value in _encoded(piece, key, relative):
                where = f"{relative!r} column {key!r} row {row} of episode {episode_index}"
                yield decode_picture(_bytes(value, where), where)
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


def _depth_left_out(feature: Feature) -> Finding:
    return Finding(
        rule="cameras_are_read",
        severity=Severity.WARN,
        message=(
            f"Camera {feature.key!r} was left out: got depth maps, expected colour pictures of "
            "8 bits, and nothing is cut down to them in silence."
        ),
        where=f"camera={feature.key}",
    )
