"""Renditions of a dataset: recorded in its ``gops`` table, made by ingestion and afterwards."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from robot_data_platform.compute.episodes_map import Fanout, Progress, map_episodes
from robot_data_platform.compute.spooled_gops import (
    ROWS_PER_BATCH,
    SpooledGop,
    gop_row,
    row_batches,
    spool_file,
    spooled,
)
from robot_data_platform.core.finding import STATUS_QUARANTINED
from robot_data_platform.core.gop import Gop, StreamFormat
from robot_data_platform.core.gop_rows import packet_index, stream_format
from robot_data_platform.core.rendition import (
    MAX_RENDITIONS,
    RENDITIONS_KEY,
    Rendition,
    parse_rendition,
    rendition_ref_id,
)
from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.storage.commit import commit_fragments, set_metadata, write_rows
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.predicate import all_of, in_slot, is_in
from robot_data_platform.storage.table import BLOB_COLUMN
from robot_data_platform.video.decode import GopDecoder
from robot_data_platform.video.rendition import render_gop

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from robot_data_platform.core.run import RunInfo
    from robot_data_platform.storage.table import LakeTable

EPISODES_PER_TASK = 8
MAX_ROUNDS = 5
"""Times that what another writer left missing is made in turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RenditionResult:
    """What adding a rendition came to."""

    dataset: str
    rendition: str
    num_episodes: int
    """Episodes that got it now."""
    num_gops: int
    """GOPs that were made now."""
    gops_version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderTask:
    """Episodes to render, at one version of ``gops``."""

    lake_root: str
    dataset: str
    gops_version: int
    rendition: Rendition
    slot: int
    episode_index: tuple[int, ...]


class Renderer:
    """Makes the renditions of GOPs, one after the other; holds a decoder."""

    def __init__(self, slot_by_rendition: Mapping[Rendition, int]) -> None:
        self._slot_by_rendition = slot_by_rendition
        self._decoder = GopDecoder()

    def spool(
        self, row: Mapping[str, object], gop: Gop, form: StreamFormat, spool: IO[bytes]
    ) -> list[SpooledGop]:
        """Return the rows of a GOP's renditions, with their payloads in a file.

        ``row`` is the GOP's own row, ``form`` how it is coded.
        """
        rows = []
        for rendition, slot in self._slot_by_rendition.items():
            rendered, coded = render_gop(gop, form, rendition, self._decoder)
            key = rendition_ref_id(int(str(row["ref_id"])), slot)
            pts_ns = np.asarray(row["pts_ns"], dtype=np.int64)
            new = gop_row(key, str(row["camera"]), rendered, coded, pts_ns)
            rows.append(spooled(new, rendered.data, spool))
        return rows


def recorded_renditions(gops: LakeTable) -> dict[Rendition, int]:
    """Return the slot of each rendition that a dataset has."""
    names = json.loads(gops.metadata.get(RENDITIONS_KEY, "[]"))
    return {parse_rendition(name): slot for slot, name in enumerate(names, start=1)}


def add_rendition(
    lake: Lake,
    dataset: str,
    rendition: Rendition,
    fanout: Fanout,
    run: RunInfo,
    progress: Progress | None = None,
) -> RenditionResult:
    """Record a rendition, and make it for every published episode that lacks it.

    Ingestions that start afterwards make it by themselves. Pictures as recorded, and what any
    release holds, stay untouched. A second call makes what is missing, as a rule nothing.

    Raises
    ------
    NotFoundError
        ``dataset-not-found``.
    InvalidInputError
        ``invalid-argument``: the dataset has as many renditions as there is room for.
    DataFaultError
        ``gop-damaged``: a GOP does not decode; nothing is added.
    """
    slot = _record(lake.open(dataset, "gops"), rendition)
    num_episodes = num_gops = 0
    for _ in range(MAX_ROUNDS):
        gops = lake.open(dataset, "gops")
        missing = _missing(lake, dataset, gops, slot)
        if not missing:
            break
        tasks = [
            RenderTask(
                lake_root=lake.root,
                dataset=dataset,
                gops_version=gops.version,
                rendition=rendition,
                slot=slot,
                episode_index=tuple(missing[start : start + EPISODES_PER_TASK]),
            )
            for start in range(0, len(missing), EPISODES_PER_TASK)
        ]
        fragments = _render_all(tasks, fanout, progress)
        if _commit(gops.uri, fragments, slot, missing, run):
            num_episodes, num_gops = num_episodes + len(missing), num_gops + _num_rows(fragments)
    return RenditionResult(
        dataset=dataset,
        rendition=rendition.name,
        num_episodes=num_episodes,
        num_gops=num_gops,
        gops_version=lake.open(dataset, "gops").version,
    )


