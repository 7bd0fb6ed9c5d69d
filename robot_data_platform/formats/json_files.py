"""JSON and JSON-lines files as people really write them: BOM, CRLF, blank lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import cast

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.source import Source
from robot_data_platform.formats.data_files import data_path, unreadable, whole_bytes

MAX_JSON_BYTES = 32 << 20
"""Larger files and lines are refused unread: times of one camera take as much in 7 hours, and
nested lists take 20 times as much in memory."""
JsonObject = dict[str, object]


def read_json(source: Source, relative: str) -> JsonObject:
    """Return the object that a JSON file holds.

    Raises
    ------
    DataFaultError
        ``missing-file``; ``unreadable-file``: not UTF-8, not JSON, not an object, or too large.
    """
    data = whole_bytes(source, relative, MAX_JSON_BYTES)
    try:
        return _object(data.decode("utf-8-sig"), {})
    except (ValueError, RecursionError) as err:
        raise unreadable(source, relative, f"got {err}, expected a JSON object") from err


def read_json_lines(
    source: Source, relative: str, type_by_key: Mapping[str, type]
) -> tuple[list[JsonObject], tuple[Finding, ...]]:
    """Return the object of every line, and a finding for each line that holds none.

    Parameters
    ----------
    source : Source
        Where the file lies.
    relative : str
        Its path there.
    type_by_key : mapping
        Keys that an object must have to count, with the type of each value.

    Raises
    ------
    DataFaultError
        ``missing-file``; ``unreadable-file``: not UTF-8, or a line is too large.
    """
    objects: list[JsonObject] = []
    findings: list[Finding] = []
    for number, line in enumerate(_lines(source, relative), start=1):
        try:
            objects += [_object(line, type_by_key)] if line.strip() else []
        except (ValueError, RecursionError) as err:
            findings.append(_bad_line(relative, number, err))
    return objects, tuple(findings)


def _lines(source: Source, relative: str) -> Iterator[str]:
    with data_path(source, relative).open(encoding="utf-8-sig") as file:
        try:
            while line := file.readline(MAX_JSON_BYTES):
                if len(line) == MAX_JSON_BYTES:
                    got = f"got a line of {MAX_JSON_BYTES} letters or more, expected less"
                    raise unreadable(source, relative, got)
                yield line
        except UnicodeDecodeError as err:
            raise unreadable(source, relative, f"got {err}, expected UTF-8 text") from err


def _object(text: str, type_by_key: Mapping[str, type]) -> JsonObject:
    value = json.loads(text)
    if "\\ud" in text.lower():  # half of a letter is no text: it can be neither printed nor stored
        json.dumps(value, ensure_ascii=False).encode()
    if not isinstance(value, dict):
        raise ValueError(f"a {type(value).__name__}")  # noqa: TRY004 - a value, not an argument
    for key, expected in type_by_key.items():
        if type(value.get(key)) is not expected:
            raise ValueError(f"{key} {value.get(key)!r} which is no {expected.__name__}")
    return cast("JsonObject", value)


def _bad_line(relative: str, number: int, err: Exception) -> Finding:
    return Finding(
        rule="metadata_is_readable",
        severity=Severity.FAIL,
        message=f"Line {number} of {relative!r} was left out: got {err}, expected a JSON object.",
        where=f"{relative} line {number}",
    )
