"""``meta/episodes`` of LeRobot v3: one row per episode, columnar, looked up by value."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from robot_data_platform.core.recording import Int64Array
from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.data_files import unreadable
from robot_data_platform.formats.parquet_files import open_parquet, read_table
from robot_data_platform.formats.vectors import to_float64, to_int64

_LEROBOT_PREFIXES = ("data", "videos", "meta/", "stats/")
_LEROBOT_COLUMNS = frozenset(
    {"episode_index", "tasks", "length", "dataset_from_index", "dataset_to_index"}
)
REQUIRED_COLUMNS = frozenset({"episode_index", "length"})
"""Columns without which a metadata file declares no episode."""
ABSENT = -1
"""Stands for null in an integer column of pointers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeTable:
    """The rows of some metadata files, without their statistics."""

    table: pa.Table
    files: tuple[str, ...]
    """The metadata files it was read from."""
    file_number: Int64Array
    """(E,) position in ``files`` of each row's file."""
    episode_index: Int64Array
    """(E,) the episodes' own numbers; in any order, maybe with gaps."""
    order: npt.NDArray[np.intp]
    """(E,) rows in the order of ``episode_index``."""
    num_rows: Int64Array
    """(E,) claimed rows."""

    def row_of(self, episode_index: int, label: str) -> int:
        """Return the row of an episode.

        Raises
        ------
        DataFaultError
            ``metadata-contradiction``: it has no row, or several.
        """
        first, stop = (
            int(np.searchsorted(self.episode_index, episode_index, side, sorter=self.order))
            for side in ("left", "right")
        )
        if stop - first != 1:
            raise DataFaultError(
                f"Episode {episode_index} of {label!r} is not declared once: got {stop - first} "
                f"rows in {list(self.files)}, expected 1. Correct the episodes' metadata.",
                kind=ErrorKind.METADATA_CONTRADICTION,
                episode_index=episode_index,
            )
        return int(self.order[first])

    def integers(self, *names: str) -> Int64Array:
        """Return the first of some columns that is there as int64; ``ABSENT`` for null or none."""
        name = next((n for n in names if n in self.table.column_names), None)
        if name is None:
            return np.full(len(self.episode_index), ABSENT, dtype=np.int64)
        return to_int64(self.table[name], f"meta/episodes column {name!r}", ABSENT)

    def seconds(self, name: str) -> npt.NDArray[np.float64]:
        """Return a column of times as float64 seconds; null or absent is NaN."""
        if name not in self.table.column_names:
            return np.full(len(self.episode_index), np.nan)
        return to_float64(self.table[name], f"meta/episodes column {name!r}")

    def tasks(self, row: int) -> tuple[str, ...]:
        """Return the task texts that a row lists."""
        value = self.table["tasks"][row].as_py() if "tasks" in self.table.column_names else None
        return tuple(map(str, value)) if isinstance(value, list) else ()

    def other_fields(self, row: int) -> Mapping[str, str]:
        """Return the fields of a row that LeRobot doesn't define, as JSON text."""
        own = [
            name
            for name in self.table.column_names
            if name not in _LEROBOT_COLUMNS and not name.startswith(_LEROBOT_PREFIXES)
        ]
        values = {name: self.table[name][row].as_py() for name in own}
        return {k: json.dumps(v, default=str) for k, v in values.items() if v is not None}


def read_episode_table(
    source: Source, files: Sequence[str]
) -> tuple[EpisodeTable, dict[str, DataFaultError]]:
    """Return the rows of every readable metadata file, and the fault of each other one.

    Raises
    ------
    DataFaultError
        ``shape-mismatch``: ``episode_index`` or ``length`` holds something else than numbers.
        ``metadata-contradiction``: a column has two types that don't go together.
    """
    tables: dict[str, pa.Table] = {}
    faults: dict[str, DataFaultError] = {}
    for relative in files:
        try:
            tables[relative] = _read(source, relative)
        except DataFaultError as fault:
            faults[relative] = fault
    empty = pa.table({name: pa.array([], pa.int64()) for name in sorted(REQUIRED_COLUMNS)})
    table = _merged([*tables.values()] or [empty])
    numbers = to_int64(table["episode_index"], "meta/episodes column 'episode_index'")
    return (
        EpisodeTable(
            table=table,
            files=tuple(tables),
            file_number=np.repeat(np.arange(len(tables)), [t.num_rows for t in tables.values()]),
            episode_index=numbers,
            order=np.argsort(numbers, kind="stable"),
            num_rows=to_int64(table["length"], "meta/episodes column 'length'", ABSENT),
        ),
        faults,
    )


def _merged(tables: Sequence[pa.Table]) -> pa.Table:
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowException as err:
        raise DataFaultError(
            f"Files of meta/episodes differ in their columns: got {err}, expected one type for "
            "each column. Write them again.",
            kind=ErrorKind.METADATA_CONTRADICTION,
        ) from err


def _read(source: Source, relative: str) -> pa.Table:
    with open_parquet(source, relative) as file:
        names = file.schema_arrow.names
        if not set(names) >= REQUIRED_COLUMNS:
            got = f"got columns {names}, expected {sorted(REQUIRED_COLUMNS)} among them"
            raise unreadable(source, relative, got)
    return read_table(source, relative, [n for n in names if not n.startswith("stats/")])