def _record(gops: LakeTable, rendition: Rendition) -> int:
    """Return the rendition's slot, after giving it the next one where it has none."""

    def with_rendition(metadata: Mapping[str, str]) -> dict[str, str]:
        names = json.loads(metadata.get(RENDITIONS_KEY, "[]"))
        if rendition.name in names:
            return {}
        if len(names) >= MAX_RENDITIONS:
            raise _no_room(gops, names, rendition)
        return {RENDITIONS_KEY: json.dumps([*names, rendition.name])}

    return recorded_renditions(set_metadata(gops.uri, with_rendition))[rendition]


def _missing(lake: Lake, dataset: str, gops: LakeTable, slot: int) -> list[int]:
    """Return the published episodes that have pictures and lack the rendition, sorted."""
    rows = lake.open(dataset, "episodes").read(["episode_index", "status"])
    live = rows.filter(pc.not_equal(rows["status"], STATUS_QUARANTINED))["episode_index"]
    own, made = (
        set(gops.read(["episode_index"], in_slot(n))["episode_index"].unique().to_pylist())
        for n in (0, slot)
    )
    return sorted((set(live.to_pylist()) & own) - made)


def _render_all(
    tasks: Sequence[RenderTask], fanout: Fanout, progress: Progress | None
) -> list[str]:
    outcomes = map_episodes(render_episodes, tasks, fanout, progress)
    return [fragment for outcome in outcomes for fragment in outcome.result()]


def render_episodes(task: RenderTask) -> list[str]:
    """Render some episodes and write them as one fragment (runs in a worker)."""
    gops = Lake(task.lake_root).open(task.dataset, "gops", task.gops_version)
    with spool_file() as spool:
        rows = [row for index in task.episode_index for row in _render(task, gops, index, spool)]
        return write_rows(gops.uri, gops.schema, row_batches(rows, spool, gops.schema))


def _render(
    task: RenderTask, gops: LakeTable, episode_index: int, spool: IO[bytes]
) -> Iterator[SpooledGop]:
    renderer = Renderer({task.rendition: task.slot})
    columns = [name for name in gops.schema.names if name != BLOB_COLUMN]
    where = all_of(in_slot(0), is_in("episode_index", [episode_index]))
    table = gops.read(columns, where, with_row_id=True).sort_by("gop_key")
    for start in range(0, table.num_rows, ROWS_PER_BATCH):
        part = table.slice(start, ROWS_PER_BATCH)
        blobs = gops.read_blobs(part["_rowid"].to_numpy())
        for row, blob in zip(part.to_pylist(), blobs, strict=True):
            yield from renderer.spool(row, _gop(row, blob), stream_format(row), spool)


def _gop(row: Mapping[str, object], data: bytes) -> Gop:
    number = {name: int(str(row[name])) for name in ("gop_index", "first_frame", "num_frames")}
    return Gop(packets=packet_index(row), data=data, **number)


def _commit(
    uri: str, fragments: Sequence[str], slot: int, missing: Sequence[int], run: RunInfo
) -> bool:
    """Add the rows, unless another writer has added some of them meanwhile."""
    theirs = all_of(in_slot(slot), is_in("episode_index", missing))
    committed = commit_fragments(
        uri,
        fragments,
        properties=run.properties(),
        is_done=lambda at: at.count_rows(theirs) > 0,
    )
    return committed.is_new


def _num_rows(fragments: Sequence[str]) -> int:
    return sum(int(json.loads(fragment)["physical_rows"]) for fragment in fragments)


def _no_room(gops: LakeTable, names: Sequence[str], rendition: Rendition) -> InvalidInputError:
    return InvalidInputError(
        f"Table {gops.uri!r} has no room for rendition {rendition.name!r}: got "
        f"{', '.join(names)}, expected at most {MAX_RENDITIONS} in all. Scale on reading with "
        "image_size instead.",
        kind=ErrorKind.INVALID_ARGUMENT,
        rendition=rendition.name,
    )
