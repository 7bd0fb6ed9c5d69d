"""What a lake holds, as plain values with stable keys, for the CLI and for whoever asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
import pyarrow.compute as pc

from robot_data_platform.core.finding import (
    STATUS_FLAGGED,
    STATUS_QUARANTINED,
)
from robot_data_platform.core.time_base import NS_PER_S
from robot_data_platform.errors import ErrorKind, NotFoundError
from robot_data_platform.storage.predicate import all_of, equals, in_slot, is_in
from robot_data_platform.storage.snapshot import list_releases

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from robot_data_platform.storage.lake import Lake
    from robot_data_platform.storage.table import LakeTable


class DatasetFacts(TypedDict):
    """One dataset."""

    dataset: str
    episodes: int
    rows: int
    seconds: float
    cameras: list[str]
    flagged: int
    quarantined: int
    uploads: int
    releases: list[str]
    versions: dict[str, int]


class CameraFacts(TypedDict):
    """One camera stream of an episode, measured."""

    frames: int
    codec: str
    profile: str
    fps: float | None


class EpisodeFacts(TypedDict):
    """One published episode."""

    episode_id: str
    episode_index: int
    source_episode_index: int | None
    task: str | None
    rows: int
    seconds: float
    cameras: dict[str, CameraFacts]
    status: str
    reason: str | None
    source: str
    upload: str


class TableFacts(TypedDict):
    """One table at a version."""

    uri: str
    version: int


class Quarantined(TypedDict):
    """One episode that could not be ingested."""

    source: str
    reason: str


class IngestCounts(TypedDict):
    """Episodes of an upload by how they ended; flagged ones are converted too."""

    converted: int
    flagged: int
    quarantined: int


class IngestFacts(TypedDict):
    """What an ingestion came to."""

    dataset: str
    upload: str
    episodes: IngestCounts
    rows: int
    gops: int
    seconds: float
    tables: dict[str, TableFacts]
    quarantined: list[Quarantined]


def dataset_facts(lake: Lake, dataset: str) -> DatasetFacts:
    """Return one dataset's totals."""
    columns = ["num_rows", "start_ns", "end_ns", "status", "upload"]
    rows = lake.open(dataset, "episodes").read(columns)
    lasts_ns = pc.subtract(pc.fill_null(rows["end_ns"], 0), pc.fill_null(rows["start_ns"], 0))
    tables = ("gops", "frames", "episodes", "quality", "spatial", "splits")
    opened = {name: lake.find(dataset, name) for name in tables}
    return DatasetFacts(
        dataset=dataset,
        episodes=rows.num_rows,
        rows=pc.sum(rows["num_rows"]).as_py() or 0,
        seconds=round((pc.sum(lasts_ns).as_py() or 0) / NS_PER_S, 3),
        cameras=_camera_names(lake.open(dataset, "episodes")),
        flagged=_count(rows["status"], STATUS_FLAGGED),
        quarantined=_count(rows["status"], STATUS_QUARANTINED),
        uploads=len(rows["upload"].unique()),
        releases=[row["release"] for row in list_releases(lake, dataset)],
        versions={name: table.version for name, table in opened.items() if table is not None},
    )


def _count(column: pa.ChunkedArray, value: str) -> int:
    return pc.sum(pc.equal(column, value)).as_py() or 0


def _camera_names(episodes: LakeTable) -> list[str]:
    names: set[str] = set()
    for batch in episodes.batches(["cameras"]):
        of_batch = pc.struct_field(pc.list_flatten(batch["cameras"]), "name")
        names.update(of_batch.unique().to_pylist())
    return sorted(names)


def list_episodes(
    lake: Lake,
    dataset: str,
    *,
    status: str | None = None,
    task: str | None = None,
    robot: str | None = None,
    upload: str | None = None,
    limit: int | None = None,
) -> list[EpisodeFacts]:
    """Return the published episodes of a dataset, by index; those in quarantine too.

    Parameters
    ----------
    status, task, robot, upload : str, optional
        Only episodes with this value.
    limit : int, optional
        Only the first so many.

    Raises
    ------
    NotFoundError
        ``dataset-not-found``.
    """
    wanted = {"status": status, "task": task, "robot": robot, "upload": upload}
    where = all_of(*(equals(name, value) for name, value in wanted.items() if value is not None))
    return _episodes(lake.open(dataset, "episodes"), where, limit)


