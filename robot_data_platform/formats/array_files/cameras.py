"""Pictures in arrays as cameras: raw ones, by row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import (
    AnyPicture,
    CameraStream,
    Int64Array,
    PictureSequence,
)
from robot_data_platform.formats.array_files.roles import is_depth, without_prefix
from robot_data_platform.formats.array_files.stored_array import StoredArray
from robot_data_platform.formats.blank_cameras import blank_camera, is_blank
from robot_data_platform.formats.names import camera_name, unique_names
from robot_data_platform.formats.pictures import as_rgb
from robot_data_platform.formats.profile import Profile


def read_cameras(
    pictures: Mapping[str, StoredArray], profile: Profile, times: Int64Array, subject: str
) -> tuple[tuple[CameraStream, ...], tuple[Finding, ...]]:
    """Return a camera for each array of pictures; picture k belongs to row k.

    Parameters
    ----------
    pictures : mapping
        Arrays of (N, H, W, 3) uint8, or of depth (N, H, W) or (N, H, W, 1) uint16; N <= T.
    profile : Profile
        States the channel order.
    times : ndarray of int64, shape (T,)
        Time of each row in ns.
    subject : str
        The episode, for messages.

    Raises
    ------
    DataFaultError
        ``metadata-contradiction``: two cameras would get the same name. ``shape-mismatch``: an
        array is not what it claims.
    """
    names = unique_names(pictures, _camera_name, subject)
    cameras = tuple(
        CameraStream(
            name=names[key],
            timestamp_ns=times[: array.shape[0]],
            pictures=PictureSequence(
                num_frames=array.shape[0],
                read=partial(
                    _iterate,
                    array,
                    profile.channel_order(names[key]),
                    f"{subject} array {key!r}",
                ),
                is_depth=is_depth(array),
            ),
        )
        for key, array in pictures.items()
    )
    shown = {names[key]: array for key, array in pictures.items()}
    return cameras, (*_blank(shown, subject), *_unstated(shown, profile, subject))


def _camera_name(key: str) -> str:
    return camera_name(without_prefix(key).replace("/", "."))


def _iterate(array: StoredArray, order: str | None, where: str) -> Iterator[AnyPicture]:
    for picture in array.rows(where):
        if is_depth(array):
            yield picture.reshape(picture.shape[:2]).astype(np.uint16, copy=False)
        else:
            yield as_rgb(picture.astype(np.uint8, copy=False), order)


def _blank(pictures: Mapping[str, StoredArray], subject: str) -> Iterator[Finding]:
    for name, array in pictures.items():
        rows = array.rows(f"{subject} camera {name!r}")
        if is_blank((row.tobytes() for row in rows), partial(_picture, array)):
            yield blank_camera(name, array.shape[0], subject, "They were kept.")


def _picture(array: StoredArray, data: bytes) -> AnyPicture:
    picture: AnyPicture = np.frombuffer(data, array.dtype).reshape(array.shape[1:])
    return picture


def _unstated(
    pictures: Mapping[str, StoredArray], profile: Profile, subject: str
) -> Iterator[Finding]:
    colour = (name for name, array in pictures.items() if not is_depth(array))
    unstated = [name for name in colour if profile.channel_order(name) is None]
    if unstated:
        yield Finding(
            rule="channel_order_is_stated",
            severity=Severity.INFO,
            message=f"{subject}: nothing states the channel order of the pictures of "
            f"{', '.join(unstated)}; they were read as RGB.",
            where="cameras",
        )
