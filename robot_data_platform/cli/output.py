"""How commands print: tables for people on a terminal, JSON with stable keys for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence

import click
from rich.console import Console
from rich.table import Table

WIDTH_OF_A_FILE = 160
"""Columns of a table that is not printed to a terminal."""


def print_json(value: object) -> None:
    """Print a value as indented JSON; NaN and infinities become null."""
    click.echo(json.dumps(_plain(value), indent=2, allow_nan=False))


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return value


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows as a table as wide as the terminal."""
    table = Table(title=title, title_justify="left", show_edge=False, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*("" if cell is None else str(cell) for cell in row))
    console().print(table)


def console() -> Console:
    """Return the console of standard output; markup in data is never interpreted."""
    width = None if sys.stdout.isatty() else WIDTH_OF_A_FILE
    return Console(markup=False, highlight=False, width=width)
