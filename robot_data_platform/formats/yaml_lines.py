"""Safe YAML that remembers the line of every key."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Protocol

import yaml

KeyPath = tuple[str | int, ...]
MAX_DEPTH = 64
"""Levels of a text; PyYAML's scanner takes the square of their number."""


class _Mark(Protocol):
    @property
    def line(self) -> int: ...


class YamlError(ValueError):
    """What is wrong with a YAML text, and the line it is on."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


def load_yaml(text: str) -> tuple[object, dict[KeyPath, int]]:
    """Return the value of a YAML text, and the 1-based line of each of its keys.

    Parameters
    ----------
    text : str
        One YAML document of plain scalars, lists and mappings.

    Returns
    -------
    value : object
        As ``yaml.safe_load`` returns it; None for an empty text.
    line_by_key : dict
        Line by path: ``("cameras", "top", "fps")``; list items by position.

    Raises
    ------
    YamlError
        It is not YAML, or no text, has a key twice, is nested too deep, or uses an alias (which may
        expand without bound).
    """
    try:
        _refuse_bombs(text)
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        lines = dict(_lines(root, ())) if root is not None else {}
        return yaml.safe_load(text), lines
    except yaml.MarkedYAMLError as err:
        raise YamlError(str(err.problem), _line(err.problem_mark or err.context_mark)) from err
    except (yaml.YAMLError, ValueError, RecursionError) as err:
        raise err if isinstance(err, YamlError) else YamlError(str(err), 1) from err


def line_of(path: tuple[Hashable, ...], line_by_key: dict[KeyPath, int]) -> int:
    """Return the line of a key, or of the closest key above it that the text has."""
    for end in range(len(path), 0, -1):
        line = line_by_key.get(tuple(k for k in path[:end] if isinstance(k, str | int)))
        if line is not None:
            return line
    return 1


def _refuse_bombs(text: str) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.AliasEvent):
            raise YamlError(f"alias '*{event.anchor}' is not allowed", _line(event.start_mark))
        if isinstance(event, yaml.ScalarEvent):
            event.value.encode()  # half of a letter, escaped, is no text
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise YamlError(f"more than {MAX_DEPTH} levels", _line(event.start_mark))


def _line(mark: _Mark | None) -> int:
    return 1 if mark is None else mark.line + 1


def _lines(node: yaml.Node, path: KeyPath) -> Iterator[tuple[KeyPath, int]]:
    if isinstance(node, yaml.SequenceNode):
        for position, item in enumerate(node.value):
            yield (*path, position), _line(item.start_mark)
            yield from _lines(item, (*path, position))
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, item in node.value:
            line = _line(key.start_mark)
            name = str(key.value)
            if name in seen:
                raise YamlError(f"key {name!r} is there twice", line)
            seen.add(name)
            yield (*path, name), line
            yield from _lines(item, (*path, name))
