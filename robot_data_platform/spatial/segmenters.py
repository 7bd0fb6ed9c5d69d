"""Models that segment the robot, as installed packages bring them."""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import entry_points
from typing import cast

from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.spatial.mask_sources import Segmenter

ENTRY_POINT_GROUP = "robot_data_platform.segmenters"
"""Group of package entry points; each names what makes a `Segmenter` when it is called."""


@lru_cache(maxsize=1)
def segmenter_named(name: str) -> Segmenter:
    """Return a model by the name of its entry point; it is loaded once in a process.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: no installed package has a model of this name.
    """
    check_segmenter(name)
    (entry, *_) = entry_points(group=ENTRY_POINT_GROUP, name=name)
    return cast("Segmenter", entry.load()())


def check_segmenter(name: str) -> None:
    """Refuse a name that no installed package has, without loading a model.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``.
    """
    known = sorted(entry.name for entry in entry_points(group=ENTRY_POINT_GROUP))
    if name not in known:
        raise InvalidInputError(
            f"Segmenter {name!r} is not known: expected one of {known}. Correct RDP_SEGMENTER, or "
            f"install the package that has it as an entry point of {ENTRY_POINT_GROUP!r}.",
            kind=ErrorKind.INVALID_ARGUMENT,
            segmenter=name,
        )
