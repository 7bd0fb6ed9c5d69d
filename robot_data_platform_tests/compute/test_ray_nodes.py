"""A cluster of several nodes: all of them work, and one that is lost takes nothing along."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from robot_data_platform.compute.episodes_map import Fanout, map_episodes, num_workers_of
from robot_data_platform.compute.ray_cluster import task_memory_bytes
from robot_data_platform.testing.rawlog import RawlogShape
from robot_data_platform_tests.compute.items import items, node_after_waiting, node_of
from robot_data_platform_tests.compute.uploads import (
    assert_holds,
    ingest,
    land,
    published,
    workplace,
)
from robot_data_platform_tests.servers import require

if TYPE_CHECKING:
    from ray.cluster_utils import Cluster

# Ray forks only to start other programs, which share no Lance handle.
pytestmark = pytest.mark.filterwarnings("ignore:lance is not fork-safe")

GIB = 1 << 30
NODE: dict[str, Any] = {"num_cpus": 1, "memory": 2 * GIB, "object_store_memory": 100 << 20}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A head that does no work, and two nodes that do."""
    require(importlib.util.find_spec("ray"), "Ray (package ray)")
    import ray
    from ray.cluster_utils import Cluster

    ray.shutdown()
    made = Cluster(initialize_head=True, head_node_args={**NODE, "num_cpus": 0})
    for _ in range(2):
        made.add_node(**NODE)
    try:
        yield made
    finally:
        ray.shutdown()
        made.shutdown()


def spread(cluster: Cluster) -> Fanout:
    return Fanout(backend="ray", ray_address=cluster.address, pause_s=0)


def test_there_are_as_many_workers_as_the_cluster_has_cores(cluster: Cluster) -> None:
    assert num_workers_of(spread(cluster), 100) == 2


def test_every_node_works(cluster: Cluster, tmp_path: Path) -> None:
    outcomes = map_episodes(node_of, items(tmp_path, 6), spread(cluster))
    assert len({outcome.value for outcome in outcomes}) == 2


def test_items_of_a_node_that_is_lost_are_done_by_another(cluster: Cluster, tmp_path: Path) -> None:
    with losing_a_node(cluster, lambda: where_item_0_runs(tmp_path)):
        outcomes = map_episodes(node_after_waiting, items(tmp_path, 6), spread(cluster))
    lost = (tmp_path / "0-0").read_text()
    assert len(outcomes) == 6
    assert outcomes[0].value != lost


@contextmanager
def losing_a_node(cluster: Cluster, which: Callable[[], str]) -> Iterator[None]:
    """Kill a node while something runs, and put another in its place afterwards."""

    def kill() -> None:
        node_id = which()
        (node,) = [node for node in cluster.worker_nodes if node.node_id == node_id]
        cluster.remove_node(node, allow_graceful=False)

    killer = Thread(target=kill)
    killer.start()
    yield
    killer.join()
    cluster.add_node(**NODE)


def where_item_0_runs(folder: Path) -> str:
    began = folder / "0-0"
    while not (began.exists() and began.read_text()):
        time.sleep(0.05)
    return began.read_text()


def first_node_after_a_second(cluster: Cluster) -> str:
    time.sleep(1)
    return str(next(iter(cluster.worker_nodes)).node_id)


def test_an_ingestion_that_loses_a_node_writes_what_it_writes_without(
    cluster: Cluster, tmp_path: Path
) -> None:
    shape = RawlogShape(num_episodes=8, num_rows=60)
    local = workplace(tmp_path)
    other = replace(local, lake_root=str(tmp_path / "lake-of-ray"))
    episodes = land(local, "robot", "u1", shape)
    ingest(local, "u1")
    with losing_a_node(cluster, lambda: first_node_after_a_second(cluster)):
        ingest(other, "u1", spread(cluster))
    assert published(other, "robot", "u1") == published(local, "robot", "u1")
    assert_holds(other, "robot", "u1", episodes)


def test_a_task_asks_for_memory_only_where_a_node_has_as_much(cluster: Cluster) -> None:
    assert task_memory_bytes(GIB) == GIB
    assert task_memory_bytes(3 * GIB) is None
