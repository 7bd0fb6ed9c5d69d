"""Which cameras a reader decodes, and how large their stored pictures are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from robot_data_platform.core.schema import camera_names
from robot_data_platform.errors import ErrorKind, InvalidInputError, NotFoundError
from robot_data_platform.reader.episodes import EpisodeSet
from robot_data_platform.reader.place import Place

if TYPE_CHECKING:
    import pyarrow as pa

Size = tuple[int, int]
"""Height and width in pixels."""


def choose_cameras(
    episodes: EpisodeSet,
    schema: pa.Schema,
    wanted: Iterable[str] | None,
    place: Place,
    *,
    is_scaled: bool,
) -> dict[str, list[Size]]:
    """Return the sizes of each chosen camera's pictures; one each, unless they are scaled.

    Parameters
    ----------
    schema : pyarrow.Schema
        Schema of ``frames``.
    wanted : iterable of str, optional
        Camera names; None = all that some chosen episode has.
    is_scaled : bool
        Whether all pictures are brought to one size.

    Raises
    ------
    NotFoundError
        ``camera-not-found``: the message lists those there are.
    InvalidInputError
        ``shape-mismatch``: the chosen episodes have a camera in several sizes.
    """
    sizes_by_camera = _sizes_by_camera(episodes, schema)
    chosen = sizes_by_camera if wanted is None else dict.fromkeys(wanted)
    sizes = {}
    for camera in chosen:
        if camera not in sizes_by_camera:
            raise camera_not_found(camera, sizes_by_camera, place)
        sizes[camera] = sizes_by_camera[camera]
        if not is_scaled:
            _check_one_size(camera, sizes[camera], place)
    return sizes


def _sizes_by_camera(episodes: EpisodeSet, schema: pa.Schema) -> dict[str, list[Size]]:
    held = {size.camera for size in episodes.picture_sizes}
    sizes: dict[str, list[Size]] = {name: [] for name in camera_names(schema) if name in held}
    for size in episodes.picture_sizes:
        sizes[size.camera].append((size.height_px, size.width_px))
    return sizes


def _check_one_size(camera: str, sizes: list[Size], place: Place) -> None:
    if len(sizes) > 1:
        raise InvalidInputError(
            f"Camera {camera!r} of {place} has pictures of several sizes: got height x width "
            f"{[f'{h}x{w}' for h, w in sizes]}, expected one in the chosen episodes. Choose "
            "episodes of one size, scale all to one by image_size, or leave the camera out of "
            "cameras.",
            kind=ErrorKind.SHAPE_MISMATCH,
            camera=camera,
            **place.facts(),
        )


def camera_not_found(camera: str, there: Iterable[str], place: Place) -> NotFoundError:
    """Return the error for a camera that is not read or not there."""
    return NotFoundError(
        f"Camera {camera!r} is not among those to read from {place}: there are {sorted(there)}. "
        "Correct the name, or choose other episodes.",
        kind=ErrorKind.CAMERA_NOT_FOUND,
        camera=camera,
        expected=sorted(there),
        **place.facts(),
    )
