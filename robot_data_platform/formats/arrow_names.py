"""Names of Arrow fields, which a damaged file may have as bytes that are no text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa


def column_names(schema: pa.Schema) -> list[str]:
    """Return the names of columns, once those of all fields within them are known to be text.

    Raises
    ------
    UnicodeDecodeError
        A name is not UTF-8. Reading a file does not see to it.
    """
    _decode(schema)
    return list(schema.names)


def _decode(fields: Iterable[pa.Field]) -> None:
    for field in fields:
        _ = field.name
        _decode(field.type.field(number) for number in range(field.type.num_fields))
