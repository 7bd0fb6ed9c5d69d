"""Releases, made and held against what they were when they were made."""

from __future__ import annotations

from collections.abc import Iterator

from robot_data_platform.core.run import RunInfo
from robot_data_platform.curation.release import create_release
from robot_data_platform.curation.spec import EpisodeFilter, SplitSpec
from robot_data_platform.curation.verify import verify
from robot_data_platform.errors import ErrorKind, RobotDataError
from robot_data_platform.lineage.edges import record_edges
from robot_data_platform.lineage.query import lineage_of
from robot_data_platform.storage.catalog import release_episodes
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.predicate import in_range
from robot_data_platform.storage.snapshot import find_release, list_releases
from robot_data_platform_tests.soak.model import DATASET, Ingested, Model, Released, Row
from robot_data_platform_tests.soak.seen import (
    Pictures,
    assert_frames,
    episodes_of,
    lineage_sources,
)

SPEC = SplitSpec(
    filter=EpisodeFilter(status=("ok", "flagged"), max_findings={}),
    ratios={"train": 0.5, "test": 0.5},
)

NOTHING_TO_RELEASE = {ErrorKind.NO_ROWS, ErrorKind.DATASET_NOT_FOUND, ErrorKind.TABLE_NOT_FOUND}


def make_release(lake: Lake, model: Model, name: str, run: RunInfo) -> None:
    """Release what is visible and not in quarantine; where there is none, be refused."""
    rows = {key: row for key, row in model.episodes.items() if row["status"] != "quarantined"}
    try:
        result = create_release(lake, DATASET, SPEC, run, name=name)
    except RobotDataError as err:
        if rows or err.kind not in NOTHING_TO_RELEASE:
            raise
        return
    assert rows
    assert result.is_new
    row = find_release(lake, DATASET, name)
    splits = release_episodes(lake, row, ["episode_id", "split"]).to_pylist()
    version = lake.ensure_catalog("releases").version
    record_edges(lake, DATASET, ("releases", version), [*result.tables.items()], run)
    model.edges += [
        (run.asset, None, "releases", version, table, str(at), run.run_id)
        for table, at in result.tables.items()
    ]
    model.releases[name] = Released(
        name=name,
        digest=result.digest,
        tables=dict(result.tables),
        rows=rows,
        ingestions=_ingestions(model, rows),
        split_by_episode={entry["episode_id"]: entry["split"] for entry in splits},
        run_id=run.run_id,
    )
    _assert_splits_are_stable(model)


def _ingestions(model: Model, rows: dict[str, Row]) -> list[Ingested]:
    by_first = {one.first_index: one for one in _each_of(model, rows)}
    return list(by_first.values())


def _each_of(model: Model, rows: dict[str, Row]) -> Iterator[Ingested]:
    return (model.at_index(row["episode_index"]) for row in rows.values())


def _assert_splits_are_stable(model: Model) -> None:
    known: dict[str, str] = {}
    for release in model.releases.values():
        for key, split in release.split_by_episode.items():
            assert known.setdefault(key, split) == split, key


def assert_releases_listed(lake: Lake, model: Model) -> None:
    """Hold the catalog's releases against those that were made."""
    listed = {row["release"]: row["digest"] for row in list_releases(lake, DATASET)}
    assert listed == {name: release.digest for name, release in model.releases.items()}


def assert_release(lake: Lake, model: Model, release: Released) -> None:
    """Hold all that a release pins against what it was made of."""
    opened = {name: lake.open(DATASET, name, version) for name, version in release.tables.items()}
    held = episodes_of(opened["episodes"])
    assert {key: _of(held[key], row) for key, row in release.rows.items()} == release.rows
    pictures = Pictures(opened["gops"])
    for ingested in release.ingestions:
        indices = ingested.indices()
        where = in_range("episode_index", indices.start, indices.stop)
        rows = opened["frames"].read(where=where).to_pylist()
        required = _numbers(release, ingested)
        assert pictures.numbers(ingested) >= required
        assert_frames(rows, ingested, pictures, required)
    report = verify(lake, DATASET, release.name)
    assert not report.problems, report.problems
    assert (report.digest, report.num_episodes) == (release.digest, len(release.rows))
    _assert_lineage(lake, model, release)


def _numbers(release: Released, ingested: Ingested) -> set[int]:
    mine = (r for r in release.rows.values() if r["episode_index"] in ingested.indices())
    return {ingested.number_of(row["episode_index"]) for row in mine}


def _of(held: Row, row: Row) -> Row:
    return {name: held[name] for name in row}


def _assert_lineage(lake: Lake, model: Model, release: Released) -> None:
    lineage = lineage_of(lake, f"{DATASET}/{release.name}")
    assert lineage.digest == release.digest
    assert lineage.tables == release.tables
    assert lineage.episodes == sorted(release.rows)
    assert lineage.uploads == sorted({str(row["upload"]) for row in release.rows.values()})
    sources = [(source["path"], source["sha256"]) for source in lineage.sources]
    assert sources == lineage_sources(release.rows.values())
    runs = {str(row["run_id"]) for row in release.rows.values()} | {release.run_id}
    assert runs <= set(lineage.runs)
