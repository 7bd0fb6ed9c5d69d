"""What a release holds, and what differs between two."""

from __future__ import annotations

import json
from dataclasses import dataclass

from robot_data_platform.curation.splits import count_by_split
from robot_data_platform.storage.catalog import release_episodes, versions_of
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.snapshot import find_release


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseSummary:
    """A release in one screen."""

    dataset: str
    name: str
    digest: str
    tables: dict[str, int]
    """Version of each table."""
    spec: dict[str, object]
    """The split spec, every key resolved."""
    episodes_by_split: dict[str, int]
    num_episodes: int
    num_rows: int
    created_ns: int
    run_id: str
    code_version: str


def show(lake: Lake, dataset: str, name: str) -> ReleaseSummary:
    """Return what a release holds.

    Raises
    ------
    NotFoundError
        ``release-not-found``.
    """
    row = find_release(lake, dataset, name)
    spec: dict[str, object] = json.loads(row["spec_json"])
    counts = count_by_split(release_episodes(lake, row, ["split"])["split"])
    return ReleaseSummary(
        dataset=dataset,
        name=name,
        digest=row["digest"],
        tables=versions_of(row["tables"]),
        spec=spec,
        episodes_by_split=counts,
        num_episodes=row["num_episodes"],
        num_rows=row["num_rows"],
        created_ns=row["created_ns"],
        run_id=row["run_id"],
        code_version=row["code_version"],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """An episode that is in another split."""

    episode_id: str
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseDiff:
    """What one release has and another has not; episode ids, sorted."""

    added: tuple[str, ...]
    """Only in the second."""
    removed: tuple[str, ...]
    """Only in the first."""
    moved: tuple[Move, ...]
    """In both, in different splits."""
    changed: tuple[str, ...]
    """In both, with other content: ingested again in between."""

    @property
    def is_empty(self) -> bool:
        """Whether both hold the same episodes, content and splits."""
        return not (self.added or self.removed or self.moved or self.changed)


def diff(lake: Lake, dataset: str, first: str, second: str) -> ReleaseDiff:
    """Return what changed from one release of a dataset to another.

    Raises
    ------
    NotFoundError
        ``release-not-found``.
    """
    before, after = (_contents(lake, dataset, name) for name in (first, second))
    both = sorted(before.keys() & after.keys())
    return ReleaseDiff(
        added=tuple(sorted(after.keys() - before.keys())),
        removed=tuple(sorted(before.keys() - after.keys())),
        moved=tuple(
            Move(episode_id=key, before=before[key][0], after=after[key][0])
            for key in both
            if before[key][0] != after[key][0]
        ),
        changed=tuple(key for key in both if before[key][1] != after[key][1]),
    )


def _contents(lake: Lake, dataset: str, name: str) -> dict[str, tuple[str, str]]:
    """Return split and content digest by episode id."""
    columns = ["episode_id", "split", "content_digest"]
    rows = release_episodes(lake, find_release(lake, dataset, name), columns)
    ids, splits, digests = (rows[column].to_pylist() for column in columns)
    return dict(zip(ids, zip(splits, digests, strict=True), strict=True))
