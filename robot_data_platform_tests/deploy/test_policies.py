"""The rights in the object store: no more than each needs."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from robot_data_platform_tests.deploy.compose_file import INFRA

POLICIES = {
    path.name.partition(".")[0]: json.loads(path.read_text())
    for path in (INFRA / "s3" / "policies").glob("*.json")
}
NAMES = sorted(POLICIES)
WRITES = {"s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload"}


def statements(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = POLICIES[name]["Statement"]
    return found


def allowed(name: str) -> set[str]:
    return {
        action
        for each in statements(name)
        if each["Effect"] == "Allow"
        for action in each["Action"]
    }


@pytest.mark.parametrize("name", NAMES)
def test_no_action_is_a_wildcard(name: str) -> None:
    actions = {action for each in statements(name) for action in each["Action"]}
    assert all(re.fullmatch(r"s3:[A-Za-z]+", action) for action in actions), actions


@pytest.mark.parametrize("name", NAMES)
def test_every_statement_says_what_it_is_for_and_where_it_holds(name: str) -> None:
    for each in statements(name):
        assert re.fullmatch(r"[A-Za-z]+", each["Sid"])
        assert all(re.match(r"arn:aws:s3:::rdp-\w+", arn) for arn in each["Resource"])


def test_a_robot_adds_objects_and_nothing_else() -> None:
    assert allowed("robot") == {"s3:PutObject"}
    arns = [arn for each in statements("robot") for arn in each["Resource"]]
    assert all("${aws:username}" in arn for arn in arns)


def test_a_reader_writes_nothing() -> None:
    assert allowed("reader") & WRITES == set()


def test_training_writes_models_and_artifacts_alone() -> None:
    written = [each for each in statements("training") if WRITES & set(each["Action"])]
    assert [arn for each in written for arn in each["Resource"]] == [
        "arn:aws:s3:::rdp-lake/_catalog/models.lance/*",
        "arn:aws:s3:::rdp-lake/_artifacts/*",
    ]


def test_the_platform_changes_nothing_that_has_landed() -> None:
    for each in statements("platform"):
        if WRITES & set(each["Action"]):
            assert not any("rdp-landing" in arn for arn in each["Resource"])


def test_a_bucket_policy_only_refuses() -> None:
    assert allowed("landing-write-once") == set()
