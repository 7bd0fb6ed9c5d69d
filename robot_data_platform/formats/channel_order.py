"""Still pictures whose channels the profile says are in another order, turned to RGB."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import cast

from robot_data_platform.core.recording import (
    AnyPicture,
    CameraStream,
    Picture,
    PictureSequence,
    Recording,
)
from robot_data_platform.formats.pictures import as_rgb
from robot_data_platform.formats.profile import Profile


def in_rgb(recording: Recording, profile: Profile) -> Recording:
    """Return a recording whose still pictures are turned to RGB where the profile says ``bgr``.

    For a format whose reader takes every picture for RGB.
    """
    cameras = tuple(_turned(camera, profile) for camera in recording.cameras)
    return replace(recording, cameras=cameras)


def _turned(camera: CameraStream, profile: Profile) -> CameraStream:
    pictures = camera.pictures
    if not isinstance(pictures, PictureSequence) or pictures.is_depth:
        return camera
    if profile.channel_order(camera.name) != "bgr":
        return camera
    return replace(camera, pictures=replace(pictures, read=partial(_read, pictures.read)))


def _read(read: Callable[[], Iterator[AnyPicture]]) -> Iterator[AnyPicture]:
    for picture in read():
        yield as_rgb(cast("Picture", picture), "bgr")