_EPISODE_COLUMNS = (
    *("episode_id", "episode_index", "source_episode_index", "task", "num_rows", "start_ns"),
    *("end_ns", "cameras", "status", "status_reason", "source_key", "upload"),
)


def _episodes(table: LakeTable, where: str | None, limit: int | None = None) -> list[EpisodeFacts]:
    if limit is None:
        rows = table.read(_EPISODE_COLUMNS, where).sort_by("episode_index")
    else:
        keys = table.read(["episode_index"], where, with_row_id=True).sort_by("episode_index")
        rows = table.take(keys["_rowid"].to_numpy()[:limit], _EPISODE_COLUMNS)
    return [_episode_facts(row) for row in rows.to_pylist()]


def _episode_facts(row: Mapping[str, Any]) -> EpisodeFacts:
    return EpisodeFacts(
        episode_id=row["episode_id"],
        episode_index=row["episode_index"],
        source_episode_index=row["source_episode_index"],
        task=row["task"],
        rows=row["num_rows"],
        seconds=((row["end_ns"] or 0) - (row["start_ns"] or 0)) / NS_PER_S,
        cameras={
            c["name"]: CameraFacts(
                frames=c["num_frames"], codec=c["codec"], profile=c["profile"], fps=c["fps"]
            )
            for c in row["cameras"] or ()
        },
        status=row["status"],
        reason=row["status_reason"],
        source=row["source_key"],
        upload=row["upload"],
    )


def ingest_facts(lake: Lake, dataset: str, upload: str, seconds: float) -> IngestFacts:
    """Return what the ingestion of an upload came to, read from the tables."""
    names = ("gops", "frames", "episodes", "quality", "spatial")
    tables = {name: lake.open(dataset, name) for name in names}
    rows = tables["episodes"].read(
        ["episode_index", "status", "status_reason", "source_key", "num_rows"],
        equals("upload", upload),
    )
    lost = [r for r in rows.to_pylist() if r["status"] == STATUS_QUARANTINED]
    num_flagged = pc.sum(pc.equal(rows["status"], STATUS_FLAGGED)).as_py() or 0
    indices = is_in("episode_index", rows["episode_index"].to_pylist())
    return IngestFacts(
        dataset=dataset,
        upload=upload,
        episodes=IngestCounts(
            converted=rows.num_rows - len(lost), flagged=num_flagged, quarantined=len(lost)
        ),
        rows=pc.sum(rows["num_rows"]).as_py() or 0,
        gops=tables["gops"].count_rows(all_of(indices, in_slot(0))),
        seconds=round(seconds, 3),
        tables={n: TableFacts(uri=t.uri, version=t.version) for n, t in tables.items()},
        quarantined=[Quarantined(source=r["source_key"], reason=r["status_reason"]) for r in lost],
    )


def find_episode(lake: Lake, dataset: str, episode: str) -> EpisodeFacts:
    """Return an episode by its id, or by its index as text.

    Raises
    ------
    NotFoundError
        ``episode-not-found``.
    """
    table = lake.open(dataset, "episodes")
    keys = [equals("episode_id", episode)]
    keys += [equals("episode_index", int(episode))] if _is_index(episode) else []
    for facts in _episodes(table, " OR ".join(keys)):
        return facts
    indices = np.sort(table.read(["episode_index"])["episode_index"].to_numpy())[:20].tolist()
    raise NotFoundError(
        f"Dataset {dataset!r} has no episode {episode!r}: expected an episode_id or one of the "
        f"indices {indices}. See `rdp episodes {dataset}`.",
        kind=ErrorKind.EPISODE_NOT_FOUND,
        dataset=dataset,
        episode=episode,
    )


def _is_index(text: str) -> bool:
    """Return whether a text is an index as it is printed, of at most 18 digits."""
    return text.isascii() and text.isdecimal() and len(text) <= 18 and text == str(int(text))
