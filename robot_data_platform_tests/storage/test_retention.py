from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from robot_data_platform.storage import retention
from robot_data_platform.storage.retention import clean_up, expired_versions, plan_clean_up
from robot_data_platform.storage.table import open_table
from robot_data_platform_tests.storage.small_table import add, latest_keys, make_table

if TYPE_CHECKING:
    import pytest


def commits(uri: str, num_commits: int) -> list[int]:
    make_table(uri)
    return [add(uri, [number], "a", replace=True).version for number in range(num_commits)]


def test_the_plan_is_what_the_clean_up_does(table_uri: str) -> None:
    commits(table_uri, 3)
    plan = plan_clean_up(open_table(table_uri), timedelta(0))
    assert plan.num_versions == 3
    assert plan.num_bytes > 0
    assert clean_up(table_uri, timedelta(0)) == plan
    assert latest_keys(table_uri) == {"a": [2]}


def test_a_plan_changes_nothing(table_uri: str) -> None:
    versions = commits(table_uri, 3)
    plan_clean_up(open_table(table_uri), timedelta(0))
    assert [open_table(table_uri, version).version for version in versions] == versions


def test_an_old_version_that_was_the_latest_until_now_stays(
    local_uri: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (old,) = commits(local_uri, 1)
    then = datetime.now(UTC)
    add(local_uri, [7], "a", replace=True)
    monkeypatch.setattr(retention, "_now", lambda: then)
    assert expired_versions(open_table(local_uri), timedelta(0)) == [1]
    assert clean_up(local_uri, timedelta(0)).num_versions == 1
    assert open_table(local_uri, old).read(["key"])["key"].to_pylist() == [0]


def test_a_tagged_version_stays_and_is_not_counted(table_uri: str) -> None:
    versions = commits(table_uri, 3)
    open_table(table_uri, versions[0]).add_tag("rel-a")
    assert plan_clean_up(open_table(table_uri), timedelta(0)).num_versions == 2
    clean_up(table_uri, timedelta(0))
    assert open_table(table_uri, "rel-a").read(["key"])["key"].to_pylist() == [0]
