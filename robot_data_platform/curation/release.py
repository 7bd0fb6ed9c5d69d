"""Releases: a name for an assignment and for the version of every table, that never changes.

A release is a row of ``_catalog/releases``; the tag ``rel-<name>`` on every table keeps clean-up
away from its versions. Tags are set first and the row is written last, so whatever is released is
protected. A crash between leaves tags without a row: no release, and nobody reads them. The next
run of the same name moves such tags to the versions that it releases. When the row is written the
tags are set once more from the row, which also mends them where two runs of one name raced.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from robot_data_platform.core.fingerprint import digest
from robot_data_platform.core.identity import check_name
from robot_data_platform.core.run import RunInfo
from robot_data_platform.core.schema import TABLES
from robot_data_platform.curation.spec import SplitSpec
from robot_data_platform.curation.splits import content_digest, curate
from robot_data_platform.errors import ErrorKind, InvalidInputError, NotFoundError
from robot_data_platform.storage.catalog import add_release, table_versions, versions_of
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.predicate import equals
from robot_data_platform.storage.snapshot import ReleaseRow, find_release, list_releases
from robot_data_platform.storage.table import LakeTable

TAG_PREFIX = "rel-"
_CONTENT = "content_digest"
_KEYS = ("episode_id", "episode_index", _CONTENT)

DIGEST_IN_NAME = 12
"""Hex digits of the digest in a default name: 48 bits, ample for the releases of one dataset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseResult:
    """A release that the lake holds."""

    name: str
    digest: str
    """Digest of the spec and of each episode's id, content and split; also the data version."""
    assignment_id: str
    tables: dict[str, int]
    """Version of each table."""
    num_episodes: int
    num_rows: int
    is_new: bool
    """False where the same release was there, so nothing was written."""


def create_release(
    lake: Lake,
    dataset: str,
    spec: SplitSpec,
    run: RunInfo,
    *,
    name: str | None = None,
    assignment_id: str | None = None,
) -> ReleaseResult:
    """Release an assignment of a dataset.

    Parameters
    ----------
    spec : SplitSpec
        The spec that the assignment was made by.
    name : str, optional
        Name of the release; None = ``r-`` and the start of its digest.
    assignment_id : str, optional
        The assignment, as `curate` returned it; None = curate now.

    Raises
    ------
    InvalidInputError
        ``already-exists``: the name stands for other content; ``invalid-argument``: the assignment
        was made by another spec, or its episodes changed since; ``invalid-name``.
    NotFoundError
        ``dataset-not-found``; ``split-not-found``: there is no such assignment.
    DataFaultError
        ``no-rows``: no episode passes the spec.
    """
    version = None
    if assignment_id is None:
        curated = curate(lake, dataset, spec, run)
        assignment_id, version = curated.assignment_id, curated.episodes_version
    tables = _open_tables(lake, dataset, version)
    rows = _assignment(tables["splits"], assignment_id, spec)
    row = _release_row(dataset, name, spec, assignment_id, rows, tables, run)
    # Before anybody trains on it: a training script may only add rows, and makes no table.
    lake.ensure_catalog("models")
    return _publish(lake, row, run)


def release_digest(rows: pa.Table, canonical_spec: object) -> str:
    """Return the digest of a release: equal content and spec, equal digest."""
    return digest({"episodes": content_digest(rows), "spec": canonical_spec})


def release_tag(name: str) -> str:
    """Return the tag that a release sets on every table."""
    return TAG_PREFIX + name


def _open_tables(lake: Lake, dataset: str, episodes_version: int | None) -> dict[str, LakeTable]:
    """Return every table there is: ``episodes`` first, since what it names was written before."""
    tables = {"episodes": lake.open(dataset, "episodes", episodes_version)}
    tables |= {name: lake.open(dataset, name) for name in ("frames", "gops", "splits")}
    others = {name: lake.find(dataset, name) for name in TABLES if name not in tables}
    return tables | {name: table for name, table in others.items() if table is not None}


