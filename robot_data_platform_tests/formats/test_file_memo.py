"""What was parsed is kept until its file changes."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from robot_data_platform.formats.file_memo import FileMemo
from robot_data_platform.storage.source import LocalSource


class Parser:
    """Parses files named a, b and c, and writes down which."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.parsed: list[str] = []
        self.memo: FileMemo[str] = FileMemo(max_entries=2)
        for name in ("a", "b", "c"):
            (folder / name).write_text(name)

    def get(self, name: str, detail: str = "") -> str:
        source = LocalSource(self.folder)
        return self.memo.get(source, (name,), self._parse(name + detail), detail=detail)

    def _parse(self, value: str) -> Callable[[], str]:
        def parse() -> str:
            self.parsed.append(value)
            return value

        return parse


@pytest.fixture
def parser(tmp_path: Path) -> Parser:
    return Parser(tmp_path)


def test_an_unchanged_file_is_parsed_once_even_through_another_source(parser: Parser) -> None:
    assert [parser.get("a") for _ in range(3)] == ["a", "a", "a"]
    assert parser.parsed == ["a"]


def test_a_changed_file_is_parsed_again(parser: Parser) -> None:
    for stamp in (1, 2):
        os.utime(parser.folder / "a", ns=(stamp, stamp))
        parser.get("a")
    assert parser.parsed == ["a", "a"]


def test_only_the_last_few_values_are_kept(parser: Parser) -> None:
    for name in ("a", "b", "a", "c", "a", "b"):
        parser.get(name)
    assert parser.parsed == ["a", "b", "c", "b"]


def test_values_of_one_file_are_told_apart_by_detail(parser: Parser) -> None:
    assert [parser.get("a", detail) for detail in ("x", "y", "x")] == ["ax", "ay", "ax"]
