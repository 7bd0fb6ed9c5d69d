"""What rows name, held against what there is: episodes, rows, streams and their GOPs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from robot_data_platform.compute.doctor_finding import Ailment, fail
from robot_data_platform.core.finding import STATUS_QUARANTINED
from robot_data_platform.core.schema import CAMERA_PREFIX, camera_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Set

    from robot_data_platform.storage.table import LakeTable

RESTORE = (
    "Materialize the upload again under a corrected marker, or restore the table from a backup "
    "(docs/operations.md)."
)


def look_at_references(tables: Mapping[str, LakeTable]) -> Iterator[Ailment]:
    """Yield what the published episodes of a dataset name that is not there."""
    if "episodes" not in tables:
        return
    episodes = tables["episodes"].read(["episode_index", "num_rows", "status"])
    live = episodes.filter(pc.not_equal(episodes["status"], STATUS_QUARANTINED))
    expected = dict(
        zip(live["episode_index"].to_pylist(), live["num_rows"].to_pylist(), strict=True)
    )
    held = _count_rows(tables.get("frames"))
    short = {index: num for index, num in expected.items() if held[index] != num}
    if short:
        index, num = next(iter(short.items()))
        yield fail(
            "episodes_have_their_rows",
            tables["episodes"].uri,
            f"{len(short)} episodes have other than their rows: episode_index {index} has "
            f"{held[index]} in frames, expected {num}.",
            RESTORE,
        )
    if "frames" in tables:
        yield from _pictures(tables["frames"], tables.get("gops"), set(expected))


def _count_rows(table: LakeTable | None, column: str = "episode_index") -> Counter[int]:
    found: Counter[int] = Counter()
    for batch in table.batches([column]) if table else ():
        values, num = np.unique(batch[column].to_numpy(), return_counts=True)
        found.update(dict(zip(values.tolist(), num.tolist(), strict=True)))
    return found


def _pictures(frames: LakeTable, gops: LakeTable | None, live: Set[int]) -> Iterator[Ailment]:
    """Yield which streams have fewer GOPs than rows point at; GOPs are numbered from 0."""
    there = _count_rows(gops, "ref_id")
    for camera in camera_names(frames.schema):
        absent = {
            ref_id: last + 1 - there[ref_id]
            for ref_id, last in _last_gops(frames, camera, live).items()
            if there[ref_id] <= last
        }
        if absent:
            first = min(absent)
            yield fail(
                "pictures_have_their_gops",
                frames.uri,
                f"Rows point at {sum(absent.values())} GOPs of camera {camera!r} that are not in "
                f"gops: ref_id {first} has {there[first]}, expected {absent[first]} more.",
                RESTORE,
            )


def _last_gops(frames: LakeTable, camera: str, live: Set[int]) -> dict[int, int]:
    """Return the highest GOP that rows of live episodes point at, by stream."""
    ref, gop = (f"{CAMERA_PREFIX}{camera}_{name}" for name in ("ref_id", "gop_index"))
    found: dict[int, int] = {}
    for batch in frames.batches(["episode_index", ref, gop]):
        is_live = np.isin(batch["episode_index"].to_numpy(), list(live))
        rows = batch.filter(pc.and_(pc.is_valid(batch[ref]), pa.array(is_live)))
        streams, place = np.unique(rows[ref].to_numpy(), return_inverse=True)
        last = np.full(len(streams), -1, dtype=np.int64)
        np.maximum.at(last, place, rows[gop].to_numpy())
        for ref_id, gop_index in zip(streams.tolist(), last.tolist(), strict=True):
            found[ref_id] = max(found.get(ref_id, -1), gop_index)
    return found
