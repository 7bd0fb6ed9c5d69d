"""Dagster's run history, pruned: what it says of where data came from, the lake says too."""

from __future__ import annotations

from datetime import UTC, datetime

import dagster as dg

ENDED = (dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED)
IDS_AT_ONCE = 500
"""Storage ids in one query; each is a bound variable of SQL."""


def prune_runs(instance: dg.DagsterInstance, before_s: float, max_runs: int) -> list[str]:
    """Remove ended runs, oldest first, and return their ids.

    A run stays that made the latest materialization of an asset's partition: with it, the
    partition would count as never made, and be made again.

    Parameters
    ----------
    before_s : float
        Runs that changed at or after this time stay, seconds since 1970.
    max_runs : int
        How many are removed at most, so that a first pruning does not take all night.
    """
    filters = dg.RunsFilter(
        statuses=list(ENDED), updated_before=datetime.fromtimestamp(before_s, UTC)
    )
    records = instance.get_run_records(filters, order_by="id", ascending=True)
    kept = latest_runs(instance) if records else set()
    old = [record.dagster_run.run_id for record in records]
    removed = [run_id for run_id in old if run_id not in kept][:max_runs]
    for run_id in removed:
        instance.delete_run(run_id)
    return removed


def latest_runs(instance: dg.DagsterInstance) -> set[str]:
    """Return the runs that made the latest materialization of each partition of each asset."""
    return {run_id for key in instance.get_asset_keys() for run_id in _latest(instance, key)}


def _latest(instance: dg.DagsterInstance, key: dg.AssetKey) -> set[str]:
    event = instance.get_latest_materialization_event(key)
    found = {event.run_id} if event is not None else set()
    by_partition = instance.get_latest_storage_id_by_partition(
        key, dg.DagsterEventType.ASSET_MATERIALIZATION
    )
    ids = list(by_partition.values())
    for start in range(0, len(ids), IDS_AT_ONCE):
        part = ids[start : start + IDS_AT_ONCE]
        wanted = dg.AssetRecordsFilter(asset_key=key, storage_ids=part)
        records = instance.fetch_materializations(wanted, limit=len(part)).records
        found |= {record.run_id for record in records}
    return found
