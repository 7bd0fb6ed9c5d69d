"""Tables of a lake that an older release made: they get the columns that came since."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robot_data_platform.storage.commit import grow_schema

if TYPE_CHECKING:
    import pyarrow as pa

    from robot_data_platform.storage.table import LakeTable


def with_columns_of(table: LakeTable, schema: pa.Schema) -> LakeTable:
    """Return a table with every column of ``schema``; those that it lacked are null."""
    absent = [field for field in schema if field.name not in table.schema.names]
    return grow_schema(table.uri, absent, {}) if absent else table
