from __future__ import annotations

import pyarrow as pa
import pytest

from robot_data_platform.core.catalog_schema import releases_schema
from robot_data_platform.core.schema import frames_base_fields, table_schema
from robot_data_platform.errors import ErrorKind, InvalidInputError, NotFoundError
from robot_data_platform.storage.commit import append_rows
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.snapshot import find_release, list_releases, open_snapshot

TABLES = ("episodes", "frames", "gops", "splits")


@pytest.fixture
def lake(tmp_path: object) -> Lake:
    """A lake of one dataset without rows."""
    lake = Lake(str(tmp_path))
    lake.ensure_gops("set")
    lake.ensure_frames("set", table_schema(frames_base_fields()))
    lake.ensure("set", "episodes")
    return lake


def release(lake: Lake, name: str, dataset: str = "set", created_ns: int = 0) -> dict[str, int]:
    """Record a release of the dataset as it is; return its versions."""
    opened = {table: lake.find(dataset, table) for table in TABLES}
    versions = {name: table.version for name, table in opened.items() if table is not None}
    row = {field.name: "" for field in releases_schema()} | {
        "release_key": f"{dataset}/{name}",
        "dataset": dataset,
        "release": name,
        "tables": [{"table": t, "version": v} for t, v in versions.items()],
        "num_episodes": 0,
        "num_rows": 0,
        "created_ns": created_ns,
    }
    rows = pa.Table.from_pylist([row], schema=releases_schema())
    append_rows(lake.ensure_catalog("releases").uri, rows, properties={})
    return versions


def move_on(lake: Lake) -> None:
    """Give every table of the dataset a version more."""
    for table in TABLES:
        found = lake.find("set", table)
        if found is not None:
            found.lance.update_config({"moved": "on"})


def test_a_release_is_opened_at_its_versions_whatever_came_after(lake: Lake) -> None:
    lake.ensure("set", "splits")
    versions = release(lake, "v1")
    move_on(lake)
    snapshot = open_snapshot(lake, "set", release="v1")
    assert snapshot.versions() == versions
    assert open_snapshot(lake, "set").versions() == {t: v + 1 for t, v in versions.items()}
    assert snapshot.release is not None
    assert snapshot.release["release"] == "v1"


def test_a_release_without_splits_gets_none_that_came_after(lake: Lake) -> None:
    release(lake, "v1")
    lake.ensure("set", "splits")
    assert open_snapshot(lake, "set", release="v1").splits is None
    assert open_snapshot(lake, "set").splits is not None


def test_a_version_pins_the_episodes(lake: Lake) -> None:
    before = lake.open("set", "episodes").version
    move_on(lake)
    assert open_snapshot(lake, "set", version=before).episodes.version == before


def test_a_release_and_a_version_at_once_are_refused(lake: Lake) -> None:
    release(lake, "v1")
    with pytest.raises(InvalidInputError, match=r"'set'.*'v1'.*version 1") as caught:
        open_snapshot(lake, "set", release="v1", version=1)
    assert caught.value.kind is ErrorKind.INVALID_ARGUMENT


def test_releases_are_listed_oldest_first_by_dataset(lake: Lake) -> None:
    assert list_releases(lake) == []
    for name, created_ns in (("late", 3), ("early", 1)):
        release(lake, name, created_ns=created_ns)
    release(lake, "other", dataset="else", created_ns=2)
    assert [row["release"] for row in list_releases(lake, "set")] == ["early", "late"]
    assert [row["release"] for row in list_releases(lake)] == ["early", "other", "late"]


def test_a_release_that_is_not_there_is_told_with_those_that_are(lake: Lake) -> None:
    release(lake, "v1")
    with pytest.raises(
        NotFoundError, match=r"'set' has no release 'v2': it has \['v1'\]"
    ) as caught:
        find_release(lake, "set", "v2")
    assert caught.value.kind is ErrorKind.RELEASE_NOT_FOUND
