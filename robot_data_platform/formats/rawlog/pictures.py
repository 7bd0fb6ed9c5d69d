"""Cameras of a raw log as folders of picture files that are named by their time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath

import numpy as np

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import AnyPicture, CameraStream, Picture, PictureSequence
from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.blank_cameras import blank_camera, is_blank
from robot_data_platform.formats.data_files import whole_bytes
from robot_data_platform.formats.depth_pictures import decode_depth, is_depth_picture
from robot_data_platform.formats.natural_order import shortened
from robot_data_platform.formats.pictures import as_rgb, decode_picture, is_deep_png
from robot_data_platform.formats.timing import check_increasing

Decode = Callable[[bytes, str], AnyPicture]
"""Makes a picture of a file's bytes; the text says which file it is."""

MAX_FILE_BYTES = 128 << 20
"""Of one picture; a larger one is refused unread. 4K takes 50 MB where nothing is packed."""
_INT64 = range(-(1 << 63), 1 << 63)


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureCamera:
    """A camera, or why there is none."""

    stream: CameraStream | None
    findings: tuple[Finding, ...]


def read_pictures(
    source: Source, name: str, paths: Sequence[str], order: str | None, subject: str
) -> PictureCamera:
    """Return one camera; only the first picture is opened, more where all are of one size.

    Parameters
    ----------
    source : Source
        Where the pictures lie.
    name : str
        The camera's.
    paths : sequence of str
        Its pictures, each named by its time in ns.
    order : str or None
        Stated channel order: ``rgb`` or ``bgr``.
    subject : str
        The episode, for messages.

    Raises
    ------
    DataFaultError
        ``unreadable-file``: a name that is no int64, or a first picture that can't be decoded.
        ``time-not-increasing``: two pictures of one time.
    """
    time_by_path = {path: _time(path, subject) for path in paths}
    recorded = {path: time for path, time in time_by_path.items() if source.size_bytes(path)}
    ordered = sorted(recorded, key=recorded.__getitem__)
    empty = tuple(_empty_pictures(name, len(paths) - len(ordered), subject))
    if not ordered:
        absent = no_camera(name, "every picture is empty", subject)
        return PictureCamera(stream=None, findings=(*empty, absent))
    times = np.array([recorded[path] for path in ordered], dtype=np.int64)
    check_increasing(times, f"{subject} camera {name!r}")
    first = whole_bytes(source, ordered[0], MAX_FILE_BYTES)
    is_depth = is_depth_picture(first)
    if is_deep_png(first) and not is_depth:
        return PictureCamera(stream=None, findings=(*empty, _deep(name, ordered[0], subject)))
    decode: Decode = decode_depth if is_depth else partial(_decode_rgb, order)
    blank = tuple(_blank(source, name, ordered, decode, subject))
    pictures = PictureSequence(
        num_frames=len(ordered),
        read=partial(_iterate, source, tuple(ordered), decode),
        is_depth=is_depth,
    )
    stream = CameraStream(name=name, timestamp_ns=times, pictures=pictures)
    return PictureCamera(stream=stream, findings=(*empty, *blank))


def _time(path: str, subject: str) -> int:
    stem = PurePosixPath(path).stem
    digits = stem.removeprefix("-")
    is_time = digits.isascii() and digits.isdecimal() and len(digits) < 20
    if not is_time or int(stem) not in _INT64:
        raise DataFaultError(
            f"{subject} has a picture without a time: got {path!r}, expected a name of int64 "
            "nanoseconds, as in '1772010251619682157.jpg'. Rename it, or narrow the pattern.",
            kind=ErrorKind.UNREADABLE_FILE,
            path=path,
        )
    return int(stem)


def _iterate(source: Source, paths: Sequence[str], decode: Decode) -> Iterator[AnyPicture]:
    for path in paths:
        data = whole_bytes(source, path, MAX_FILE_BYTES)
        yield decode(data, f"Picture {path!r} of {source.label!r}")


def _decode_rgb(order: str | None, data: bytes, where: str) -> Picture:
    return as_rgb(decode_picture(data, where), order)


def _empty_pictures(name: str, num_empty: int, subject: str) -> Iterator[Finding]:
    if num_empty:
        yield Finding(
            rule="pictures_are_whole",
            severity=Severity.WARN,
            message=f"{subject}: {num_empty} pictures of camera {name!r} have 0 bytes; they were "
            "left out, and nothing stands in for them.",
            where=f"camera={name}",
            value=num_empty,
            threshold=0,
            unit="pictures",
        )


def no_camera(name: str, why: str, subject: str) -> Finding:
    """Return the finding that a camera has nothing in an episode."""
    return Finding(
        rule="camera_is_recorded",
        severity=Severity.WARN,
        message=f"{subject}: camera {name!r} was left out: {why}.",
        where=f"camera={name}",
        value=0,
        unit="frames",
    )


def _deep(name: str, path: str, subject: str) -> Finding:
    return Finding(
        rule="cameras_are_read",
        severity=Severity.WARN,
        message=f"{subject}: camera {name!r} was left out: got colour of 16 bits a "
        f"sample in {shortened([path])!r}, expected 8, or grey of 16 for depth.",
        where=f"camera={name}",
    )


def _blank(
    source: Source, name: str, paths: Sequence[str], decode: Decode, subject: str
) -> Iterator[Finding]:
    where = f"Picture {paths[0]!r} of {source.label!r}"
    is_alike = len({source.size_bytes(path) for path in paths}) == 1
    looked_at = paths if is_alike else ()
    stored = (whole_bytes(source, path, MAX_FILE_BYTES) for path in looked_at)
    if is_blank(stored, lambda data: decode(data, where)):
        yield blank_camera(name, len(paths), subject, "They were kept.")
