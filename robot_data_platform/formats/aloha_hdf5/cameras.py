"""Cameras of an ALOHA file: one dataset each, as long as the rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import CameraStream, EpisodeRef, Int64Array
from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.aloha_hdf5.hdf5_files import datasets, group_at
from robot_data_platform.formats.aloha_hdf5.pictures import (
    IMAGES,
    picture_layout,
    picture_sequence,
)
from robot_data_platform.formats.names import camera_name, unique_names
from robot_data_platform.formats.profile import Profile

if TYPE_CHECKING:
    import h5py


def read_cameras(
    source: Source, ref: EpisodeRef, file: h5py.File, profile: Profile, times: Int64Array
) -> tuple[tuple[CameraStream, ...], tuple[Finding, ...]]:
    """Return every camera below ``/observations/images``; picture k belongs to row k.

    Parameters
    ----------
    source, ref : Source, EpisodeRef
        The file, opened again whenever its pictures are read.
    file : h5py.File
        The same file, open.
    profile : Profile
        States the channel order.
    times : ndarray of int64, shape (N,)
        Time of each row in ns.

    Raises
    ------
    DataFaultError
        ``video-too-short``: fewer pictures than rows. ``unsafe-path``: a dataset leads out of
        the file. ``metadata-contradiction``: two cameras would get the same name.
    """
    subject = f"Episode {ref.source_key!r} of {source.label!r}"
    found = dict(datasets(group_at(file, IMAGES), subject))
    names = unique_names(found, camera_name, subject)
    pictures = {key: d for key, d in found.items() if picture_layout(d) is not None}
    is_bgr = profile.picture_channel_order == "bgr"
    cameras = tuple(
        CameraStream(
            name=names[key],
            timestamp_ns=times,
            pictures=picture_sequence(source, ref.source_key, key, len(times), is_bgr),
        )
        for key in pictures
    )
    return cameras, tuple(_camera_findings(found, pictures, len(times), profile, subject))


def _camera_findings(
    found: Mapping[str, h5py.Dataset],
    pictures: Mapping[str, h5py.Dataset],
    num_rows: int,
    profile: Profile,
    subject: str,
) -> Iterator[Finding]:
    for key in found.keys() - pictures.keys():
        what = f"camera {key!r} was left out: got {found[key].dtype} {found[key].shape}, expected "
        what += "(T, H, W, 3) uint8, or JPEG bytes"
        yield _finding("cameras_are_read", Severity.WARN, subject, what, f"camera={key}")
    for key, dataset in pictures.items():
        yield from _length_findings(key, len(dataset), num_rows, subject)
    if pictures and profile.picture_channel_order is None:
        what = "nothing states the channel order of the pictures; they were read as RGB"
        yield _finding("channel_order_is_stated", Severity.INFO, subject, what, f"/{IMAGES}")


def _length_findings(
    camera: str, num_pictures: int, num_rows: int, subject: str
) -> Iterator[Finding]:
    if num_pictures < num_rows:
        raise DataFaultError(
            f"{subject} camera {camera!r} has fewer pictures than rows: got {num_pictures}, "
            f"expected {num_rows}. Record the episode again, or drop it.",
            kind=ErrorKind.VIDEO_TOO_SHORT,
            camera=camera,
        )
    if num_pictures > num_rows:
        what = f"camera {camera!r} has {num_pictures - num_rows} pictures after the last row; they "
        what += "were left out"
        yield _finding(
            "video_frames_are_referenced", Severity.WARN, subject, what, f"camera={camera}"
        )


def _finding(rule: str, severity: Severity, subject: str, what: str, where: str) -> Finding:
    return Finding(rule=rule, severity=severity, message=f"{subject}: {what}.", where=where)
