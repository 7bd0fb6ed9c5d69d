"""Episode indices that no ingestion will publish any more, given up so that none still can.

Their rows may only be removed when no ingestion can publish them at that very moment, and rows
and publication are in different tables. So the indices are first given up in the metadata of
``episodes``, the table that publishes; a commit of nothing then makes every publication in the
making look again. What is published at that commit stays, and what comes later is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robot_data_platform.core.index_ranges import (
    IndexRange,
    covers,
    merged,
    ranges_from_json,
    ranges_to_json,
    without,
)
from robot_data_platform.core.measurement_schema import MEASUREMENTS
from robot_data_platform.errors import ErrorKind, NotFoundError
from robot_data_platform.storage.commit import set_metadata
from robot_data_platform.storage.predicate import equals, in_range
from robot_data_platform.storage.upkeep import fence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from robot_data_platform.core.run import RunInfo
    from robot_data_platform.storage.lake import Lake
    from robot_data_platform.storage.table import LakeTable

GIVEN_UP_KEY = "rdp.given_up"
"""Schema metadata of ``episodes``: JSON list of half-open ranges of ``episode_index``."""

ROW_TABLES = ("frames", "gops", "quality", "spatial", MEASUREMENTS)
"""Tables whose rows belong to an ingestion by their ``episode_index``."""


def given_up(episodes: LakeTable) -> list[IndexRange]:
    """Return the ranges that a version of ``episodes`` states as given up."""
    return ranges_from_json(episodes.metadata.get(GIVEN_UP_KEY, "[]"))


def is_given_up(episodes: LakeTable | None, indices: IndexRange) -> bool:
    """Return whether an ingestion's indices are given up, and not published all the same.

    Of a published ingestion, those of retired episodes may be given up alone.
    """
    if episodes is None or not covers(given_up(episodes), indices):
        return False
    return episodes.count_rows(in_range("episode_index", *indices)) == 0


def refuse_given_up(episodes: LakeTable, upload: str, indices: IndexRange) -> None:
    """Refuse to publish an ingestion whose rows maintenance has removed or may remove.

    Raises
    ------
    NotFoundError
        ``upload-not-found``: its reservation was given up; a new run reserves anew.
    """
    if is_given_up(episodes, indices):
        raise NotFoundError(
            f"Upload {upload!r} has lost its reservation of episode indices {indices[0]} to "
            f"{indices[1] - 1}: it was not published within the grace of `rdp maintain`. Nothing "
            "of it is visible. Materialize raw_episodes for it again, then the rest.",
            kind=ErrorKind.UPLOAD_NOT_FOUND,
            upload=upload,
            first_episode_index=indices[0],
        )


def unreachable_ranges(lake: Lake, dataset: str, before_ns: int) -> list[IndexRange]:
    """Return the indices that nothing published names and that no young ingestion has reserved.

    Parameters
    ----------
    before_ns : int
        An ingestion that was registered at or after this time may still be running.
    """
    uploads, episodes = lake.find_catalog("uploads"), lake.find(dataset, "episodes")
    reserved: list[IndexRange] = [] if episodes is None else given_up(episodes)
    if uploads is not None:
        columns = ["first_episode_index", "num_episodes", "created_ns"]
        reserved += [
            (row["first_episode_index"], row["first_episode_index"] + row["num_episodes"])
            for row in uploads.read(columns, equals("dataset", dataset)).to_pylist()
            if row["created_ns"] < before_ns
        ]
    return without(reserved, _published(episodes))


def give_up(
    lake: Lake, dataset: str, ranges: Sequence[IndexRange], run: RunInfo
) -> list[IndexRange]:
    """Give up ranges, and return what of them no ingestion has published, nor ever will."""
    uri = lake.ensure(dataset, "episodes").uri
    set_metadata(uri, lambda held: _giving_up(held, ranges))
    return without(ranges, _published(fence(uri, run.properties())))


def _giving_up(held: Mapping[str, str], ranges: Sequence[IndexRange]) -> dict[str, str]:
    before = ranges_from_json(held.get(GIVEN_UP_KEY, "[]"))
    after = merged([*before, *ranges])
    return {GIVEN_UP_KEY: ranges_to_json(after)} if after != before else {}


def _published(episodes: LakeTable | None) -> npt.NDArray[np.int64]:
    if episodes is None:
        return np.empty(0, dtype=np.int64)
    held: npt.NDArray[np.int64] = episodes.read(["episode_index"])["episode_index"].to_numpy()
    return held
