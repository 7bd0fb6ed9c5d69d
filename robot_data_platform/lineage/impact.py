"""From an episode, an upload or a source file to the releases and models that contain it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import pyarrow as pa
import pyarrow.compute as pc

from robot_data_platform.errors import ErrorKind, NotFoundError
from robot_data_platform.lineage.names import near
from robot_data_platform.storage.catalog import list_models, release_episodes, versions_of
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.predicate import equals, is_in, literal
from robot_data_platform.storage.snapshot import ReleaseRow, list_releases
from robot_data_platform.storage.table import LakeTable

_NOTHING = pa.schema([("episode_id", pa.string()), ("split", pa.string())]).empty_table()
_SHA256 = re.compile(r"[0-9a-f]{64}")
MOST_LISTED = 10_000
"""Ids in one predicate; for more, reading the whole assignment takes no longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImpactedRelease:
    """A release that holds what was asked for."""

    dataset: str
    release: str
    digest: str
    episodes_by_split: dict[str, int]
    """How many of its episodes come from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImpactedModel:
    """A model that was trained on what was asked for."""

    model: str
    dataset: str
    release: str
    num_episodes: int
    """How many of the episodes that it was trained on come from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Impact:
    """Everything that an episode, an upload or a source file went into."""

    query: str
    """What was asked for."""
    episodes: list[str]
    """Ids of the episodes that come from it, in any release or in the lake now; sorted."""
    releases: list[ImpactedRelease]
    models: list[ImpactedModel]

    def to_json(self) -> dict[str, object]:
        """Return the same as plain values, as `rdp impact --json` prints it."""
        return asdict(self)


def impact_of(lake: Lake, query: str) -> Impact:
    """Return the releases and models that contain something.

    Parameters
    ----------
    query : str
        An episode's id, an upload's name, or the sha256 of a source file.

    Raises
    ------
    NotFoundError
        ``episode-not-found`` for what looks like an episode's id, else ``upload-not-found``: the
        lake never had it, as far as its releases and its present tables say.
    """
    episodes = set(_present(lake, query))
    releases, splits = [], {}
    for row in list_releases(lake):
        touched = _touched(lake, row, query)
        if len(touched):
            episodes.update(touched["episode_id"].to_pylist())
            splits[row["release_key"]] = Counter(touched["split"].to_pylist())
            releases.append(_impacted(row, splits[row["release_key"]]))
    if not episodes:
        raise _unknown(lake, query)
    return Impact(
        query=query,
        episodes=sorted(episodes),
        releases=releases,
        models=list(_models(lake, splits)),
    )


def _impacted(row: ReleaseRow, counts: Counter[str]) -> ImpactedRelease:
    return ImpactedRelease(
        dataset=row["dataset"],
        release=row["release"],
        digest=row["digest"],
        episodes_by_split=dict(sorted(counts.items())),
    )


def _touched(lake: Lake, release: ReleaseRow, query: str) -> pa.Table:
    """Return id and split of the episodes of a release that come from what was asked for."""
    version = versions_of(release["tables"])["episodes"]
    ids = _matching(lake.open(release["dataset"], "episodes", version), query)
    if not ids:
        return _NOTHING
    if len(ids) <= MOST_LISTED:
        return release_episodes(lake, release, _NOTHING.column_names, is_in("episode_id", ids))
    assigned = release_episodes(lake, release, _NOTHING.column_names)
    return assigned.filter(pc.field("episode_id").isin(ids))


def _present(lake: Lake, query: str) -> Iterator[str]:
    for dataset in lake.datasets():
        episodes = lake.find(dataset, "episodes")
        if episodes is not None:
            yield from _matching(episodes, query)


def _matching(episodes: LakeTable, query: str) -> list[str]:
    conditions = [equals("episode_id", query), equals("upload", query)]
    if _SHA256.fullmatch(query):  # what else it may be is never in a list, which is long to scan
        conditions.append(f"array_has(source_sha256, {literal(query)})")
    found = episodes.read(["episode_id"], " OR ".join(conditions))
    ids: list[str] = found["episode_id"].to_pylist()
    return ids


def _models(lake: Lake, splits: dict[str, Counter[str]]) -> Iterator[ImpactedModel]:
    for model in list_models(lake):
        held = splits.get(f"{model['dataset']}/{model['release']}", Counter())
        num_episodes = sum(held[split] for split in model["splits"])
        if num_episodes:
            yield ImpactedModel(
                model=model["model"],
                dataset=model["dataset"],
                release=model["release"],
                num_episodes=num_episodes,
            )


def _unknown(lake: Lake, query: str) -> NotFoundError:
    uploads = lake.find_catalog("uploads")
    names = uploads.read(["upload"])["upload"].to_pylist() if uploads else []
    return NotFoundError(
        f"{query!r} is no episode, upload or source hash in {lake.root!r}: near are uploads "
        f"{near(query, names)}. List episodes with `rdp episodes`.",
        kind=ErrorKind.EPISODE_NOT_FOUND if query.startswith("ep_") else ErrorKind.UPLOAD_NOT_FOUND,
        query=query,
    )
