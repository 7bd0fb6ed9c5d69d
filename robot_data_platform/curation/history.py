"""What specs of the same scheme assigned before, asked for some groups or episodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from robot_data_platform.curation.assign import NO_SPLIT
from robot_data_platform.storage.predicate import equals
from robot_data_platform.storage.table import LakeTable

Int64Array = npt.NDArray[np.int64]

ROWS_AT_ONCE = 1 << 20
"""Rows of ``splits`` in memory at a time: about 100 MB of group names."""


class History:
    """The assignments of a scheme that a version of ``splits`` holds."""

    def __init__(self, splits: LakeTable, scheme_digest: str) -> None:
        self._splits = splits
        self._where = equals("scheme_digest", scheme_digest)

    def split_of(self, groups: pa.Array, splits: Sequence[str]) -> Int64Array:
        """Return the place in ``splits`` of each group's split, (G,); `NO_SPLIT` for a new one."""
        found = np.full(len(groups), NO_SPLIT, dtype=np.int64)
        names = pa.array(splits, pa.string())
        for rows in self._parts(("group", "split")):
            at = pc.index_in(rows["group"], value_set=groups)
            place = pc.index_in(rows["split"], value_set=names).filter(at.is_valid())
            found[at.drop_null().to_numpy()] = place.to_numpy()
        return found

    def holds(self, episode_ids: pa.Array) -> npt.NDArray[np.bool_]:
        """Return whether each episode was assigned before, (E,)."""
        found = np.zeros(len(episode_ids), dtype=np.bool_)
        for rows in self._parts(("episode_id",)):
            at = pc.index_in(rows["episode_id"], value_set=episode_ids)
            found[at.drop_null().to_numpy()] = True
        return found

    def _parts(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Yield the rows, so many at a time that looking them up is worth its preparation."""
        held: list[pa.RecordBatch] = []
        for batch in self._splits.batches(columns, self._where):
            held.append(batch)
            if sum(len(one) for one in held) >= ROWS_AT_ONCE:
                yield pa.Table.from_batches(held)
                held = []
        if held:
            yield pa.Table.from_batches(held)
