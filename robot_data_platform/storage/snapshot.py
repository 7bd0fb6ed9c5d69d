"""A dataset pinned: one version of each table, so that nothing a reader sees can move."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from robot_data_platform.errors import ErrorKind, InvalidInputError, NotFoundError
from robot_data_platform.storage.predicate import equals

if TYPE_CHECKING:
    from robot_data_platform.storage.lake import Lake
    from robot_data_platform.storage.table import LakeTable


class TableVersion(TypedDict):
    """One table of a pinned set."""

    table: str
    version: int


class ReleaseRow(TypedDict):
    """One row of ``_catalog/releases``."""

    release_key: str
    dataset: str
    release: str
    digest: str
    assignment_id: str
    spec_json: str
    tables: list[TableVersion]
    num_episodes: int
    num_rows: int
    created_ns: int
    run_id: str
    code_version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The tables of one dataset at fixed versions."""

    dataset: str
    episodes: LakeTable
    frames: LakeTable
    gops: LakeTable
    splits: LakeTable | None
    release: ReleaseRow | None
    """The release it was opened by; None = opened at the latest or at a stated version."""

    def versions(self) -> dict[str, int]:
        """Return the version of each table."""
        tables = {"episodes": self.episodes, "frames": self.frames, "gops": self.gops}
        if self.splits is not None:
            tables["splits"] = self.splits
        return {name: table.version for name, table in tables.items()}


def list_releases(lake: Lake, dataset: str | None = None) -> list[ReleaseRow]:
    """Return the releases of a dataset, or of all, oldest first."""
    table = lake.find_catalog("releases")
    if table is None:
        return []
    rows: list[ReleaseRow] = table.read(
        where=equals("dataset", dataset) if dataset else None
    ).to_pylist()
    return sorted(rows, key=lambda row: row["created_ns"])


def find_release(lake: Lake, dataset: str, release: str) -> ReleaseRow:
    """Return one release.

    Raises
    ------
    NotFoundError
        ``release-not-found``: the message lists those there are.
    """
    rows = list_releases(lake, dataset)
    for row in rows:
        if row["release"] == release:
            return row
    raise NotFoundError(
        f"Dataset {dataset!r} has no release {release!r}: it has "
        f"{sorted(row['release'] for row in rows)}. Make one with `rdp release create`.",
        kind=ErrorKind.RELEASE_NOT_FOUND,
        dataset=dataset,
        release=release,
    )


def open_snapshot(
    lake: Lake, dataset: str, *, release: str | None = None, version: int | None = None
) -> Snapshot:
    """Pin a dataset: at a release, at a version of ``episodes``, or as it is now.

    ``episodes`` is opened first: whatever an episode names was written before it. The others are
    opened at a time, as each takes a store several answers.

    Raises
    ------
    NotFoundError
        ``dataset-not-found``, ``table-not-found``, ``release-not-found`` or
        ``version-not-found``.
    InvalidInputError
        ``invalid-argument``: both a release and a version.
    """
    if release and version is not None:
        raise InvalidInputError(
            f"Dataset {dataset!r} is asked for at release {release!r} and at version {version}: "
            "expected one of them. Leave one out.",
            kind=ErrorKind.INVALID_ARGUMENT,
            dataset=dataset,
        )
    row = find_release(lake, dataset, release) if release else None
    pinned = {entry["table"]: entry["version"] for entry in row["tables"]} if row else {}
    if version is not None:
        pinned["episodes"] = version
    has_splits = row is None or "splits" in pinned
    episodes = lake.open(dataset, "episodes", pinned.get("episodes"))
    with ThreadPoolExecutor(3) as pool:
        frames = pool.submit(lake.open, dataset, "frames", pinned.get("frames"))
        gops = pool.submit(lake.open, dataset, "gops", pinned.get("gops"))
        pinned_splits = pinned.get("splits")
        splits = pool.submit(lake.find, dataset, "splits", pinned_splits) if has_splits else None
    return Snapshot(
        dataset=dataset,
        episodes=episodes,
        frames=frames.result(),
        gops=gops.result(),
        splits=splits.result() if splits else None,
        release=row,
    )
