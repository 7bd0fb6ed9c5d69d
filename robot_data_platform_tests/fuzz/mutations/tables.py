"""Wrong types and absurd values in the columns of Parquet and Arrow files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from robot_data_platform_tests.formats.lerobot_v1_files import read_stream, write_stream
from robot_data_platform_tests.fuzz.mutations.tree import Change, Mutation, Promise, Tree

SUFFIXES = (".parquet", ".arrow")
ABSURD = (10**12, -1, -(2**63), 2**63 - 1, 0)
USUAL = ("text", "words", "nulls")
"""What a column may well hold."""
Edit = Callable[[pa.Table, str], tuple[pa.Table, str, Promise] | None]
"""Makes another table, and says what became of the column."""


def _read(path: Path) -> pa.Table:
    return pq.read_table(path) if path.suffix == ".parquet" else read_stream(path)


def _write(path: Path, table: pa.Table) -> None:
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        write_stream(path, table)


def _edited(tree: Tree, edit: Edit) -> Change | None:
    relative = tree.pick(*SUFFIXES)
    if relative is None:
        return None
    path = tree.root / relative
    table = _read(path)
    if not table.column_names:
        return None
    name = tree.random.choice(table.column_names)
    edited = edit(table, name)
    if edited is None:
        return None
    table, what, told = edited
    _write(path, table)
    if tree.seed.is_optional(relative):  # of which nothing else says what is in it
        told = Promise.TYPED
    return Change(what=f"{relative}: column {name!r} {what}", promise=told)


def _replaced(table: pa.Table, name: str, values: pa.Array | pa.ChunkedArray) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, values)


def wrong_type(tree: Tree) -> Change | None:
    """Store a column's values as another type."""

    def edit(table: pa.Table, name: str) -> tuple[pa.Table, str, Promise]:
        num = table.num_rows
        kind, values = tree.random.choice(
            [
                ("text", pa.array([f"{value}" for value in table[name].to_pylist()])),
                ("words", pa.array([f"x{k}" for k in range(num)])),
                ("bytes", pa.array([b"\xff"] * num)),
                ("nulls", pa.nulls(num, table[name].type)),
                ("nothing", pa.nulls(num)),
                ("lists", pa.array([[[1.0]]] * num)),
                ("uneven lists", pa.array([[0.0] * (k % 3) for k in range(num)])),
                ("empty lists", pa.array([[]] * num, pa.list_(pa.float32(), 0))),
                ("structs", pa.array([{"bytes": 1, "path": {"a": None}}] * num)),
                ("times", pa.array(np.arange(num), pa.timestamp("us", "UTC"))),
                ("decimals", pa.array([None] * num, pa.decimal256(60, 2))),
            ]
        )
        told = Promise.TYPED if kind in USUAL else Promise.EQUAL
        return _replaced(table, name, values), f"holds {kind}", told

    return _edited(tree, edit)


def absurd_value(tree: Tree) -> Change | None:
    """Put an absurd number, or none, in a row of a column of numbers."""

    def edit(table: pa.Table, name: str) -> tuple[pa.Table, str, Promise] | None:
        kind = table[name].type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)) or not table.num_rows:
            return None
        values = table[name].to_pylist()
        row = tree.random.randrange(len(values))
        new = tree.random.choice([*ABSURD, None])
        values[row] = float(new) if new is not None and pa.types.is_floating(kind) else new
        return (
            _replaced(table, name, pa.array(values, kind)),
            f"row {row} became {new}",
            Promise.TYPED,
        )

    return _edited(tree, edit)


def missing_column(tree: Tree) -> Change | None:
    """Leave a column out."""

    def edit(table: pa.Table, name: str) -> tuple[pa.Table, str, Promise]:
        return table.drop_columns([name]), "is gone", Promise.PARTLY

    return _edited(tree, edit)


def doubled_column(tree: Tree) -> Change | None:
    """Let two columns have one name."""

    def edit(table: pa.Table, name: str) -> tuple[pa.Table, str, Promise]:
        return table.append_column(name, table[name]), "is there twice", Promise.EQUAL

    return _edited(tree, edit)


def missing_rows(tree: Tree) -> Change | None:
    """Leave all rows out, or one, or put one in twice."""

    def edit(table: pa.Table, _: str) -> tuple[pa.Table, str, Promise] | None:
        if not table.num_rows:
            return None
        row = tree.random.randrange(table.num_rows)
        head, tail = table.slice(0, row), table.slice(row + 1)
        kind = tree.random.choice(["none left", "one gone", "all from there twice"])
        parts = {
            "none left": [table.slice(0, 0)],
            "one gone": [head, tail],
            "all from there twice": [table, tail],
        }[kind]
        return pa.concat_tables(parts), f"and all others: {kind} at row {row}", Promise.TYPED

    return _edited(tree, edit)


def shuffled_rows(tree: Tree) -> Change | None:
    """Store the rows in another order."""

    def edit(table: pa.Table, _: str) -> tuple[pa.Table, str, Promise]:
        order = list(range(table.num_rows))
        tree.random.shuffle(order)
        return table.take(order), f"and all others: rows in order {order}", Promise.EQUAL

    return _edited(tree, edit)


TABLES: dict[str, Mutation] = {
    "wrong_type": wrong_type,
    "absurd_value": absurd_value,
    "missing_column": missing_column,
    "doubled_column": doubled_column,
    "missing_rows": missing_rows,
    "shuffled_rows": shuffled_rows,
}
