"""What a lake holds, as plain values with stable keys, for the CLI and for whoever asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

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
    from collections.abc import Iterable

    from robot_data_platform.storage.lake import Lake


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


class FindingFacts(TypedDict):
    """One finding about a published episode, or about its upload."""

    episode_index: int | None
    rule: str
    severity: str
    value: float | None
    threshold: float | None
    unit: str
    where: str
    message: str


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
    episodes = list_episodes(lake, dataset)
    tables = ("gops", "frames", "episodes", "quality", "spatial", "splits")
    opened = {name: lake.find(dataset, name) for name in tables}
    return DatasetFacts(
        dataset=dataset,
        episodes=len(episodes),
        rows=sum(e["rows"] for e in episodes),
        seconds=round(sum(e["seconds"] for e in episodes), 3),
        cameras=sorted({name for e in episodes for name in e["cameras"]}),
        flagged=sum(e["status"] == STATUS_FLAGGED for e in episodes),
        quarantined=sum(e["status"] == STATUS_QUARANTINED for e in episodes),
        uploads=len({e["upload"] for e in episodes}),
        releases=[row["release"] for row in list_releases(lake, dataset)],
        versions={name: table.version for name, table in opened.items() if table is not None},
    )


def list_episodes(lake: Lake, dataset: str) -> list[EpisodeFacts]:
    """Return every published episode of a dataset, by index; those in quarantine too.

    Raises
    ------
    NotFoundError
        ``dataset-not-found``.
    """
    columns = ["episode_id", "episode_index", "source_episode_index", "task", "num_rows"]
    columns += ["start_ns", "end_ns", "cameras", "status", "status_reason", "source_key", "upload"]
    rows = lake.open(dataset, "episodes").read(columns).to_pylist()
    return [
        EpisodeFacts(
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
        for row in sorted(rows, key=lambda row: int(row["episode_index"]))
    ]


_VERSION_COLUMNS = ("ingestion_id", "q_version", "s_version")
"""Columns of ``episodes`` that say which findings hold."""
_FINDING = ("rules_version", *FindingFacts.__annotations__)


def list_findings(
    lake: Lake,
    dataset: str,
    *,
    episode_index: int | None = None,
    rule: str | None = None,
    severity: str | None = None,
) -> list[FindingFacts]:
    """Return the findings that hold for what is published now.

    Those of an earlier ingestion, or of earlier rules, are left out.
    """
    published = lake.open(dataset, "episodes")
    columns = [name for name in _VERSION_COLUMNS if name in published.schema.names]
    episodes = published.read(["episode_index", *columns])
    tables = [lake.find(dataset, name) for name in ("quality", "spatial")]
    valid = _valid_pairs(episodes.to_pylist())
    ingestions = set(episodes["ingestion_id"].to_pylist())
    where = all_of(
        equals("episode_index", episode_index) if episode_index is not None else None,
        equals("rule", rule) if rule else None,
        equals("severity", severity) if severity else None,
    )
    rows = [row for t in tables if t is not None for row in t.read(_FINDING, where).to_pylist()]
    held = [r for r in rows if _holds(r, valid, ingestions)]
    return [
        FindingFacts(
            episode_index=row["episode_index"] if row["episode_index"] >= 0 else None,
            rule=row["rule"],
            severity=row["severity"],
            value=row["value"],
            threshold=row["threshold"],
            unit=row["unit"],
            where=row["where"],
            message=row["message"],
        )
        for row in sorted(held, key=lambda r: (r["episode_index"], r["rule"], r["where"] or ""))
    ]


def _valid_pairs(episodes: Iterable[dict[str, object]]) -> set[tuple[object, object]]:
    """Return (episode_index, rules_version) of the findings that hold now."""
    pairs = set()
    for row in episodes:
        pairs |= {(row["episode_index"], row.get(name)) for name in _VERSION_COLUMNS}
    return pairs


def _holds(
    row: dict[str, object], valid: set[tuple[object, object]], ingestions: set[object]
) -> bool:
    if row["episode_index"] == -1:
        return row["rules_version"] in ingestions
    return (row["episode_index"], row["rules_version"]) in valid


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
    episodes = list_episodes(lake, dataset)
    for facts in episodes:
        if episode in (facts["episode_id"], str(facts["episode_index"])):
            return facts
    raise NotFoundError(
        f"Dataset {dataset!r} has no episode {episode!r}: expected an episode_id or one of the "
        f"indices {[e['episode_index'] for e in episodes][:20]}. See `rdp episodes {dataset}`.",
        kind=ErrorKind.EPISODE_NOT_FOUND,
        dataset=dataset,
        episode=episode,
    )
