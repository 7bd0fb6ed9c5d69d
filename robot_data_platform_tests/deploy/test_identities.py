"""What SeaweedFS is told of who may do what."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from robot_data_platform_tests.deploy.compose_file import INFRA
from robot_data_platform_tests.deploy.settings import make_settings

PROGRAM = INFRA / "s3" / "identities.py"


def identities(output: Path, **given: str) -> subprocess.CompletedProcess[str]:
    environment = make_settings("hash", "password").environment | given
    command = [sys.executable, str(PROGRAM), str(output)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_each_robot_is_named_after_its_dataset(tmp_path: Path) -> None:
    identities(tmp_path / "s3.json", RDP_ROBOTS="pick:key-1:secret-1 place:key-2:secret-2")
    stated = json.loads((tmp_path / "s3.json").read_text())
    robots = [each for each in stated["identities"] if each.get("policyNames") == ["robot"]]
    assert [robot["name"] for robot in robots] == ["pick", "place"]
    assert robots[1]["credentials"] == [{"accessKey": "key-2", "secretKey": "secret-2"}]


def test_only_the_maker_of_buckets_may_do_all(tmp_path: Path) -> None:
    identities(tmp_path / "s3.json")
    stated = json.loads((tmp_path / "s3.json").read_text())
    assert [each["name"] for each in stated["identities"] if "actions" in each] == ["admin"]


def test_nobody_else_reads_the_file(tmp_path: Path) -> None:
    identities(tmp_path / "s3.json")
    assert stat.S_IMODE((tmp_path / "s3.json").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("RDP_ROBOTS", "pick:only-two", "Entry 0 of RDP_ROBOTS is not"),
        ("RDP_READER_SECRET_KEY", "", "RDP_READER_ACCESS_KEY and _SECRET_KEY are empty"),
    ],
)
def test_what_is_missing_is_said_without_a_secret(
    tmp_path: Path, name: str, value: str, said: str
) -> None:
    done = identities(tmp_path / "s3.json", **{name: value})
    assert done.returncode == 1
    assert said in done.stderr
    assert "only-two" not in done.stderr
    assert not (tmp_path / "s3.json").exists()
