from __future__ import annotations

import multiprocessing
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from robot_data_platform.reader import RobotLanceDataset
from robot_data_platform.reader.items import Item
from robot_data_platform.testing.lake import add_upload, build_lake
from robot_data_platform.testing.lake_model import LakeModel, LakeShape


def read_in_process(rows: RobotLanceDataset, indices: list[int], method: str) -> list[Item]:
    """Return items as a process that was started by ``method`` reads them."""
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(rows.__getitems__, indices).result()


def assert_same(items: list[Item], others: list[Item]) -> None:
    for item, other in zip(items, others, strict=True):
        for key, value in item.items():
            np.testing.assert_array_equal(other[key], value, err_msg=key)


def test_a_pickled_dataset_is_small_and_carries_its_versions(built: LakeModel) -> None:
    rows = RobotLanceDataset(built.root, built.dataset)
    rows[0]
    state = pickle.dumps(rows)
    assert len(state) < 2000
    assert pickle.loads(state).versions() == rows.versions()


def test_an_unpickled_dataset_reads_the_versions_that_were_pickled(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    root = tmp_path_factory.mktemp("lake")
    shape = LakeShape(num_rows=6, cameras=("env",), width_px=48, height_px=32)
    build_lake(root, num_episodes=1, shape=shape)
    rows = RobotLanceDataset(root, "robot")
    state = pickle.dumps(rows)
    add_upload(root, "robot", "upload-1", 5, 1, shape)
    unpickled = pickle.loads(state)
    assert_same(unpickled.__getitems__(range(6)), rows.__getitems__(range(6)))
    assert int(unpickled[0]["episode_index"]) == 0


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_another_process_reads_the_same(built: LakeModel, method: str) -> None:
    rows = RobotLanceDataset(built.root, built.dataset)
    assert_same(read_in_process(rows, [0, 50, -1], method), rows.__getitems__([0, 50, -1]))


def in_fork(lake: str, dataset: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Open and read a dataset, then read it in a fork, and print what the fork meets."""
    code = f"""
import os, signal
from robot_data_platform.errors import RobotDataError
from robot_data_platform.reader import RobotLanceDataset
rows = RobotLanceDataset({lake!r}, {dataset!r})
expected = rows[5]["observation.images.env"].tobytes()
child = os.fork()
if child == 0:
    signal.alarm(40)
    try:
        same = rows[5]["observation.images.env"].tobytes() == expected
        print("same" if same else "other", flush=True)
    except RobotDataError as err:
        print(f"{{err.kind}}: {{err}}", flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""
    return subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", code],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_read_in_a_fork_is_refused_instead_of_hanging(built: LakeModel, repository: Path) -> None:
    done = in_fork(built.root, built.dataset, repository)
    assert done.stdout.startswith("fork-unsafe: Dataset 'robot' was opened by"), done.stderr
    assert "'spawn' or 'forkserver'" in done.stdout
