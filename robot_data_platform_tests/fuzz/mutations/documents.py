"""Wrong types and absurd values in JSON, JSON lines and YAML."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import yaml

from robot_data_platform_tests.fuzz.mutations.tree import (
    STATEMENT,
    Change,
    Mutation,
    Promise,
    Tree,
)

SUFFIXES = (".json", ".jsonl", ".yaml")
VALUES: tuple[object, ...] = (
    None,
    True,
    -1,
    0,
    0.5,
    10**12,
    10**30,
    -(2**63),
    float("nan"),
    float("inf"),
    "text",
    "",
    "x" * 5000,
    "\x00",
    "\ud800",
    "../../x",
    [],
    [[]],
    {},
    {"a": None},
)
BOMBS = {
    "deep": "[" * 100_000,
    "deep object": '{"a":' * 100_000,
    "digits": "1" * 100_000,
    "laughs": "a: &a [x,x,x,x,x,x,x,x,x]\n"
    + "".join(
        f"{name}: &{name} [{','.join([f'*{before}'] * 9)}]\n"
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    ),
}


@dataclass(frozen=True, slots=True)
class Place:
    """A value of a document: what holds it, and under what."""

    holder: dict[object, object] | list[object]
    key: object

    @property
    def value(self) -> object:
        """What is there."""
        return self._as_dict()[self.key]

    def put(self, value: object) -> None:
        """Put another value there."""
        self._as_dict()[self.key] = value

    def remove(self) -> None:
        """Leave the value out."""
        del self._as_dict()[self.key]

    def _as_dict(self) -> dict[object, object]:
        return cast("dict[object, object]", self.holder)


def places(value: object) -> Iterator[Place]:
    """Yield the place of every value below one."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield Place(value, key)
            yield from places(value[key])


def read(path: Path) -> object:
    """Return what a document says; of JSON lines, the list of them."""
    text = path.read_text()
    if path.suffix == ".yaml":
        return yaml.safe_load(text)
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines()]
    return json.loads(text)


def write(path: Path, value: object) -> None:
    """Write a document."""
    if path.suffix == ".yaml":
        path.write_text(yaml.safe_dump(value), errors="surrogatepass")
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(line) + "\n" for line in cast("list[object]", value)))
    else:
        path.write_text(json.dumps(value))


def _edited(tree: Tree, edit: Callable[[Place], tuple[str, Promise]]) -> Change | None:
    relative = tree.pick(*SUFFIXES)
    if relative is None:
        return None
    path = tree.root / relative
    document = read(path)
    found = list(places(document))
    if not found:
        return None
    place = tree.random.choice(found)
    what, told = edit(place)
    write(path, document)
    told = Promise.TYPED if relative == STATEMENT else told
    return Change(what=f"{relative}: {place.key!r} {what}", promise=told)


def wrong_value(tree: Tree) -> Change | None:
    """Put a value of another type, or an absurd one, in place of another."""

    def edit(place: Place) -> tuple[str, Promise]:
        before, value = place.value, tree.random.choice(VALUES)
        place.put(value)
        is_text = isinstance(before, str) and isinstance(value, str)
        told = Promise.TYPED if is_text or before == value else Promise.EQUAL
        told = Promise.PARTLY if value is None else told  # as good as missing
        return f"{before!r:.60} became {value!r}", told

    return _edited(tree, edit)


def missing_value(tree: Tree) -> Change | None:
    """Leave a value out."""

    def edit(place: Place) -> tuple[str, Promise]:
        place.remove()
        return "is gone", Promise.PARTLY

    return _edited(tree, edit)


def doubled_value(tree: Tree) -> Change | None:
    """Put an element of a list in twice."""

    def edit(place: Place) -> tuple[str, Promise]:
        if not isinstance(place.holder, list):
            return "stays", Promise.EQUAL
        place.holder.insert(cast("int", place.key), place.value)
        return "is there twice", Promise.EQUAL

    return _edited(tree, edit)


def bomb(tree: Tree) -> Change | None:
    """Put a document that takes memory or depth in place of another."""
    relative = tree.pick(*SUFFIXES)
    if relative is None:
        return None
    name = tree.random.choice(list(BOMBS))
    (tree.root / relative).write_text(BOMBS[name])
    return Change(what=f"{relative}: a bomb ({name})", promise=tree.promise(relative))


DOCUMENTS: dict[str, Mutation] = {
    "wrong_value": wrong_value,
    "missing_value": missing_value,
    "doubled_value": doubled_value,
    "document_bomb": bomb,
}
