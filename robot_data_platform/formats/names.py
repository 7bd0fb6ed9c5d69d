"""Names of columns and cameras, made from whatever a source calls them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from robot_data_platform.errors import DataFaultError, ErrorKind

_OTHER = re.compile(r"[^a-z0-9]+")
RESERVED_COLUMNS = frozenset(
    {
        "episode_index",
        "frame_index",
        "is_intervention",
        "language_instruction",
        "source",
        "task",
        "timestamp_ns",
    }
)
"""Columns of ``frames`` that are no signals: such a signal becomes ``observation_<name>``."""


def column_name(key: str) -> str:
    """Return the signal name of a source's key: lower case, other characters become ``_``.

    Examples
    --------
    >>> column_name("observation.state"), column_name("next.reward"), column_name("source")
    ('observation_state', 'next_reward', 'observation_source')
    """
    name = _OTHER.sub("_", key.lower()).strip("_")
    return f"observation_{name}" if name in RESERVED_COLUMNS else name


def camera_name(key: str) -> str:
    """Return the camera name of a source's key, without what says that it is a picture.

    Examples
    --------
    >>> camera_name("observation.images.Left-Wrist"), camera_name("observation.image")
    ('left_wrist', 'image')
    """
    short = key.removeprefix("observation.images.").removeprefix("observation.")
    return _OTHER.sub("_", short.lower()).strip("_")


def unique_names(keys: Iterable[str], rule: Callable[[str], str], subject: str) -> dict[str, str]:
    """Return the name of each key under a rule.

    Raises
    ------
    DataFaultError
        ``metadata-contradiction``: two keys get the same name, or a key leaves no name.
    """
    key_by_name: dict[str, str] = {}
    for key in keys:
        name = rule(key)
        other = key_by_name.setdefault(name, key)
        if other != key or not name:
            raise DataFaultError(
                f"{subject} has keys that can't be told apart: {other!r} and {key!r} both become "
                f"{name!r}, expected one name each of a-z 0-9 _. Rename one of them.",
                kind=ErrorKind.METADATA_CONTRADICTION,
                keys=[other, key],
            )
    return {key: name for name, key in key_by_name.items()}
