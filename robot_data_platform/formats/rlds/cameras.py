"""Pictures of an RLDS episode's steps as cameras."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import (
    AnyPicture,
    CameraStream,
    Int64Array,
    PictureSequence,
)
from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.blank_cameras import blank_camera, is_blank
from robot_data_platform.formats.data_files import data_path
from robot_data_platform.formats.depth_pictures import decode_depth, is_depth_picture
from robot_data_platform.formats.names import camera_name, unique_names
from robot_data_platform.formats.pictures import as_rgb, decode_picture
from robot_data_platform.formats.profile import Profile
from robot_data_platform.formats.rlds.features import STEPS, Feature, Kind
from robot_data_platform.formats.rlds.messages import Content, Example, read_span
from robot_data_platform.formats.rlds.signals import row_mismatch

_FLAG = "episode_metadata/has_{}"
"""Feature that claims whether a camera is more than a filler; many datasets never set it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One camera as its pictures are stored."""

    key: str
    name: str
    spans: Int64Array
    """(T, 2) first byte of each encoded picture in the file, and the one after its last."""
    is_depth: bool
    """Whether the first of them is a depth map."""
    is_blank: bool
    flag: bool | None
    """What the record's flag claims; None = there is no flag."""

    @property
    def is_filler(self) -> bool:
        """Whether both the pictures and the flag say that there was no camera."""
        return self.is_blank and self.flag is False


def camera_keys(features: Mapping[str, Feature]) -> list[str]:
    """Return the features of the steps that should hold encoded pictures."""
    return [k for k, f in features.items() if f.kind is Kind.PICTURE and k.startswith(STEPS)]


def read_cameras(
    source: Source,
    relative: str,
    example: Example,
    keys: list[str],
    profile: Profile,
    times: Int64Array,
) -> tuple[tuple[CameraStream, ...], tuple[Finding, ...]]:
    """Return the cameras of a record; picture k belongs to step k.

    A camera is left out where the record has none of its pictures, or where they and its flag
    agree that it shows nothing.

    Parameters
    ----------
    source, relative : Source, str
        The shard, opened again whenever pictures are read.
    example : Example
        The open record.
    keys : list of str
        Its features that hold pictures.
    profile : Profile
        States the channel order.
    times : ndarray of int64, shape (T,)
        Time of each step in ns.

    Raises
    ------
    DataFaultError
        ``row-mismatch``: not as many pictures as steps. ``unreadable-file``: one of them is
        empty, or the first is no JPEG or PNG. ``metadata-contradiction``: two cameras would get
        the same name.
    """
    names = unique_names(keys, _camera_name, example.subject)
    spans = {key: _spans(example, key, len(times)) for key in keys}
    recorded = {key: found for key, found in spans.items() if len(found)}
    shown = [_look(example, key, names[key], found) for key, found in recorded.items()]
    cameras = tuple(
        CameraStream(
            name=camera.name,
            timestamp_ns=times,
            pictures=PictureSequence(
                num_frames=len(times),
                read=partial(
                    _iterate,
                    source,
                    relative,
                    camera,
                    profile.channel_order(camera.name),
                    example.subject,
                ),
                is_depth=camera.is_depth,
            ),
        )
        for camera in shown
        if not camera.is_filler
    )
    absent = [names[key] for key in spans.keys() - recorded.keys()]
    return cameras, (*_absent(absent, example.subject), *_blank(shown, example.subject))


def _camera_name(key: str) -> str:
    return camera_name(key.removeprefix(STEPS).replace("/", "."))


def _spans(example: Example, key: str, num_rows: int) -> Int64Array:
    """Return where a camera's pictures lie; none of them where all are empty."""
    is_there = example.features.get(key, (None,))[0] is Content.BYTES
    spans = example.spans(key) if is_there else np.empty((0, 2), dtype=np.int64)
    empty = np.flatnonzero(spans[:, 0] == spans[:, 1])
    if len(empty) == len(spans):
        return spans[:0]
    if len(spans) != num_rows:
        raise row_mismatch(example.subject, key, len(spans), f"{num_rows}")
    if len(empty):
        raise DataFaultError(
            f"{example.subject} feature {key!r} has an empty picture at step {int(empty[0])}: got "
            f"0 bytes ({len(empty)} such steps), expected a JPEG or PNG. Write the episode again, "
            "or drop it.",
            kind=ErrorKind.UNREADABLE_FILE,
            row=int(empty[0]),
        )
    return spans


def _look(example: Example, key: str, name: str, spans: Int64Array) -> Shown:
    where = f"{example.subject} feature {key!r} step 0"
    is_depth = is_depth_picture(read_span(example.file, spans[0].tolist()))
    stored = (read_span(example.file, span) for span in spans.tolist())
    decode = partial(decode_depth if is_depth else decode_picture, where=where)
    return Shown(
        key=key,
        name=name,
        spans=spans,
        is_depth=is_depth,
        is_blank=is_blank(stored, decode),
        flag=_flag(example, key),
    )


def _flag(example: Example, key: str) -> bool | None:
    flag = _FLAG.format(key.rpartition("/")[2])
    if example.features.get(flag, (None,))[0] is not Content.INTEGERS:
        return None
    numbers = example.numbers(flag)
    return bool(numbers[0]) if len(numbers) == 1 else None


def _iterate(
    source: Source, relative: str, camera: Shown, order: str | None, subject: str
) -> Iterator[AnyPicture]:
    with data_path(source, relative).open("rb", buffering=0) as file:
        for step, span in enumerate(camera.spans.tolist()):
            data, where = read_span(file, span), f"{subject} step {step}"
            if camera.is_depth:
                yield decode_depth(data, where)
            else:
                yield as_rgb(decode_picture(data, where), order)


def _absent(names: list[str], subject: str) -> Iterator[Finding]:
    for name in sorted(names):
        yield Finding(
            rule="camera_is_recorded",
            severity=Severity.WARN,
            message=f"{subject}: camera {name!r} was left out: the record has no picture of it.",
            where=f"camera={name}",
            value=0,
            unit="frames",
        )


def _blank(shown: list[Shown], subject: str) -> Iterator[Finding]:
    for camera in shown:
        if camera.is_blank:
            became = "They were kept: nothing says that there was no camera."
            if camera.is_filler:
                became = f"It was left out: {_FLAG.format(camera.name)!r} says that it is a filler."
            yield blank_camera(camera.name, len(camera.spans), subject, became)
    denied = [camera.name for camera in shown if camera.flag is False and not camera.is_blank]
    if denied:
        yield Finding(
            rule="camera_flags_match_pictures",
            severity=Severity.WARN,
            message=f"{subject}: {len(denied)} cameras show something though their flags say that "
            f"they are fillers: got {', '.join(sorted(denied))}. They were kept.",
            where=_FLAG.format("*"),
            value=len(denied),
            threshold=0,
            unit="cameras",
        )
