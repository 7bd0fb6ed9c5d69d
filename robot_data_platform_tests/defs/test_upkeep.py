from __future__ import annotations

import time

import dagster as dg
import pytest

from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.compute.maintenance import LakeUpkeep, Upkeep
from robot_data_platform.defs import runs, upkeep
from robot_data_platform.defs.graph import build_definitions
from robot_data_platform.defs.resources import Platform
from robot_data_platform.defs.run_history import prune_runs
from robot_data_platform.errors import CommitConflictError, ErrorKind
from robot_data_platform.lineage.query import lineage_of
from robot_data_platform.storage.lake import Lake
from robot_data_platform.testing.rawlog import RawlogShape
from robot_data_platform_tests.compute.uploads import land

PARTITIONS = dg.StaticPartitionsDefinition(["a", "b"])


@dg.asset(partitions_def=PARTITIONS)
def numbers() -> None:
    """Materialized by partition."""


@dg.asset
def total() -> None:
    """Materialized as a whole."""


def materialize(instance: dg.DagsterInstance, partition: str | None = None) -> str:
    assets = [numbers] if partition else [total]
    return dg.materialize(assets, instance=instance, partition_key=partition).run_id


@pytest.fixture
def released(instance: dg.DagsterInstance, platform: Platform) -> Lake:
    """A lake with a release, all of it made by runs, the release by one more."""
    place = Workplace(lake_root=platform.lake, landing_root=platform.landing)
    land(place, "pick", "u1", RawlogShape(num_episodes=2, num_rows=12))
    runs.ingest(instance, platform, place.landing.manifest("u1"))
    for _ in range(2):
        runs.release(instance, platform, "pick", "v1")
    return place.lake


def test_lineage_is_the_same_after_every_run_that_may_go_went(
    instance: dg.DagsterInstance, released: Lake
) -> None:
    before = lineage_of(released, "pick/v1")
    assert before.runs
    assert len(prune_runs(instance, time.time() + 1, 100)) == 1
    assert lineage_of(released, "pick/v1") == before


def runs_of(instance: dg.DagsterInstance) -> set[str]:
    return {run.run_id for run in instance.get_runs()}


def test_the_latest_run_of_each_partition_stays_and_older_ones_go(
    instance: dg.DagsterInstance,
) -> None:
    made = [materialize(instance, partition) for partition in ("a", "b", None, "a", None)]
    assert prune_runs(instance, time.time() + 1, 100) == [made[0], made[2]]
    assert runs_of(instance) == {made[1], made[3], made[4]}
    assert set(instance.get_materialized_partitions(numbers.key)) == {"a", "b"}


def test_runs_that_go_on_or_are_young_stay(instance: dg.DagsterInstance) -> None:
    old = materialize(instance)
    between_s = time.time()
    materialize(instance)
    definitions = dg.Definitions(assets=[total], jobs=[dg.define_asset_job("all")])
    instance.create_run_for_job(definitions.resolve_job_def("all"))
    before = runs_of(instance)
    assert prune_runs(instance, between_s - 3600, 100) == []
    assert prune_runs(instance, time.time() + 1, 100) == [old]
    assert runs_of(instance) == before - {old}


def test_no_more_runs_go_in_one_night_than_said(instance: dg.DagsterInstance) -> None:
    made = [materialize(instance) for _ in range(4)]
    assert prune_runs(instance, time.time() + 1, 2) == made[:2]
    assert prune_runs(instance, time.time() + 1, 2) == [made[2]]


def test_one_dataset_that_fails_fails_the_run_after_the_others_were_maintained(
    instance: dg.DagsterInstance, platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = CommitConflictError("others won", kind=ErrorKind.COMMIT_CONFLICT)
    asked: list[Upkeep] = []

    def maintain(asked_for: Upkeep) -> LakeUpkeep:
        asked.append(asked_for)
        return LakeUpkeep(failed={"pick": error})

    monkeypatch.setattr(upkeep, "maintain_lake", maintain)
    job = build_definitions(platform).resolve_job_def("maintenance")
    done = job.execute_in_process(instance=instance, raise_on_error=False, run_config=runs.QUIET)
    (failed,) = [event for event in done.all_events if event.is_step_failure]
    assert "pick: others won" in str(failed.step_failure_data.user_failure_data)
    assert str(asked[0].policy.scrub) == "1/7"


def test_the_nightly_jobs_run_on_a_lake_that_is_not_there_yet(
    instance: dg.DagsterInstance, platform: Platform
) -> None:
    for job in ("maintenance", "history_pruning"):
        resolved = build_definitions(platform).resolve_job_def(job)
        assert resolved.execute_in_process(instance=instance, run_config=runs.QUIET).success


def test_both_run_every_night_by_themselves() -> None:
    schedules = {upkeep.nightly_maintenance, upkeep.nightly_history_pruning}
    assert {schedule.default_status for schedule in schedules} == {dg.DefaultScheduleStatus.RUNNING}
