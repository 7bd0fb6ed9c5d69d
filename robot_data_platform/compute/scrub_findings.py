"""What a scrub found, written to ``quality``, where listings, checks and metrics find it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.finding_rows import EpisodeKeys, finding_row
from robot_data_platform.core.identity import GOP_INDEX_BITS
from robot_data_platform.storage.commit import append_rows
from robot_data_platform.storage.predicate import all_of, equals, is_in

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from robot_data_platform.core.run import RunInfo
    from robot_data_platform.storage.lake import Lake
    from robot_data_platform.storage.table import LakeTable

STAGE = "scrub"
RULE = "gop_hash_matches"
"""The rule of the quality checks that the same damage breaks."""


def record_damaged_gops(
    lake: Lake, dataset: str, gop_keys: Sequence[int], run: RunInfo
) -> LakeTable | None:
    """Write a finding for each damaged GOP of a published episode, once; return ``quality``.

    It holds as long as the ingestion is published that the GOP belongs to; damage of rows that
    nothing published names is left to the clean-up.
    """
    if not gop_keys:
        return None
    where = is_in("gop_key", gop_keys)
    damaged = lake.open(dataset, "gops").read(["gop_key", "episode_index", "camera"], where)
    quality = lake.ensure(dataset, "quality")
    rows = _rows(lake, dataset, damaged.to_pylist())
    known = _known(quality, {row["episode_index"] for row in rows})
    new = [row for row in rows if (row["episode_index"], row["where"]) not in known]
    if not new:
        return quality
    append_rows(
        quality.uri,
        pa.Table.from_pylist(new, schema=quality.schema),
        properties=run.properties(),
        is_done=lambda at: (
            {(r["episode_index"], r["where"]) for r in new}
            <= _known(at, {r["episode_index"] for r in new})
        ),
    )
    return lake.open(dataset, "quality")


def _rows(lake: Lake, dataset: str, damaged: list[dict[str, object]]) -> list[dict[str, object]]:
    columns = ["episode_index", "episode_id", "upload", "ingestion_id"]
    indices = {int(str(gop["episode_index"])) for gop in damaged}
    published = lake.open(dataset, "episodes").read(columns, is_in("episode_index", indices))
    by_index = {row["episode_index"]: row for row in published.to_pylist()}
    return [
        finding_row(
            EpisodeKeys(
                episode_index=row["episode_index"],
                episode_id=row["episode_id"],
                upload=row["upload"],
            ),
            _finding(int(str(gop["gop_key"])), str(gop["camera"])),
            stage=STAGE,
            rules_version=row["ingestion_id"],
        )
        for gop in damaged
        if (row := by_index.get(gop["episode_index"]))
    ]


def _finding(gop_key: int, camera: str) -> Finding:
    number = gop_key & ((1 << GOP_INDEX_BITS) - 1)
    return Finding(
        rule=RULE,
        severity=Severity.FAIL,
        message=f"GOP {number} of camera {camera!r} (gop_key {gop_key}) has another sha256 than "
        "stored. Restore its file from a copy, or ingest the upload again.",
        where=f"camera={camera} gop_key={gop_key}",
        value=1,
        threshold=0,
        unit="gops",
    )


def _known(quality: LakeTable, indices: Collection[object]) -> set[tuple[object, object]]:
    where = all_of(
        equals("stage", STAGE),
        equals("rule", RULE),
        is_in("episode_index", [int(str(index)) for index in indices]),
    )
    rows = quality.read(["episode_index", "where"], where).to_pylist()
    return {(row["episode_index"], row["where"]) for row in rows}
