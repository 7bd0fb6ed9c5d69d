"""Cameras of an HDF5 episode: one dataset of pictures each, as long as the rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import (
    CameraStream,
    EpisodeRef,
    Int64Array,
    PictureSequence,
)
from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.hdf5_pictures import picture_layout, picture_sequence
from robot_data_platform.formats.names import camera_name, unique_names
from robot_data_platform.formats.profile import Profile

if TYPE_CHECKING:
    import h5py


def read_cameras(
    source: Source,
    ref: EpisodeRef,
    dataset_by_key: Mapping[str, h5py.Dataset],
    profile: Profile,
    times: Int64Array,
) -> tuple[tuple[CameraStream, ...], tuple[Finding, ...]]:
    """Return the cameras among some datasets of pictures; picture k belongs to row k.

    Parameters
    ----------
    source, ref : Source, EpisodeRef
        Its first file holds the datasets, and is opened again whenever pictures are read.
    dataset_by_key : mapping
        Datasets by what the file calls the camera.
    profile : Profile
        States the channel order.
    times : ndarray of int64, shape (N,)
        Time of each row in ns.

    Raises
    ------
    DataFaultError
        ``video-too-short``: fewer pictures than rows. ``metadata-contradiction``: two cameras
        would get the same name.
    """
    subject = f"Episode {ref.source_key!r} of {source.label!r}"
    names = unique_names(dataset_by_key, camera_name, subject)
    pictures = {k: d for k, d in dataset_by_key.items() if picture_layout(d) is not None}
    cameras = tuple(
        CameraStream(
            name=names[key],
            timestamp_ns=times,
            pictures=picture_sequence(
                source, ref.files[0], d, len(times), profile.channel_order(names[key])
            ),
        )
        for key, d in pictures.items()
    )
    return cameras, (
        *_findings(dataset_by_key, pictures, len(times), subject),
        *_order_findings(cameras, profile, subject),
    )


def _findings(
    found: Mapping[str, h5py.Dataset],
    pictures: Mapping[str, h5py.Dataset],
    num_rows: int,
    subject: str,
) -> Iterator[Finding]:
    for key in sorted(found.keys() - pictures.keys()):
        what = f"camera {key!r} was left out: got {found[key].dtype} {found[key].shape}, expected "
        what += "(T, H, W, 3) uint8, (T, H, W) uint16 of depth, or JPEG bytes"
        yield _finding("cameras_are_read", Severity.WARN, subject, what, f"camera={key}")
    for key, dataset in pictures.items():
        yield from _length_findings(key, len(dataset), num_rows, subject)


def _order_findings(
    cameras: Iterable[CameraStream], profile: Profile, subject: str
) -> Iterator[Finding]:
    in_colour = [
        camera.name
        for camera in cameras
        if isinstance(camera.pictures, PictureSequence) and not camera.pictures.is_depth
    ]
    unstated = sorted(name for name in in_colour if profile.channel_order(name) is None)
    if unstated:
        what = f"nothing states the channel order of cameras {unstated}; they were read as RGB"
        yield _finding("channel_order_is_stated", Severity.INFO, subject, what, "cameras")


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
