"""Fingerprints of a dataset's episodes, and which of them have something in common."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from robot_data_platform.core.finding import STATUS_QUARANTINED
from robot_data_platform.core.measurement_schema import MEASUREMENTS
from robot_data_platform.quality.measurements import MEASUREMENTS_VERSION
from robot_data_platform.quality.rules.copies import EpisodePrint
from robot_data_platform.storage.predicate import equals, is_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
    keys = _episodes_by_digest(episodes)
    mine = {digest for digest, held in keys.items() if any(row[0] in indices for row in held)}
    table = lake.open(dataset, MEASUREMENTS)
    prints = _prints(table, mine)
    hashes = {h for own in prints.values() for h in own.sketch.tolist()}
    digests = {own.rows_digest for own in prints.values()}
    prints |= _prints(table, _alike(table, hashes, digests) & keys.keys() - mine)
    return {
        index: _named(prints[digest], index, name)
        for digest, held in keys.items()
        if digest in prints
        for index, name in held
    }


def _episodes_by_digest(episodes: LakeTable) -> dict[str, list[tuple[int, str]]]:
    """Return index and name of each episode by its content; copies within an upload share one."""
    columns = ["episode_index", "upload", "source_key", "status", "content_digest"]
    keys: dict[str, list[tuple[int, str]]] = {}
    for batch in episodes.batches(columns):
        for row in batch.to_pylist():
            if row["status"] != STATUS_QUARANTINED:
                name = f"{row['source_key']} of {row['upload']}"
                keys.setdefault(row["content_digest"], []).append((row["episode_index"], name))
    return keys


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


def _alike(table: LakeTable, hashes: set[int], digests: set[str]) -> set[str]:
    """Return the contents that share row hashes, or all values, with some."""
    wanted = np.array(sorted(hashes), dtype=np.int64)
    alike: set[str] = set()
    columns = ["content_digest", "camera", "digest", "sketch"]
    for batch in table.batches(columns, equals("measurements_version", MEASUREMENTS_VERSION)):
        for row in batch.to_pylist():
            if row["camera"] is not None:
                continue
            shared = np.isin(np.asarray(row["sketch"], dtype=np.int64), wanted).sum()
            if shared >= MIN_SHARED_HASHES or row["digest"] in digests:
                alike.add(row["content_digest"])
    return alike


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
