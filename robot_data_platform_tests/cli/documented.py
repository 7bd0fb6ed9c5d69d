"""The JSON that docs/cli.md documents, read from the page itself.

A value is written as its keys: ``{"key", "key": value, name: value}``, where a name without quotes
stands for any key, and a key alone for any value; ``[value]`` and ``[…]`` are lists.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_COMMAND = re.compile(r"`rdp ([a-z][a-z -]*?) --json`")
_TOKEN = re.compile(r'"[^"]*"|[{}\[\],:…]|\w+')


@dataclass(frozen=True, slots=True)
class Template:
    """What a value looks like."""

    members: dict[str, Template] | None = None
    """By key of an object."""
    any_member: Template | None = None
    """Of an object with any keys."""
    items: Template | None = None
    """Of a list."""

    def faults(self, value: object, place: str = "$") -> Iterator[str]:
        """Yield where a value is other than documented."""
        if self.items is not None:
            yield from self._list_faults(value, place)
        elif self.members is not None:
            yield from self._object_faults(value, place)
        elif self.any_member is not None:
            items = value.items() if isinstance(value, dict) else ()
            for key, member in items:
                yield from self.any_member.faults(member, f"{place}.{key}")

    def _list_faults(self, value: object, place: str) -> Iterator[str]:
        if not isinstance(value, list):
            yield f"{place} is no list"
            return
        assert self.items is not None
        for item in value:
            yield from self.items.faults(item, f"{place}[]")

    def _object_faults(self, value: object, place: str) -> Iterator[str]:
        assert self.members is not None
        if not isinstance(value, dict):
            yield f"{place} is no object"
            return
        if value.keys() != self.members.keys():
            yield f"{place} has keys {sorted(value)}, documented {sorted(self.members)}"
        for key in value.keys() & self.members.keys():
            yield from self.members[key].faults(value[key], f"{place}.{key}")


ANYTHING = Template()


def documented(page: Path) -> dict[str, Template]:
    """Return the template of each command that the page documents."""
    templates: dict[str, Template] = {}
    lines = page.read_text().splitlines()
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        for command in _COMMAND.findall(line) if following.startswith(("`{", "`[")) else ():
            templates[command] = _Parser(following.strip("`")).value()
    return templates


@dataclass(slots=True)
class _Parser:
    text: str
    tokens: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.tokens = _TOKEN.findall(self.text)

    def value(self) -> Template:
        token = self.tokens.pop(0)
        if token == "[":
            items = self.value()
            assert self.tokens.pop(0) == "]", self.text
            return Template(items=items)
        return self._object() if token == "{" else ANYTHING

    def _object(self) -> Template:
        members: dict[str, Template] = {}
        while True:
            key = self.tokens.pop(0)
            value = ANYTHING
            if self.tokens[0] == ":":
                del self.tokens[0]
                value = self.value()
            if not key.startswith('"'):
                assert self.tokens.pop(0) == "}", self.text
                return Template(any_member=value)
            members[key.strip('"')] = value
            if self.tokens.pop(0) == "}":
                return Template(members=members)
