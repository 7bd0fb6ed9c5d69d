"""What a run works on, be it requested by a sensor, a person in the UI, or a program."""

from __future__ import annotations

import dagster as dg
import pytest

from robot_data_platform.defs.run_subject import subject_of


@pytest.mark.parametrize(
    ("job", "tags", "asset", "expected"),
    [
        (
            "ingest_upload",
            {"rdp/upload": "u", "rdp/dataset": "d", "dagster/partition": "u"},
            None,
            ("d", "u"),
        ),
        ("ingest_upload", {"dagster/partition": "u"}, None, ("", "u")),
        ("release_dataset", {"dagster/partition": "d"}, None, ("d", "")),
        ("__ASSET_JOB", {"dagster/partition": "d"}, "dataset_release", ("d", "")),
        ("__ASSET_JOB", {"dagster/partition": "u"}, "frames", ("", "u")),
        ("maintenance", {}, None, ("", "")),
    ],
)
def test_a_run_names_its_dataset_and_upload(
    job: str, tags: dict[str, str], asset: str | None, expected: tuple[str, str]
) -> None:
    selection = {dg.AssetKey(asset)} if asset else None
    subject = subject_of(dg.DagsterRun(job_name=job, tags=tags, asset_selection=selection))
    assert (subject["dataset"], subject["upload"]) == expected
