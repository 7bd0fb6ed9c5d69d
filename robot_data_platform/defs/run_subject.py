"""What a run works on: its upload and its dataset, whoever requested it."""

from __future__ import annotations

import dagster as dg

UPLOAD_TAG, DATASET_TAG = "rdp/upload", "rdp/dataset"
PER_DATASET = {dg.AssetKey("curated_splits"), dg.AssetKey("dataset_release")}
"""Assets whose partition is a dataset; that of the others is an upload."""


def subject_of(run: dg.DagsterRun) -> dict[str, str]:
    """Return ``dataset`` and ``upload``: of sensors' runs by their tags, else by the partition."""
    partition = run.tags.get("dagster/partition", "")
    is_of_dataset = run.job_name == "release_dataset" or bool(
        PER_DATASET & (run.asset_selection or set())
    )
    return {
        "dataset": run.tags.get(DATASET_TAG, partition if is_of_dataset else ""),
        "upload": run.tags.get(UPLOAD_TAG, "" if is_of_dataset else partition),
    }
