"""Which episodes of a dataset were retired: no ingestion shows them again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from robot_data_platform.storage.predicate import equals

if TYPE_CHECKING:
    from collections.abc import Collection

    from robot_data_platform.storage.lake import Lake

RETIREMENTS = "retirements"
"""Table of the catalog; a row is never taken back."""


def retired_ids(lake: Lake, dataset: str) -> set[str]:
    """Return the ids of the retired episodes of a dataset."""
    table = lake.find_catalog(RETIREMENTS)
    if table is None:
        return set()
    return set(table.read(["episode_id"], equals("dataset", dataset))["episode_id"].to_pylist())


def without_retired(episodes: pa.Table, retired: Collection[str]) -> pa.Table:
    """Return rows of ``episodes`` without those of retired episodes."""
    if not retired:
        return episodes
    is_retired = pc.is_in(episodes["episode_id"], pa.array(sorted(retired), pa.string()))
    return episodes.filter(pc.invert(is_retired))
