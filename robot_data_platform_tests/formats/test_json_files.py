"""JSON that takes more memory or depth than it is worth is refused by the file's name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.json_files import read_json, read_json_lines
from robot_data_platform.storage.source import LocalSource

GROWN_BYTES = 3 << 30
"""Zeros that take no space on disk, and would in memory."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A whole file."""
    file = tmp_path / "a.json"
    file.write_text('{"a": 1}\n')
    return file


def refused(path: Path) -> DataFaultError:
    with pytest.raises(DataFaultError, match=r"'a\.json' of .* can't be read") as caught:
        read_json(LocalSource(path.parent), "a.json")
    assert caught.value.kind is ErrorKind.UNREADABLE_FILE
    str(caught.value).encode()
    return caught.value


def test_a_file_larger_than_any_metadata_is_refused_unread(path: Path) -> None:
    os.truncate(path, GROWN_BYTES)
    assert f"got {GROWN_BYTES} bytes, expected at most" in str(refused(path))


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '{"a":' * 100_000, '{"a": ' + "1" * 100_000 + "}", '{"a": "\\ud800"}', "[]"],
    ids=["deep", "deep objects", "digits", "half a letter", "no object"],
)
def test_a_text_that_no_program_wrote_is_refused(path: Path, text: str) -> None:
    path.write_text(text)
    refused(path)


def test_a_letter_of_two_halves_is_one(path: Path) -> None:
    path.write_text('{"a": "\\ud83e\\udd16"}')
    assert read_json(LocalSource(path.parent), "a.json") == {"a": "\N{ROBOT FACE}"}


def test_a_line_without_end_is_refused_unread(path: Path) -> None:
    os.truncate(path, GROWN_BYTES)
    with pytest.raises(DataFaultError, match="got a line of"):
        read_json_lines(LocalSource(path.parent), "a.json", {})
