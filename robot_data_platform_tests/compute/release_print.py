"""Everything that releases give, as one digest each."""

from __future__ import annotations

import hashlib

import numpy as np

from robot_data_platform.reader import RobotLanceDataset
from robot_data_platform.storage.catalog import release_episodes, versions_of
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.snapshot import ReleaseRow, list_releases
from robot_data_platform.storage.table import BLOB_COLUMN, LakeTable


def release_prints(lake: Lake) -> dict[str, str]:
    """Return a digest by release: of each row, GOP, item and split that a reader can get of it."""
    return {row["release_key"]: _print(lake, row) for row in list_releases(lake)}


def _print(lake: Lake, row: ReleaseRow) -> str:
    digest = hashlib.sha256(str(sorted(row.items())).encode())
    for name, version in versions_of(row["tables"]).items():
        _add_table(digest, lake.open(row["dataset"], name, version))
    splits = release_episodes(lake, row, ["episode_id", "split"]).to_pylist()
    for split in sorted({entry["split"] for entry in splits}):
        digest.update(str(sorted(e["episode_id"] for e in splits if e["split"] == split)).encode())
        rows = RobotLanceDataset(lake.root, row["dataset"], release=row["release"], split=split)
        for item in rows.__getitems__(range(len(rows))):
            for key in sorted(item):
                digest.update(key.encode() + np.asarray(item[key]).tobytes())
    return digest.hexdigest()


def _add_table(digest: hashlib._Hash, table: LakeTable) -> None:
    rows = table.read(with_row_id=True)
    # By value: what Arrow holds beneath a null is anything.
    digest.update(repr(rows.to_pylist()).encode())
    if BLOB_COLUMN in table.schema.names:
        for blob in table.read_blobs(rows["_rowid"].to_numpy()):
            digest.update(blob)
