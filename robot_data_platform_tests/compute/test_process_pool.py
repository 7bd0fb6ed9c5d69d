from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from robot_data_platform.compute.episodes_map import Fanout, map_episodes
from robot_data_platform.compute.process_pool import process_pool
from robot_data_platform_tests.compute.items import items, seen_region

if TYPE_CHECKING:
    import pytest

PAIR = Fanout(num_workers=2)

PARENT = """
import time
from pathlib import Path
from typing import TYPE_CHECKING
from robot_data_platform_tests.compute.items import items, process_of
from robot_data_platform.compute.episodes_map import Fanout, map_episodes

if __name__ == "__main__":
    outcomes = map_episodes(process_of, items(Path(), 4), Fanout(num_workers=2))
    print(*{outcome.result() for outcome in outcomes}, flush=True)
    time.sleep(60)
"""


def test_the_pool_is_kept_from_one_step_to_the_next() -> None:
    assert process_pool(2) is process_pool(2)


def test_workers_see_variables_that_changed_since_they_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    map_episodes(seen_region, items(tmp_path, 4), PAIR)
    monkeypatch.setenv("AWS_REGION", "somewhere-else")
    outcomes = map_episodes(seen_region, items(tmp_path, 4), PAIR)
    assert {outcome.result() for outcome in outcomes} == {"somewhere-else"}


def test_workers_of_a_killed_process_end(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    with subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as parent:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert all(is_running(pid) for pid in pids)
        parent.kill()
    wait_until_gone(pids)


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def wait_until_gone(pids: list[int], patience_s: float = 60) -> None:
    deadline = time.monotonic() + patience_s
    while left := [pid for pid in pids if is_running(pid)]:
        assert time.monotonic() < deadline, f"processes {left} outlived their parent"
        time.sleep(0.05)
