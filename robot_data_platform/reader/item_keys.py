"""Item keys, named as LeRobot names them, and the stored columns behind them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pyarrow as pa

from robot_data_platform.core.schema import CAMERA_PREFIX, signal_names
from robot_data_platform.errors import ErrorKind, InvalidInputError, NotFoundError
from robot_data_platform.reader.cameras import camera_not_found
from robot_data_platform.reader.place import Place

PICTURE_PREFIX = "observation.images."
OBSERVATION_PREFIX = "observation_"
IDENTITY_KEYS = ("index", "episode_index", "episode_id", "frame_index", "timestamp")
"""Keys that every item has, whatever columns were asked for."""
LABELS = ("task", "language_instruction", "source", "is_intervention")


def picture_key(camera: str) -> str:
    """Return the item key of a camera's picture."""
    return PICTURE_PREFIX + camera


def column_key(column: str) -> str:
    """Return the item key of a column of ``frames``.

    Examples
    --------
    >>> column_key("observation_state"), column_key("action")
    ('observation.state', 'action')
    """
    if column.startswith(OBSERVATION_PREFIX):
        return "observation." + column.removeprefix(OBSERVATION_PREFIX)
    return column


def choose_columns(schema: pa.Schema, wanted: Iterable[str] | None, place: Place) -> dict[str, str]:
    """Return the stored column behind each item key.

    Parameters
    ----------
    schema : pyarrow.Schema
        Schema of ``frames``.
    wanted : iterable of str, optional
        Item keys or stored names; None = every signal and every label.

    Raises
    ------
    NotFoundError
        ``column-not-found``: the message lists those there are.
    """
    stored = {column_key(field.name): field.name for field in schema if _is_readable(field)}
    if wanted is None:
        wanted = [*signal_names(schema), *(name for name in LABELS if name in schema.names)]
    keys = [column_key(name) for name in wanted if name not in IDENTITY_KEYS]
    for key in keys:
        if key not in stored:
            raise _column_not_found(key, stored, place)
    return {key: stored[key] for key in keys}


def check_windows(
    windows: Iterable[str],
    cameras: Iterable[str],
    columns: Mapping[str, str],
    schema: pa.Schema,
    place: Place,
) -> None:
    """Refuse a window of a key that items don't have, or whose values are text.

    Raises
    ------
    NotFoundError
        ``camera-not-found`` or ``column-not-found``.
    InvalidInputError
        ``invalid-argument``: the key's values are text.
    """
    pictures = {picture_key(camera) for camera in cameras}
    for key in windows:
        if key.startswith(PICTURE_PREFIX) and key not in pictures:
            raise camera_not_found(key.removeprefix(PICTURE_PREFIX), cameras, place)
        if key not in pictures and key not in columns:
            raise _column_not_found(key, columns, place)
        if key in columns and pa.types.is_string(schema.field(columns[key]).type):
            raise InvalidInputError(
                f"Key {key!r} of {place} is text: expected numbers or pictures in "
                "delta_timestamps. Leave it out there.",
                kind=ErrorKind.INVALID_ARGUMENT,
                key=key,
            )


def _is_readable(field: pa.Field) -> bool:
    is_number = (
        pa.types.is_fixed_size_list(field.type)
        or pa.types.is_boolean(field.type)
        or pa.types.is_integer(field.type)
        or pa.types.is_floating(field.type)
    )
    is_reference = field.name.startswith(CAMERA_PREFIX) or field.name in IDENTITY_KEYS
    return (is_number or pa.types.is_string(field.type)) and not is_reference


def _column_not_found(key: str, there: Iterable[str], place: Place) -> NotFoundError:
    return NotFoundError(
        f"Column {key!r} is not among those to read from {place}: there are {sorted(there)}. "
        "Correct the name, or add it to columns.",
        kind=ErrorKind.COLUMN_NOT_FOUND,
        column=key,
        expected=sorted(there),
        **place.facts(),
    )
