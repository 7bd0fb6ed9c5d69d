"""What a lake holds: as a reader is shown it, row by row, and file by file."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import lance
import numpy as np

from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.core.finding import STATUS_QUARANTINED
from robot_data_platform.reader import RobotLanceDataset
from robot_data_platform.reader.items import Item
from robot_data_platform.storage.lake import CATALOG
from robot_data_platform.storage.table import LakeTable

TABLES = ("gops", "frames", "episodes", "quality", "spatial", "measurements")

Shown = dict[str, str]
"""By episode id: ``quarantined``, or the digest of every row and picture that a reader gives."""


def shown(place: Workplace, dataset: str) -> Shown:
    """Return what a dataset shows to whoever opens it now."""
    table = place.lake.find(dataset, "episodes")
    rows = table.read(["episode_id", "episode_index", "status"]).to_pylist() if table else []
    whole = {r["episode_index"]: r["episode_id"] for r in rows if r["status"] != STATUS_QUARANTINED}
    found = {r["episode_id"]: STATUS_QUARANTINED for r in rows}
    assert len(found) == len(rows), f"an episode is there twice: {rows}"
    if not whole:
        return found
    items = _items(place, dataset, sorted(whole))
    for index, name in whole.items():
        found[name] = _digest(item for item in items if item["episode_index"] == index)
    return found


def _items(place: Workplace, dataset: str, episodes: list[int]) -> list[Item]:
    view = RobotLanceDataset(place.lake_root, dataset, episodes=episodes)
    return view.__getitems__(range(len(view)))


def _digest(items: Iterator[Item]) -> str:
    digest = hashlib.sha256()
    for item in items:
        for key in sorted(item):
            value = np.asarray(item[key])
            told = value.tobytes() if value.dtype != object else str(item[key]).encode()
            digest.update(key.encode() + told)
    return digest.hexdigest()


def rows_of_tables(place: Workplace, dataset: str) -> dict[str, list[str]]:
    """Return every row of a dataset's tables and of its catalog, visible or not, as sorted text."""
    found = {name: place.lake.find(dataset, name) for name in TABLES}
    found[f"{CATALOG}/uploads"] = place.lake.find_catalog("uploads")
    folder = place.lake_root.rpartition("/")[0]
    return {name: _rows(table, folder) for name, table in found.items() if table is not None}


def _rows(table: LakeTable, folder: str) -> list[str]:
    # Some messages name a file of the landing folder.
    return sorted(str(row).replace(folder, "") for row in table.read().to_pylist())


def damaged_gops(place: Workplace, dataset: str) -> list[int]:
    """Return the key of every GOP whose bytes are not those that its checksum was made of."""
    table = place.lake.find(dataset, "gops")
    rows = table.read(["gop_key", "sha256"], with_row_id=True) if table else None
    if table is None or rows is None or not rows.num_rows:
        return []
    blobs = table.read_blobs(rows["_rowid"].to_numpy().astype(np.uint64))
    sums = [hashlib.sha256(blob).hexdigest() for blob in blobs]
    named = zip(rows["gop_key"].to_pylist(), rows["sha256"].to_pylist(), sums, strict=True)
    return [key for key, stated, found in named if stated != found]


def garbage_after_clean_up(place: Workplace) -> list[str]:
    """Clean up every table of a local lake; return the files that no table's version names."""
    root = Path(place.lake_root)
    left = [path for path in root.rglob("*") if path.is_file()]
    for folder in sorted(root.glob("*/*.lance")):
        table = lance.dataset(str(folder))
        table.cleanup_old_versions(older_than=timedelta(0), delete_unverified=True)
        named = set(_named(folder, lance.dataset(str(folder))))
        left = [path for path in left if path.is_file() and path not in named]
    return sorted(str(path.relative_to(root)) for path in left)


def _named(folder: Path, table: lance.LanceDataset) -> Iterator[Path]:
    """Yield the files of a table's latest version, the only one that clean-up has left."""
    for part in ("_versions", "_transactions"):
        yield from (folder / part).iterdir()
    for fragment in table.get_fragments():
        if fragment.deletion_file():
            yield folder / str(fragment.deletion_file())
        for file in fragment.data_files():
            path = folder / "data" / file.path
            yield path
            yield from path.with_suffix("").glob("*.blob")
