"""What a table says of its columns, corrected in place: no row changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robot_data_platform.storage.attempts import tried
from robot_data_platform.storage.faults import store_errors
from robot_data_platform.storage.table import LakeTable, open_table

if TYPE_CHECKING:
    from collections.abc import Mapping

Entries = dict[str, str | None]


def restate(
    uri: str,
    of_table: Mapping[str, str | None],
    of_columns: Mapping[str, Mapping[str, str | None]],
) -> LakeTable:
    """Set entries of the schema's and of columns' metadata; return the latest version.

    Nothing is committed where the table says all of it.

    Parameters
    ----------
    uri : str
        The table.
    of_table : mapping
        Entries of the schema's metadata; None removes one, others stay.
    of_columns : mapping
        The same by column; each column has to be there.

    Raises
    ------
    CommitConflictError
        ``commit-conflict``: other writers won too many times in a row.
    """

    def restated() -> LakeTable:
        table = open_table(uri)
        stale = _stale(of_table, table.metadata)
        stale_by_column = {
            name: entries
            for name, wanted in of_columns.items()
            if (entries := _stale(wanted, _held(table, name)))
        }
        if not stale and not stale_by_column:
            return table
        with store_errors(uri):
            if stale:
                table.lance.update_schema_metadata(stale)
            if stale_by_column:
                open_table(uri).lance.update_field_metadata(stale_by_column)
        return open_table(uri)

    return tried(uri, restated)


def _held(table: LakeTable, column: str) -> dict[str, str]:
    held = table.schema.field(column).metadata or {}
    return {key.decode(): value.decode() for key, value in held.items()}


def _stale(wanted: Mapping[str, str | None], held: Mapping[str, str]) -> Entries:
    return {key: value for key, value in wanted.items() if held.get(key) != value}
