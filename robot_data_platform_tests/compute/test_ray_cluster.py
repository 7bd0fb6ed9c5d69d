"""An existing cluster is reached by its address and token, and never told a secret."""

from __future__ import annotations

import importlib.util
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from robot_data_platform_tests.compute.ray_nodes import head_node, run_driver, with_token
from robot_data_platform_tests.servers import require

TOKEN = "a1" * 32
OTHER_TOKEN = "b2" * 32
SECRET = "recognisable-secret"
DRIVER = """
import json
from robot_data_platform.compute.episodes_map import Fanout, map_episodes
from robot_data_platform.errors import RobotDataError
from robot_data_platform_tests.compute.items import variables_of

try:
    fanout = Fanout(backend="ray", ray_address={address!r})
    (outcome,) = map_episodes(variables_of, ["AWS_"], fanout)
    print(json.dumps(outcome.result()))
except RobotDataError as err:
    print(json.dumps({{"kind": err.kind, "message": str(err)}}))
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[dict[str, str]]:
    """A cluster of one node with a token, which knows its own key to the store."""
    require(importlib.util.find_spec("ray"), "Ray (package ray)")
    # Sockets lie in the folder, and their names must be short.
    folder = Path(tempfile.mkdtemp(prefix="ray-"))
    with head_node(folder, TOKEN, AWS_ACCESS_KEY_ID="key-of-the-node") as addresses:
        yield addresses


def said_by_driver(address: str, token: str, **variables: str) -> dict[str, str]:
    source = DRIVER.format(address=address)
    said: dict[str, str] = json.loads(run_driver(source, {**with_token(token), **variables}))
    return said


@pytest.mark.parametrize("which", ["address", "client"])
def test_a_process_with_the_token_works_on_the_cluster(cluster: dict[str, str], which: str) -> None:
    assert said_by_driver(cluster[which], TOKEN) == {"AWS_ACCESS_KEY_ID": "key-of-the-node"}


def test_settings_reach_the_workers_and_secrets_do_not(cluster: dict[str, str]) -> None:
    said = said_by_driver(
        cluster["client"],
        TOKEN,
        AWS_ENDPOINT_URL="http://store:8333",
        AWS_SECRET_ACCESS_KEY=SECRET,
        AWS_SESSION_TOKEN=SECRET,
    )
    assert said == {
        "AWS_ACCESS_KEY_ID": "key-of-the-node",
        "AWS_ENDPOINT_URL": "http://store:8333",
    }


@pytest.mark.parametrize("which", ["address", "client"])
def test_another_token_is_refused_by_name_and_not_told(cluster: dict[str, str], which: str) -> None:
    said = said_by_driver(cluster[which], OTHER_TOKEN)
    assert said["kind"] == "cluster-unreachable"
    assert cluster[which] in said["message"]
    assert OTHER_TOKEN not in said["message"]


def test_an_address_where_nothing_listens_is_refused_by_name() -> None:
    said = said_by_driver("ray://127.0.0.1:9", TOKEN)
    assert said["kind"] == "cluster-unreachable"
    assert "ray://127.0.0.1:9" in said["message"]
