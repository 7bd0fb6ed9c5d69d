"""Path templates of ``info.json``, filled in and matched without ``str.format``'s reach."""

from __future__ import annotations

import re

_FIELD = re.compile(r"\{([a-z_]+)(?::0?(\d{1,2})d)?\}")


class PathTemplate:
    """A template such as ``data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet``.

    Only named fields with an optional zero-padded width are known, so that a template can neither
    look into objects nor ask for a gigabyte of zeros.
    """

    def __init__(self, template: str) -> None:
        self._template = template
        self._fields = _FIELD.split(template)

    def __str__(self) -> str:
        """Return the template as it was written."""
        return self._template

    @property
    def folder(self) -> str:
        """The first folder of every path (``data/``), or an empty string."""
        first, slash, _ = self._fields[0].partition("/")
        return first + slash

    def fill(self, **values: int | str) -> str:
        """Return the path for some values; an unknown field stays as it is written."""
        parts = [self._fields[0]]
        for name, width, text in _triples(self._fields):
            value = values.get(name, f"{{{name}}}")
            parts += [f"{value:0{int(width)}d}" if width and isinstance(value, int) else str(value)]
            parts += [text]
        return "".join(parts)

    def number(self, name: str, path: str) -> int | None:
        """Return the number that a path has in the place of a field, or None if it doesn't fit."""
        pattern = [re.escape(self._fields[0])]
        for field, _, text in _triples(self._fields):
            inside = r"(\d+)" if field == name else r"[^/]+"
            pattern += [inside, re.escape(text)]
        found = re.fullmatch("".join(pattern), path)
        return int(found.group(1)) if found and found.groups() else None


def _triples(fields: list[str]) -> list[tuple[str, str, str]]:
    return [(fields[i], fields[i + 1] or "", fields[i + 2]) for i in range(1, len(fields), 3)]
