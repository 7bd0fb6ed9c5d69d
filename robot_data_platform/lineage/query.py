"""From a model or a release back to its sources, from the lake's own tables alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TypedDict

import pyarrow as pa
import pyarrow.compute as pc

from robot_data_platform.lineage.names import resolve
from robot_data_platform.storage.catalog import (
    EdgeRow,
    ModelRow,
    list_edges,
    release_episodes,
    versions_of,
)
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.snapshot import ReleaseRow

_FILE = ["path", "sha256"]


class SourceFile(TypedDict):
    """A file of an upload."""

    path: str
    sha256: str | None
    """None where the upload's manifest doesn't list the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    """What exactly a model was trained on, or what a release holds."""

    model: str | None
    """None where a release was asked for."""
    dataset: str
    release: str
    digest: str
    """Digest of the release."""
    tables: dict[str, int]
    """Version of each table that the release pins."""
    episodes: list[str]
    """Ids, sorted: those of the model's splits, or all of the release."""
    uploads: list[str]
    """Uploads that these episodes came in, sorted."""
    sources: list[SourceFile]
    """Files of the uploads that these episodes were read from, sorted by path."""
    runs: list[str]
    """Ids of the runs that made it: training, release, curation and checks, ingestion."""
    code_version: str
    """Commit of the training code where it is known, else the version of this package."""

    def to_json(self) -> dict[str, object]:
        """Return the same as plain values, as `rdp lineage --json` prints it."""
        return asdict(self)


def lineage_of(lake: Lake, name: str) -> Lineage:
    """Return where a model or a release comes from.

    Parameters
    ----------
    name : str
        A model, ``dataset/release``, or a release that only one dataset has.

    Raises
    ------
    NotFoundError
        ``model-not-found`` or ``release-not-found``; the message lists near matches.
    InvalidInputError
        ``invalid-argument``: several datasets have a release of that name.
    """
    model, release = resolve(lake, name)
    episodes = _episodes(lake, release, model)
    uploads = pc.unique(episodes["upload"]).to_pylist()
    return Lineage(
        model=model["model"] if model else None,
        dataset=release["dataset"],
        release=release["release"],
        digest=release["digest"],
        tables=versions_of(release["tables"]),
        episodes=sorted(episodes["episode_id"].to_pylist()),
        uploads=sorted(uploads),
        sources=_sources(episodes),
        runs=list(dict.fromkeys(_runs(lake, release, model, episodes, set(uploads)))),
        code_version=_code_version(release, model),
    )


def _episodes(lake: Lake, release: ReleaseRow, model: ModelRow | None) -> pa.Table:
    """Return the rows of ``episodes``, at the release's version, that are in its splits."""
    assigned = release_episodes(lake, release, ["episode_index", "split"])
    if model:
        assigned = assigned.filter(pc.field("split").isin(model["splits"]))
    version = versions_of(release["tables"])["episodes"]
    columns = ["episode_index", "episode_id", "upload", "source_paths", "source_sha256", "run_id"]
    rows = lake.open(release["dataset"], "episodes", version).read(columns)
    # A release holds each episode under the index that it was assigned with.
    return rows.filter(pc.field("episode_index").isin(assigned["episode_index"]))


def _sources(episodes: pa.Table) -> list[SourceFile]:
    parts = [
        pa.table([batch["source_paths"].flatten(), batch["source_sha256"].flatten()], _FILE)
        .group_by(_FILE)
        .aggregate([])
        for batch in episodes.select(["source_paths", "source_sha256"]).to_batches()
    ]
    files = pa.concat_tables(parts).group_by(_FILE).aggregate([]).to_pylist() if parts else []
    in_order = sorted(files, key=lambda file: (file["path"], file["sha256"] or ""))
    return [{"path": file["path"], "sha256": file["sha256"]} for file in in_order]


def _runs(
    lake: Lake,
    release: ReleaseRow,
    model: ModelRow | None,
    episodes: pa.Table,
    uploads: set[str],
) -> Iterator[str]:
    if model:
        yield model["run_id"]
    yield release["run_id"]
    for edge in reversed(_last_edges(lake, release, uploads)):
        yield edge["run_id"]
    yield from sorted(pc.unique(episodes["run_id"]).to_pylist())


def _last_edges(lake: Lake, release: ReleaseRow, uploads: set[str]) -> list[EdgeRow]:
    """Return the edges of the last run of each asset and partition that the release can see."""
    versions = versions_of(release["tables"])
    last: dict[tuple[str, str | None, str], EdgeRow] = {}
    for edge in list_edges(lake, release["dataset"]):
        seen = edge["output_version"] <= versions.get(edge["output_table"], -1)
        if seen and (not edge["partition"] or edge["partition"] in uploads):
            last[edge["asset"], edge["partition"], edge["output_table"]] = edge
    return sorted(last.values(), key=lambda edge: edge["created_ns"])


def _code_version(release: ReleaseRow, model: ModelRow | None) -> str:
    if model is None:
        return release["code_version"]
    return model["code_commit"] or model["code_version"]
