"""Apply a function to many items, in local processes or on a Ray cluster, with retries.

A data fault ends one item, not the whole; a passing failure of the store is tried again.
"""

from __future__ import annotations

import logging
import os
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from robot_data_platform.compute.process_pool import close_pool, process_pool
from robot_data_platform.errors import (
    CommitConflictError,
    DataFaultError,
    ErrorKind,
    InvalidInputError,
    RobotDataError,
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
    """Processes or Ray tasks at once; None = the machine's cores. 1 stays in this process."""
    ray_address: str | None = None
    """Address of an existing Ray cluster; None = start one on this machine."""
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
    """
    outcomes: dict[int, Outcome[Value]] = {}
    for index, outcome in _run(_attempt(function, fanout), items, fanout):
        outcomes[index] = outcome
        if progress is not None:
            progress(len(outcomes), len(items))
    return [outcomes[index] for index in range(len(items))]


def num_workers_of(fanout: Fanout, num_items: int) -> int:
    """Return how many workers would run for so many items."""
    return max(1, min(fanout.num_workers or os.cpu_count() or 1, num_items))


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
        yield from _run_on_ray(attempt, items, fanout, num_workers)
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
    raise _worker_died(sorted(left), fanout)


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


def _run_on_ray(
    attempt: _attempt[Item, Value], items: Sequence[Item], fanout: Fanout, num_workers: int
) -> Iterator[tuple[int, Outcome[Value]]]:
    import ray

    if not ray.is_initialized():
        _start_ray(fanout.ray_address)
    task = ray.remote(max_retries=fanout.max_attempts - 1, num_cpus=1)(_call)
    waiting = iter(enumerate(items))
    running: dict[ray.ObjectRef[Outcome[Value]], int] = {}
    while True:
        for index, item in waiting:
            running[task.remote(attempt, item)] = index
            if len(running) >= 2 * num_workers:
                break
        if not running:
            return
        done, _ = ray.wait(list(running))
        for reference in done:
            index = running.pop(reference)
            yield index, _ray_result(reference, index, fanout)


def _start_ray(address: str | None) -> None:
    import ray

    with warnings.catch_warnings():
        # Ray forks only to start other programs, which share no Lance handle.
        warnings.filterwarnings("ignore", "lance is not fork-safe", UserWarning)
        # Without an address Ray would join whatever cluster was started on this machine last.
        ray.init(address=address or "local", include_dashboard=False, log_to_driver=False)


def _call(attempt: _attempt[Item, Value], item: Item) -> Outcome[Value]:
    return attempt(item)


def _ray_result(reference: object, index: int, fanout: Fanout) -> Outcome[Value]:
    import ray

    try:
        outcome: Outcome[Value] = ray.get(reference)
    except ray.exceptions.RayTaskError as err:
        if isinstance(err.cause, RobotDataError):
            raise err.cause from err
        raise
    except ray.exceptions.WorkerCrashedError as err:
        raise _worker_died([index], fanout) from err
    return outcome


def _worker_died(indices: list[int], fanout: Fanout) -> StorageError:
    return StorageError(
        f"Items {indices[:10]} ({len(indices)} in all) were not finished: their worker died "
        f"{fanout.max_attempts} times. Check memory and the worker's log, then run again.",
        kind=ErrorKind.WORKER_DIED,
        items=indices[:10],
    )
