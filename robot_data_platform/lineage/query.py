"""From a model or a release back to its sources, from the lake's own tables alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TypedDict

import numpy as np
import numpy.typing as npt
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

Int64Array = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

_FILE = ["path", "sha256"]
_NO_FILES = pa.schema([(name, pa.string()) for name in _FILE]).empty_table()


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
    assigned = _assigned(lake, release, model)
    facts = _origins(lake, release, np.sort(assigned["episode_index"].to_numpy()))
    return Lineage(
        model=model["model"] if model else None,
        dataset=release["dataset"],
        release=release["release"],
        digest=release["digest"],
        tables=versions_of(release["tables"]),
        episodes=sorted(assigned["episode_id"].to_pylist()),
        uploads=facts.uploads,
        sources=facts.sources,
        runs=list(dict.fromkeys(_runs(lake, release, model, facts))),
        code_version=_code_version(release, model),
    )


def _assigned(lake: Lake, release: ReleaseRow, model: ModelRow | None) -> pa.Table:
    """Return id and index of the episodes of a release, or of a model's splits of it."""
    rows = release_episodes(lake, release, ["episode_id", "episode_index", "split"])
    if model is None:
        return rows
    return rows.filter(pc.is_in(rows["split"], value_set=pa.array(model["splits"], pa.string())))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Origins:
    """Where some episodes come from; each list sorted."""

    uploads: list[str]
    runs: list[str]
    sources: list[SourceFile]


def _origins(lake: Lake, release: ReleaseRow, indices: Int64Array) -> _Origins:
    """Return where the episodes of some indices, which rise, come from.

    A release's version of ``episodes`` has each of them under the index it was assigned with.
    """
    version = versions_of(release["tables"])["episodes"]
    columns = ["episode_index", "upload", "run_id", "source_paths", "source_sha256"]
    uploads: set[str] = set()
    runs: set[str] = set()
    files = [_NO_FILES]
    for batch in lake.open(release["dataset"], "episodes", version).batches(columns):
        is_held = _is_among(batch["episode_index"].to_numpy(), indices)
        uploads.update(batch["upload"].filter(pa.array(is_held)).unique().to_pylist())
        runs.update(batch["run_id"].filter(pa.array(is_held)).unique().to_pylist())
        files.append(_files(batch["source_paths"], batch["source_sha256"], is_held))
    return _Origins(uploads=sorted(uploads), runs=sorted(runs), sources=_sources(files))


def _is_among(values: Int64Array, rising: Int64Array) -> BoolArray:
    if not len(rising):
        return np.zeros(len(values), dtype=np.bool_)
    at = np.minimum(np.searchsorted(rising, values), len(rising) - 1)
    is_same: BoolArray = rising[at] == values
    return is_same


def _files(paths: pa.ListArray, hashes: pa.ListArray, is_held: BoolArray) -> pa.Table:
    """Return the different files of a batch of episodes."""
    wanted = pa.array(is_held[pc.list_parent_indices(paths).to_numpy()])
    flat = [column.flatten().filter(wanted) for column in (paths, hashes)]
    return pa.table(flat, _FILE).group_by(_FILE).aggregate([]).select(_FILE)


def _sources(files: Sequence[pa.Table]) -> list[SourceFile]:
    different = pa.concat_tables(files).group_by(_FILE).aggregate([]).to_pylist()
    in_order = sorted(different, key=lambda file: (file["path"], file["sha256"] or ""))
    return [{"path": file["path"], "sha256": file["sha256"]} for file in in_order]


def _runs(
    lake: Lake,
    release: ReleaseRow,
    model: ModelRow | None,
    origins: _Origins,
) -> Iterator[str]:
    if model:
        yield model["run_id"]
    yield release["run_id"]
    for edge in reversed(_last_edges(lake, release, set(origins.uploads))):
        yield edge["run_id"]
    yield from origins.runs


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
