"""Which rendition of its pictures a reader decodes."""

from __future__ import annotations

import json
from dataclasses import dataclass

from robot_data_platform.core.rendition import RENDITIONS_KEY, key_offset, parse_rendition
from robot_data_platform.errors import ErrorKind, NotFoundError
from robot_data_platform.reader.cameras import Size
from robot_data_platform.reader.place import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """The stored pictures that are read: as recorded, or one rendition of them."""

    slot: int = 0
    size: Size | None = None
    """Height and width, the same for every camera; None = as recorded."""

    @property
    def key_offset(self) -> int:
        """What the key of a GOP is more than the one that rows refer to."""
        return key_offset(self.slot)


def choose_stored(name: str | None, place: Place) -> Stored:
    """Return the rendition of a name; None = pictures as recorded.

    Raises
    ------
    NotFoundError
        ``rendition-not-found``: the message lists those there are.
    """
    if name is None:
        return Stored()
    names = json.loads(place.snapshot.gops.metadata.get(RENDITIONS_KEY, "[]"))
    if name not in names:
        raise NotFoundError(
            f"Rendition {name!r} is not in {place}: it has {names or 'none'}. Make it with "
            f"`rdp rendition add {place.snapshot.dataset} {name}`, or scale with image_size.",
            kind=ErrorKind.RENDITION_NOT_FOUND,
            rendition=name,
            **place.facts(),
        )
    rendition = parse_rendition(name)
    size = (rendition.height_px, rendition.width_px)
    return Stored(slot=names.index(name) + 1, size=size)
