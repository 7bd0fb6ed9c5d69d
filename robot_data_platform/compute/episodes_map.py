"""Apply a function to many items, in local processes or on a Ray cluster, with retries.

A data fault ends one item, not the whole; a passing failure of the store is tried again.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from robot_data_platform.compute.logged import Logged
from robot_data_platform.compute.process_pool import close_pool, process_pool
from robot_data_platform.compute.ray_cluster import num_cpus
from robot_data_platform.compute.ray_tasks import run_on_ray, worker_died
from robot_data_platform.errors import (
    CommitConflictError,
    DataFaultError,
    InvalidInputError,
    StorageError,
    is_worth_retrying,
)

LOG = logging.getLogger(__name__)

Item = TypeVar("Item")
Value = TypeVar("Value")
Backend = Literal["local", "ray"]
Progress = Callable[[int, int], None]
"""Called with (items done, items in all) after each item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fanout:
    """Where and how widely to work."""

    backend: Backend = "local"
    num_workers: int | None = None
    """Processes or Ray tasks at once; None = the cores of the machine or of the cluster.

    One local process is this one."""
    ray_address: str | None = None
    """Address of an existing Ray cluster, as `connect` takes it; None = one on this machine."""
    max_attempts: int = 3
    """Times that an item is tried when the store fails or a worker dies."""
    pause_s: float = 0.5
    """Pause before the second try; doubles each time."""


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Value]):
    """How one item ended: with a value, or with a fault of its data."""

    value: Value | None
    error: DataFaultError | InvalidInputError | None

    def result(self) -> Value:
        """Return the value, or raise the fault."""
        if self.error is not None:
            raise self.error
        assert self.value is not None
        return self.value


def map_episodes(
    function: Callable[[Item], Value],
    items: Sequence[Item],
    fanout: Fanout,
    progress: Progress | None = None,
) -> list[Outcome[Value]]:
    """Return the outcome of ``function(item)`` for every item, in order.

    Parameters
    ----------
    function : callable
        Importable by name, so that another process can run it.
    items : sequence
        Small, picklable values: references, never data.
    fanout : Fanout
        Back-end and its limits.
    progress : callable, optional
        Called after each item that ended.

    Raises
    ------
    StorageError, CommitConflictError
        The store failed `Fanout.max_attempts` times for one item, or for a reason that stays.
    StorageError
        ``worker-died``: an item killed its worker every time it was tried.
        ``cluster-unreachable``: the Ray cluster can't be used.
    """
    outcomes: dict[int, Outcome[Value]] = {}
    for index, outcome in _run(_attempt(Logged(function), fanout), items, fanout):
        outcomes[index] = outcome
        if progress is not None:
            progress(len(outcomes), len(items))
    return [outcomes[index] for index in range(len(items))]


def num_workers_of(fanout: Fanout, num_items: int) -> int:
    """Return how many workers would run for so many items; a Ray cluster is asked for its cores."""
    return max(1, min(fanout.num_workers or _num_cores(fanout), num_items))


def _num_cores(fanout: Fanout) -> int:
    return num_cpus(fanout.ray_address) if fanout.backend == "ray" else os.cpu_count() or 1


@dataclass(frozen=True)
class _attempt(Generic[Item, Value]):  # noqa: N801 (a picklable function)
    function: Callable[[Item], Value]
    fanout: Fanout

    def __call__(self, item: Item) -> Outcome[Value]:
        for attempt in range(self.fanout.max_attempts):
            try:
                return Outcome(self.function(item), None)
            except (DataFaultError, InvalidInputError) as err:
                return Outcome(None, err)
            except (StorageError, CommitConflictError) as err:
                if not is_worth_retrying(err) or attempt + 1 == self.fanout.max_attempts:
                    raise
                LOG.warning("Try %d of %d failed: %s", attempt + 1, self.fanout.max_attempts, err)
                time.sleep(self.fanout.pause_s * 2**attempt)
        raise AssertionError("unreachable: the last attempt returns or raises")


def _run(
    attempt: _attempt[Item, Value], items: Sequence[Item], fanout: Fanout
) -> Iterator[tuple[int, Outcome[Value]]]:
    num_workers = num_workers_of(fanout, len(items))
    if fanout.backend == "ray":
        yield from run_on_ray(attempt, items, fanout, num_workers)
    elif num_workers == 1:
        yield from ((index, attempt(item)) for index, item in enumerate(items))
    else:
        yield from _run_in_processes(attempt, items, fanout, num_workers)


def _run_in_processes(
    attempt: _attempt[Item, Value], items: Sequence[Item], fanout: Fanout, num_workers: int
) -> Iterator[tuple[int, Outcome[Value]]]:
    """Run in a pool; when a worker dies, run what has not ended in a new pool of one worker.

    There items run one by one, so that a pool without progress died of its first item.
    """
    left = dict(enumerate(items))
    deaths = 0
    while deaths < fanout.max_attempts:
        num_left = len(left)
        try:
            pool = process_pool(num_workers)
            for index, outcome in _drain(pool, attempt, dict(left), 2 * num_workers):
                del left[index]
                yield index, outcome
        except BrokenProcessPool:
            close_pool()
            num_workers = 1
            deaths = deaths + 1 if len(left) == num_left else 1
            LOG.warning("A worker died, %d items are left; tried again one by one.", len(left))
        else:
            return
    raise worker_died(sorted(left), fanout.max_attempts)


def _drain(
    pool: Executor, attempt: _attempt[Item, Value], left: dict[int, Item], max_in_flight: int
) -> Iterator[tuple[int, Outcome[Value]]]:
    waiting = iter(left.items())
    running: dict[Future[Outcome[Value]], int] = {}
    while True:
        for index, item in waiting:
            running[pool.submit(attempt, item)] = index
            if len(running) >= max_in_flight:
                break
        if not running:
            return
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            yield running.pop(future), future.result()
