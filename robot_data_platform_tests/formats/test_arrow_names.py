from __future__ import annotations

import pyarrow as pa
import pytest

from robot_data_platform.formats.arrow_names import column_names

INNER = pa.struct([pa.field("tiefé", pa.int8())])
SCHEMA = pa.schema([pa.field("höhe", pa.int8()), pa.field("liste", pa.list_(INNER))])


def test_names_of_columns_are_returned_in_order() -> None:
    assert column_names(SCHEMA) == ["höhe", "liste"]


@pytest.mark.parametrize("name", ["höhe", "tiefé"])
def test_a_name_at_any_depth_that_is_no_text_is_refused(name: str) -> None:
    text = name.encode()
    stored = SCHEMA.serialize().to_pybytes()
    damaged = pa.ipc.read_schema(pa.py_buffer(stored.replace(text, text.replace(b"\xc3", b"\x80"))))
    with pytest.raises(UnicodeDecodeError):
        column_names(damaged)