def _assignment(splits: LakeTable, assignment_id: str, spec: SplitSpec) -> pa.Table:
    """Return the rows of an assignment, without what is the same in all of them."""
    where = equals("assignment_id", assignment_id)
    made_by = next((batch[0][0].as_py() for batch in splits.batches(["spec_digest"], where)), None)
    if made_by is None:
        raise NotFoundError(
            f"Table {splits.uri!r} has no assignment {assignment_id!r}. Curate the dataset first.",
            kind=ErrorKind.SPLIT_NOT_FOUND,
            assignment_id=assignment_id,
        )
    if made_by != spec.digest():
        raise InvalidInputError(
            f"Assignment {assignment_id!r} was made by a spec with digest {made_by}: got spec "
            f"{spec.name!r} with digest {spec.digest()}. Give the spec it was made by, or curate "
            "again.",
            kind=ErrorKind.INVALID_ARGUMENT,
            assignment_id=assignment_id,
        )
    return splits.read([*_KEYS, "split"], where)


def _release_row(
    dataset: str,
    name: str | None,
    spec: SplitSpec,
    assignment_id: str,
    rows: pa.Table,
    tables: dict[str, LakeTable],
    run: RunInfo,
) -> ReleaseRow:
    content = release_digest(rows, spec.canonical())
    name = check_name(name or f"r-{content[:DIGEST_IN_NAME]}", "release")
    return ReleaseRow(
        release_key=f"{dataset}/{name}",
        dataset=dataset,
        release=name,
        digest=content,
        assignment_id=assignment_id,
        spec_json=spec.to_json(),
        tables=table_versions({key: table.version for key, table in tables.items()}),
        num_episodes=len(rows),
        num_rows=_count_rows(rows, tables["episodes"]),
        created_ns=run.created_ns,
        run_id=run.run_id,
        code_version=run.code_version,
    )


def _count_rows(rows: pa.Table, episodes: LakeTable) -> int:
    """Return the control steps of the assigned episodes, each still as it was assigned."""
    held = episodes.read([*_KEYS, "num_rows"])
    at = pc.index_in(rows["episode_index"], value_set=held["episode_index"].combine_chunks())
    found = held.take(at)
    is_same = pc.and_(*(pc.equal(found[key], rows[key]) for key in ("episode_id", _CONTENT)))
    missing = rows.filter(pc.invert(pc.fill_null(is_same, False)))["episode_id"].to_pylist()
    if missing:
        missing.sort()
        raise InvalidInputError(
            f"Episodes {missing[:5]} ({len(missing)} in all) are not in {episodes.uri!r} version "
            f"{episodes.version} as they were assigned: they were ingested again or removed since. "
            "Curate again, then release.",
            kind=ErrorKind.INVALID_ARGUMENT,
            num_episodes=len(missing),
        )
    return int(pc.sum(found["num_rows"]).as_py())


def _publish(lake: Lake, row: ReleaseRow, run: RunInfo) -> ReleaseResult:
    if not any(held["release"] == row["release"] for held in list_releases(lake, row["dataset"])):
        _tag_tables(lake, row)
    committed = add_release(lake, row, run.properties())
    held = find_release(lake, row["dataset"], row["release"])
    _tag_tables(lake, held)
    if held["digest"] != row["digest"]:
        raise _other_content(held, row)
    return ReleaseResult(
        name=held["release"],
        digest=held["digest"],
        assignment_id=held["assignment_id"],
        tables=versions_of(held["tables"]),
        num_episodes=held["num_episodes"],
        num_rows=held["num_rows"],
        is_new=committed.is_new,
    )


def _tag_tables(lake: Lake, row: ReleaseRow) -> None:
    for table, version in versions_of(row["tables"]).items():
        lake.open(row["dataset"], table, version).move_tag(release_tag(row["release"]))


def _other_content(held: ReleaseRow, row: ReleaseRow) -> InvalidInputError:
    return InvalidInputError(
        f"Release {row['release_key']!r} exists with digest {held['digest']}: got content with "
        f"digest {row['digest']}. Releases never change; choose another name.",
        kind=ErrorKind.ALREADY_EXISTS,
        release=row["release"],
        digest=row["digest"],
        held_digest=held["digest"],
    )
