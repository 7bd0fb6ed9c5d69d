"""Pictures that are none, or far larger than they look."""

from __future__ import annotations

import io
from collections.abc import Callable

from PIL import Image

from robot_data_platform_tests.fuzz.mutations import bombs
from robot_data_platform_tests.fuzz.mutations.tree import Change, Mutation, Promise, Tree

SUFFIXES = (".jpg", ".png", ".mp4")


def _file(mode: str, size: tuple[int, int], kind: str) -> bytes:
    sink = io.BytesIO()
    Image.new(mode, size).save(sink, kind)
    return sink.getvalue()


def other_picture(tree: Tree) -> Change | None:
    """Put a picture of another size or kind in the place of one."""
    relative = tree.pick(*SUFFIXES)
    if relative is None:
        return None
    kinds: dict[str, Callable[[], bytes]] = {
        "30,000 x 30,000 pixels": bombs.png,
        "1 x 1 pixel": lambda: _file("RGB", (1, 1), "PNG"),
        "a TIFF": lambda: _file("RGB", (64, 48), "TIFF"),
        "a GIF": lambda: _file("P", (64, 48), "GIF"),
        "CMYK": lambda: _file("CMYK", (64, 48), "JPEG"),
        "16 bits": lambda: _file("I;16", (64, 48), "PNG"),
    }
    kind = tree.random.choice(list(kinds))
    (tree.root / relative).write_bytes(kinds[kind]())
    told = Promise.TYPED if kind == "16 bits" else tree.promise(relative)  # it may be depth
    return Change(what=f"{relative}: became {kind}", promise=told)


PICTURES: dict[str, Mutation] = {"other_picture": other_picture}
