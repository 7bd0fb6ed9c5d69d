"""Whether a release is still what it was: digest, tags, row counts, and the hash of every blob.

Everything is read from the tables at the release's versions; nothing else is asked. Blobs are
hashed, not decoded: decoding is what the integrity rules do.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.curation.blob_check import Int64Array, RowCount, check_blobs
from robot_data_platform.curation.release import release_digest, release_tag
from robot_data_platform.errors import NotFoundError
from robot_data_platform.storage.catalog import release_episodes, versions_of
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.snapshot import ReleaseRow, find_release
from robot_data_platform.storage.table import LakeTable

_KEYS = ["episode_id", "episode_index", "content_digest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseReport:
    """What a verification looked at, and what it found."""

    dataset: str
    release: str
    digest: str
    """The digest that the release was made with."""
    num_episodes: int
    """Episodes of the release that its version of ``episodes`` holds unchanged."""
    num_rows: int
    """Their control steps, counted in ``frames``."""
    num_gops: int
    """Their blobs, each read and hashed."""
    problems: tuple[Finding, ...]

    @property
    def is_intact(self) -> bool:
        """Whether nothing was found."""
        return not self.problems


def verify(lake: Lake, dataset: str, name: str) -> ReleaseReport:
    """Return a report on a release; memory holds its episodes and 64 blobs.

    Raises
    ------
    NotFoundError
        ``release-not-found``.
    StorageError
        ``store-unreachable``, ``store-denied``: the store could not be asked.
    """
    release = find_release(lake, dataset, name)
    tables, problems = _open_tables(lake, release)
    if problems:
        return _report(release, problems)
    rows = release_episodes(lake, release, [*_KEYS, "split"])
    held = _held_episodes(rows, tables["episodes"])
    problems += [*_tag_problems(release, tables), *_content_problems(release, rows, held)]
    if not len(held):
        return _report(release, problems)
    index = held["episode_index"].to_numpy()
    frames, gops = RowCount.of(index), RowCount.of(index)
    for batch in tables["frames"].batches(["episode_index"], frames.where()):
        frames.add(batch)
    problems += check_blobs(tables["gops"], gops)
    problems += _count_problems("frames", frames, index, held["num_rows"].to_numpy())
    problems += _count_problems("gops", gops, index, _num_gops(held["cameras"]))
    return _report(release, problems, len(held), frames, gops)


def _report(
    release: ReleaseRow,
    problems: list[Finding],
    num_episodes: int = 0,
    frames: RowCount | None = None,
    gops: RowCount | None = None,
) -> ReleaseReport:
    return ReleaseReport(
        dataset=release["dataset"],
        release=release["release"],
        digest=release["digest"],
        num_episodes=num_episodes,
        num_rows=int(frames.num_rows.sum()) if frames else 0,
        num_gops=int(gops.num_rows.sum()) if gops else 0,
        problems=tuple(problems),
    )


def _open_tables(lake: Lake, release: ReleaseRow) -> tuple[dict[str, LakeTable], list[Finding]]:
    tables, problems = {}, []
    for table, version in versions_of(release["tables"]).items():
        try:
            tables[table] = lake.open(release["dataset"], table, version)
        except NotFoundError as err:
            problems.append(_finding("version_is_there", f"{table}@{version}", str(err)))
    return tables, problems


def _held_episodes(rows: pa.Table, episodes: LakeTable) -> pa.Table:
    """Return the episodes of the release that ``episodes`` holds as they were assigned."""
    columns = [*_KEYS, "num_rows", "cameras"]
    wanted = pc.field("episode_id").isin(rows["episode_id"])
    held = episodes.read(columns).filter(wanted)
    stated = dict(zip(rows["episode_id"].to_pylist(), _identity(rows), strict=True))
    same = [
        stated[key] == found
        for key, found in zip(held["episode_id"].to_pylist(), _identity(held), strict=True)
    ]
    return held.filter(pa.array(same, pa.bool_()))


def _identity(rows: pa.Table) -> list[tuple[int, str]]:
    return list(
        zip(rows["episode_index"].to_pylist(), rows["content_digest"].to_pylist(), strict=True)
    )


def _tag_problems(release: ReleaseRow, tables: dict[str, LakeTable]) -> Iterator[Finding]:
    tag = release_tag(release["release"])
    for name, table in tables.items():
        held = table.tags().get(tag)
        if held != table.version:
            got = "no such tag" if held is None else f"version {held}"
            what = f"Tag {tag!r} of {name!r}: got {got}, expected version {table.version}"
            yield _finding(
                "tag_holds_version", name, f"{what}. Create the release again to set it."
            )


def _content_problems(release: ReleaseRow, rows: pa.Table, held: pa.Table) -> Iterator[Finding]:
    spec = json.loads(release["spec_json"])
    spec.pop("name")
    found = release_digest(rows, spec)
    if found != release["digest"]:
        what = f"got digest {found}, expected {release['digest']}"
        yield _finding(
            "digest_matches", "splits", f"The assignment and the spec have changed: {what}."
        )
    lost = set(rows["episode_id"].to_pylist()) - set(held["episode_id"].to_pylist())
    for episode_id in sorted(lost):
        what = "is absent from the release's version of 'episodes', or has other content there"
        yield _finding("episode_is_unchanged", episode_id, f"Episode {episode_id!r} {what}.")
    num_rows = int(pc.sum(held["num_rows"]).as_py() or 0)
    if (len(rows), num_rows) != (release["num_episodes"], release["num_rows"]):
        got = f"got {len(rows)} episodes with {num_rows} rows"
        want = f"expected {release['num_episodes']} with {release['num_rows']}"
        yield _finding("release_has_its_size", "episodes", f"The release's size: {got}, {want}.")


def _count_problems(
    table: str, count: RowCount, episode_index: Int64Array, expected: Int64Array
) -> Iterator[Finding]:
    expected = expected[np.argsort(episode_index)]
    for place in np.flatnonzero(count.num_rows != expected):
        where = f"episode_index={count.episode_index[place]}"
        what = f"got {count.num_rows[place]} rows, expected {expected[place]}"
        yield _finding(f"{table}_are_complete", where, f"Table {table!r}, {where}: {what}.")


def _num_gops(cameras: pa.ChunkedArray) -> Int64Array:
    """Return the GOPs of each episode, over its cameras."""
    column = cameras.combine_chunks()
    counts = pc.struct_field(pc.list_flatten(column), "num_gops").to_numpy(zero_copy_only=False)
    parents = pc.list_parent_indices(column).to_numpy()
    return np.bincount(parents, weights=counts, minlength=len(column)).astype(np.int64)


def _finding(rule: str, where: str, message: str) -> Finding:
    return Finding(rule=rule, severity=Severity.FAIL, where=where, message=message)
