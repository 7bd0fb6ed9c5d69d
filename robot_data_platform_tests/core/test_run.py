from __future__ import annotations

from robot_data_platform.core.run import RunInfo


def test_a_commit_says_run_asset_partition_and_code_version() -> None:
    run = RunInfo(run_id="r", asset="frames", partition="u1", code_version="3", created_ns=5)
    assert run.properties() == {
        "rdp.run_id": "r",
        "rdp.asset": "frames",
        "rdp.partition": "u1",
        "rdp.code_version": "3",
    }


def test_no_partition_is_empty_text() -> None:
    run = RunInfo(run_id="r", asset="frames", code_version="3", created_ns=5)
    assert run.properties()["rdp.partition"] == ""
