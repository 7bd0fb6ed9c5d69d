"""Fingerprints of a dataset's episodes, and which of them have something in common."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from robot_data_platform.core.finding import STATUS_QUARANTINED
from robot_data_platform.core.measurement_schema import MEASUREMENTS
from robot_data_platform.quality.measurements import MEASUREMENTS_VERSION
from robot_data_platform.quality.rules.copies import EpisodePrint
from robot_data_platform.storage.predicate import all_of, equals, is_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    from robot_data_platform.storage.lake import Lake
    from robot_data_platform.storage.table import LakeTable

MIN_SHARED_HASHES = 8
"""Of the 64 that are kept: with fewer in common, two episodes are nothing of each other."""
MAX_HOLDERS = 50
"""A row that more episodes hold, such as the robot's rest, tells nothing."""

_COLUMNS = ["content_digest", "camera", "digest", "sketch", "num_distinct_rows", "num_moving"]


def read_prints(
    lake: Lake, dataset: str, episodes: LakeTable, indices: set[int]
) -> dict[int, EpisodePrint]:
    """Return the fingerprints of some episodes, and of those before them that are like any.

    Memory holds what is alike, and a batch of the others.
    """
    mine = {digest for digest, _, _ in _holders(episodes, is_in("episode_index", sorted(indices)))}
    table = lake.open(dataset, MEASUREMENTS)
    prints = _prints(table, mine)
    kept = [own.sketch for own in prints.values()]
    hashes = np.unique(np.concatenate([*kept, np.zeros(0, dtype=np.int64)]).astype(np.int64))
    alike = alike_digests(table, hashes, [own.rows_digest for own in prints.values()])
    holders = _holders(episodes, is_in("content_digest", sorted(mine | alike)))
    prints |= _prints(table, {digest for digest, _, _ in holders} - mine)
    return {
        index: _named(prints[digest], index, name)
        for digest, index, name in holders
        if digest in prints
    }


def _holders(episodes: LakeTable, where: str) -> list[tuple[str, int, str]]:
    """Return content, index and name of some episodes; copies within an upload share the first."""
    columns = ["content_digest", "episode_index", "source_key", "upload", "status"]
    return [
        (row["content_digest"], row["episode_index"], f"{row['source_key']} of {row['upload']}")
        for row in episodes.read(columns, where).to_pylist()
        if row["status"] != STATUS_QUARANTINED
    ]


def _prints(table: LakeTable, digests: set[str]) -> dict[str, EpisodePrint]:
    """Return the fingerprint of each content."""
    where = is_in("content_digest", sorted(digests))
    own: dict[str, Mapping[str, object]] = {}
    pictures: dict[str, dict[str, str]] = {}
    for row in table.read(["measurements_version", *_COLUMNS], where).to_pylist():
        if row["measurements_version"] != MEASUREMENTS_VERSION:
            continue
        if row["camera"] is None:
            own[row["content_digest"]] = row
        else:
            pictures.setdefault(row["content_digest"], {})[row["camera"]] = row["digest"]
    return {
        digest: EpisodePrint(
            episode_index=-1,
            name="",
            rows_digest=str(row["digest"]),
            pictures_digests=pictures.get(digest, {}),
            sketch=np.asarray(row["sketch"], dtype=np.int64),
            num_distinct=int(str(row["num_distinct_rows"])),
            num_moving=int(str(row["num_moving"])),
        )
        for digest, row in own.items()
    }


def _named(known: EpisodePrint, index: int, name: str) -> EpisodePrint:
    return EpisodePrint(
        episode_index=index,
        name=name,
        rows_digest=known.rows_digest,
        pictures_digests=known.pictures_digests,
        sketch=known.sketch,
        num_distinct=known.num_distinct,
        num_moving=known.num_moving,
    )


def alike_digests(
    table: LakeTable, hashes: npt.NDArray[np.int64], rows_digests: Sequence[str]
) -> set[str]:
    """Return the contents that share row hashes, or all values, with some."""
    alike: set[str] = set()
    columns = ["content_digest", "digest", "sketch"]
    where = all_of(equals("measurements_version", MEASUREMENTS_VERSION), "`camera` IS NULL")
    for batch in table.batches(columns, where):
        is_alike = pc.or_(
            pc.greater_equal(num_shared(batch["sketch"], hashes), MIN_SHARED_HASHES),
            pc.is_in(batch["digest"], value_set=pa.array(rows_digests, pa.string())),
        )
        alike.update(batch["content_digest"].filter(is_alike).to_pylist())
    return alike


def num_shared(sketches: pa.ListArray, hashes: npt.NDArray[np.int64]) -> pa.Array:
    """Return how many values of each list are among some hashes; of a null none."""
    values = np.ascontiguousarray(sketches.flatten().to_numpy())
    # Few values share their last 16 bits with a hash, so few have to be looked up whole.
    is_likely = np.zeros(1 << 16, dtype=np.bool_)
    is_likely[hashes & 0xFFFF] = True
    likely = np.flatnonzero(is_likely[values & 0xFFFF])
    shared = likely[np.isin(values[likely], hashes)]
    of_list = pc.list_parent_indices(sketches).to_numpy()[shared]
    return pa.array(np.bincount(of_list, minlength=len(sketches)))


def earlier_alike(
    prints: Mapping[int, EpisodePrint], indices: set[int]
) -> Iterator[tuple[EpisodePrint, dict[int, EpisodePrint]]]:
    """Yield each of some episodes with those before it that have something in common with it."""
    holders: dict[int, list[int]] = {}
    equal: dict[str, list[int]] = {}
    for index in sorted(prints):
        mine = prints[index]
        hashes = mine.sketch.tolist()
        if index in indices:
            shared = Counter(
                other
                for h in hashes
                if len(holders.get(h, ())) <= MAX_HOLDERS
                for other in holders.get(h, ())
            )
            near = {other for other, count in shared.items() if count >= MIN_SHARED_HASHES}
            near |= set(equal.get(mine.rows_digest, [])[:1])
            yield mine, {other: prints[other] for other in sorted(near)}
        for h in hashes:
            holders.setdefault(h, []).append(index)
        equal.setdefault(mine.rows_digest, []).append(index)
