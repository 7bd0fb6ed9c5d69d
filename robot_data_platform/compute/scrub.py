"""GOPs held against their checksums, and what a damaged one touches."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from robot_data_platform.errors import ErrorKind, RobotDataError
from robot_data_platform.storage.catalog import release_episodes, versions_of
from robot_data_platform.storage.predicate import is_in
from robot_data_platform.storage.snapshot import list_releases

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from robot_data_platform.compute.scrub_share import ScrubShare
    from robot_data_platform.storage.lake import Lake
    from robot_data_platform.storage.table import LakeTable

BLOBS_PER_READ = 64
"""Blobs in memory at a time."""

UNREADABLE = (ErrorKind.STORE_FAILED, ErrorKind.TABLE_NOT_FOUND)
"""What reading a blob raises whose file is gone or cut off."""

_COLUMNS = ("gop_key", "sha256", "episode_index", "camera", "gop_index")


@dataclass(frozen=True, slots=True, kw_only=True)
class DamagedGop:
    """A GOP whose bytes are not those that were written."""

    dataset: str
    gop_key: int
    episode_id: str | None
    """None where no episode names it now: only releases or old versions do."""
    episode_index: int
    camera: str
    gop_index: int
    releases: list[str]
    """Releases whose episodes it belongs to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scrubbed:
    """What a scrub looked at, and what it found."""

    num_gops: int
    damaged: list[DamagedGop]


def scrub(lake: Lake, dataset: str, share: ScrubShare, time_ns: int) -> Scrubbed:
    """Hash a share of a dataset's GOPs, those that only a release reaches included.

    Memory holds the dataset's episode indices and `BLOBS_PER_READ` blobs.

    Parameters
    ----------
    share : ScrubShare
        Which part; a run at another day takes the next one.
    time_ns : int
        When the run takes place.
    """
    num_gops, damaged, seen = 0, [], np.empty(0, dtype=np.int64)
    for gops in _reachable(lake, dataset) if share.num_parts else ():
        new = [seen]
        for batch in gops.batches(_COLUMNS, with_row_id=True):
            index = batch["episode_index"].to_numpy()
            in_part = batch["gop_key"].to_numpy() % share.num_parts == share.part_at(time_ns)
            rows = batch.filter(pa.array(in_part & ~np.isin(index, seen)))
            damaged += [row for part in _parts(rows) for row in _damaged(gops, part)]
            num_gops += rows.num_rows
            new.append(np.unique(index))
        seen = np.unique(np.concatenate(new))
    return Scrubbed(num_gops=num_gops, damaged=_described(lake, dataset, damaged))


def _reachable(lake: Lake, dataset: str) -> Iterator[LakeTable]:
    """Yield ``gops`` as it is, then as each release has it."""
    latest = lake.find(dataset, "gops")
    if latest is None:
        return
    yield latest
    versions = {versions_of(row["tables"]).get("gops") for row in list_releases(lake, dataset)}
    for version in sorted(version for version in versions if version is not None):
        if version != latest.version:
            yield lake.open(dataset, "gops", version)


def _parts(rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    for start in range(0, rows.num_rows, BLOBS_PER_READ):
        yield rows.slice(start, BLOBS_PER_READ)


def _damaged(gops: LakeTable, rows: pa.RecordBatch) -> list[dict[str, object]]:
    """Return the rows whose blobs differ from their checksum, or can't be read."""
    try:
        blobs = gops.read_blobs(rows["_rowid"].to_numpy())
    except RobotDataError as err:
        if err.kind not in UNREADABLE:
            raise
        if rows.num_rows == 1:
            return list(rows.to_pylist())
        return [row for n in range(rows.num_rows) for row in _damaged(gops, rows.slice(n, 1))]
    pairs = zip(rows.to_pylist(), blobs, strict=True)
    return [row for row, blob in pairs if hashlib.sha256(blob).hexdigest() != row["sha256"]]


def _described(
    lake: Lake, dataset: str, damaged: Sequence[Mapping[str, object]]
) -> list[DamagedGop]:
    indices = sorted({int(str(row["episode_index"])) for row in damaged})
    if not indices:
        return []
    id_by_index = _ids(lake.find(dataset, "episodes"), indices)
    releases: dict[int, list[str]] = {index: [] for index in indices}
    for release in list_releases(lake, dataset):
        rows = release_episodes(lake, release, ["episode_index", "episode_id"]).to_pylist()
        for row in rows:
            if row["episode_index"] in releases:
                releases[row["episode_index"]].append(release["release"])
                id_by_index.setdefault(row["episode_index"], row["episode_id"])
    return [
        DamagedGop(
            dataset=dataset,
            gop_key=int(str(row["gop_key"])),
            episode_id=id_by_index.get(int(str(row["episode_index"]))),
            episode_index=int(str(row["episode_index"])),
            camera=str(row["camera"]),
            gop_index=int(str(row["gop_index"])),
            releases=releases[int(str(row["episode_index"]))],
        )
        for row in damaged
    ]


def _ids(episodes: LakeTable | None, indices: Sequence[int]) -> dict[int, str]:
    if episodes is None:
        return {}
    rows = episodes.read(["episode_index", "episode_id"], is_in("episode_index", indices))
    return {row["episode_index"]: row["episode_id"] for row in rows.to_pylist()}
