"""What a table takes of its store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.compute as pc

from robot_data_platform.storage.faults import store_errors

if TYPE_CHECKING:
    from robot_data_platform.storage.table import LakeTable


def stored_bytes(table: LakeTable) -> int:
    """Return the size of all files of a table, those of earlier versions included.

    One listing of its folder: a request per thousand files.
    """
    with store_errors(table.uri):
        files = table.lance.all_files().read_all()
    return int(pc.sum(files["size_bytes"]).as_py() or 0)
