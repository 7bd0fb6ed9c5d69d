"""How many rows share a GOP."""

from __future__ import annotations

import numpy as np

from robot_data_platform.reader.gop_jobs import NO_PICTURE
from robot_data_platform.reader.view import View

DEFAULT_ROWS = 64
"""Rows where no camera is read: neighbouring rows share pages of the table then, not GOPs."""

MAX_ROWS_LOOKED_AT = 10_000


def rows_per_gop(view: View) -> int:
    """Return the most rows that share a GOP in the first episode."""
    if not len(view.index):
        return DEFAULT_ROWS
    num_rows = min(int(view.index.start[1]), MAX_ROWS_LOOKED_AT)
    refs = view.rows.take(np.arange(num_rows)).refs.values()
    keys = [ref.gop_key[ref.gop_key != NO_PICTURE] for ref in refs]
    spans = [int(np.unique(key, return_counts=True)[1].max()) for key in keys if len(key)]
    return max(spans, default=DEFAULT_ROWS)
