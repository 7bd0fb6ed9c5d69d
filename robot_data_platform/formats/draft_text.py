"""A YAML text in which keys that are not stated stand as comments, valid as it is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import yaml

WIDTH = 88
"""Columns after which a list goes on in the next line."""
STEP = "  "
MUST = "FILL IN: "
"""Begins the comment of a key that only a person can state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One key with a value."""

    name: str
    value: object
    """What the data says; or, where nothing says it, an example."""
    is_stated: bool = False
    """Whether the value is the data's; an example is commented out."""
    must: str | None = None
    """What a person has to say here; None = the key may stay as it is."""
    note: str | None = None
    """What else is worth knowing of it."""

    @property
    def has_value(self) -> bool:
        """Whether anything of it is no comment."""
        return self.is_stated


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Keys below a key."""

    name: str
    entries: Sequence[Key | Section]
    note: str | None = None

    @property
    def has_value(self) -> bool:
        """Whether anything of it is no comment."""
        return any(entry.has_value for entry in self.entries)


def draft_yaml(head: Sequence[str], entries: Sequence[Key | Section]) -> str:
    """Return the text: ``head`` as comments, then the entries.

    Words stand behind ``# ``. What is not stated stands behind a ``#`` without a blank, and is
    YAML as it should be without it.
    """
    lines = [f"# {line}" for line in head]
    for entry in entries:
        lines += ["", *_lines(entry, "")]
    return "\n".join(lines) + "\n"


def open_keys(entries: Sequence[Key | Section], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield each key that a person has to fill in, with what is asked."""
    for entry in entries:
        path = f"{prefix}{entry.name}"
        if isinstance(entry, Section):
            yield from open_keys(entry.entries, f"{path}.")
        elif entry.must is not None:
            yield path, entry.must


def _lines(entry: Key | Section, indent: str) -> Iterator[str]:
    mark = "" if entry.has_value else "#"
    if isinstance(entry, Section):
        yield from _words(entry.note, indent)
        yield f"{indent}{mark}{_flow(entry.name)[0]}:"
        for child in entry.entries:
            yield from _lines(child, indent + STEP)
        return
    yield from _words(entry.must and MUST + entry.must, indent)
    yield from _words(entry.note, indent)
    for depth, line in _value_lines(entry.name, entry.value):
        yield f"{indent}{STEP * depth}{mark}{line}"


def _value_lines(name: str, value: object) -> Iterator[tuple[int, str]]:
    """Yield the lines of a key with how deep they stand; a mapping goes below it."""
    if isinstance(value, dict):
        yield 0, f"{_flow(name)[0]}:"
        for key, child in value.items():
            yield from ((depth + 1, line) for depth, line in _value_lines(key, child))
        return
    first, *rest = _flow(value)
    yield 0, f"{_flow(name)[0]}: {first}"
    yield from ((1, line) for line in rest)


def _flow(value: object) -> list[str]:
    as_json = json.dumps(value, ensure_ascii=False)
    if "\\n" in as_json or not as_json.isprintable():
        return [json.dumps(value)]  # is YAML too, and breaks no line inside a text
    text = yaml.safe_dump(value, default_flow_style=True, width=WIDTH, allow_unicode=True)
    return [line.strip() for line in text.removesuffix("...\n").splitlines()]


def _words(text: str | None, indent: str) -> Iterator[str]:
    yield from (f"{indent}# {line}" for line in (text or "").splitlines())
