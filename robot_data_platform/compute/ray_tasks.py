"""Items as tasks of a Ray cluster: few at once, and tried again when a worker or node dies."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from robot_data_platform import __version__
from robot_data_platform.compute.ray_cluster import connect, task_memory_bytes
from robot_data_platform.errors import ErrorKind, InvalidInputError, RobotDataError, StorageError

if TYPE_CHECKING:
    import ray

    from robot_data_platform.compute.episodes_map import Fanout

Item = TypeVar("Item")
Value = TypeVar("Value")

TASK_MEMORY_BYTES = 1 << 30
"""What a task asks the cluster for, so that no node runs more of them than it has memory for."""
TASKS_PER_WORKER = 2
"""Tasks that are handed over for each worker: one that runs, and one that waits behind it."""
QUIET_S = 60.0
"""After so long without an end of any task, the log says what the cluster has free."""

_LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class _Running(Generic[Item, Value]):
    """Tasks that were handed over and have not ended."""

    remote: ray.remote_function.RemoteFunction
    function: Callable[[Item], Value]
    fanout: Fanout
    index_by_task: dict[ray.ObjectRef[Value], int] = field(default_factory=dict)
    num_tries: dict[int, int] = field(default_factory=dict)

    def submit(self, index: int, item: Item) -> None:
        self.num_tries[index] = self.num_tries.get(index, 0) + 1
        self.index_by_task[self.remote.remote(self.function, item, __version__)] = index

    def submit_again(self, index: int, item: Item, err: Exception) -> None:
        """Hand a task over again whose worker or node died, after a pause.

        Raises
        ------
        StorageError
            ``worker-died``: it was the last try.
        """
        tries = self.num_tries[index]
        if tries >= self.fanout.max_attempts:
            raise worker_died([index], self.fanout.max_attempts) from err
        _LOG.warning(
            "item %d: try %d of %d ended with its worker (%s); it is tried again",
            index,
            tries,
            self.fanout.max_attempts,
            type(err).__name__,
        )
        time.sleep(self.fanout.pause_s * 2 ** (tries - 1))
        self.submit(index, item)


def run_on_ray(
    function: Callable[[Item], Value], items: Sequence[Item], fanout: Fanout, num_workers: int
) -> Iterator[tuple[int, Value]]:
    """Yield (index, value) of every item as its task ends.

    Raises
    ------
    StorageError
        ``cluster-unreachable``, or ``worker-died``: a worker died `Fanout.max_attempts` times
        with one item.
    RobotDataError
        What ``function`` raises.
    """
    import ray

    connect(fanout.ray_address)
    # Tries are counted here, one count for every way in which a worker can end.
    remote = ray.remote(num_cpus=1, max_retries=0, memory=task_memory_bytes(TASK_MEMORY_BYTES))(
        _call
    )
    running: _Running[Item, Value] = _Running(remote, function, fanout)
    waiting = iter(enumerate(items))
    try:
        while True:
            for index, item in waiting:
                running.submit(index, item)
                if len(running.index_by_task) >= TASKS_PER_WORKER * num_workers:
                    break
            if not running.index_by_task:
                return
            yield from _ended(running, items)
    finally:
        for task in running.index_by_task:
            ray.cancel(task, force=True)


def _ended(running: _Running[Item, Value], items: Sequence[Item]) -> Iterator[tuple[int, Value]]:
    import ray

    tasks = list(running.index_by_task)
    done, _ = ray.wait(tasks, num_returns=1, timeout=QUIET_S)
    if not done:
        _LOG.warning(
            "no task ended for %.0f s; %d are handed over, and the cluster has free: %s",
            QUIET_S,
            len(tasks),
            ray.available_resources(),
        )
    for task in done:
        index = running.index_by_task.pop(task)
        try:
            yield index, cast("Value", _result(task))
        except _worker_faults() as err:
            running.submit_again(index, items[index], err)


def _call(function: Callable[[Item], Value], item: Item, version: str) -> Value:
    if version != __version__:
        raise InvalidInputError(
            f"A node of the Ray cluster has robot_data_platform {__version__}: expected {version}, "
            "that of the process which hands out the work. Give all nodes one image.",
            kind=ErrorKind.INVALID_ARGUMENT,
            got=__version__,
            expected=version,
        )
    return function(item)


def _result(task: object) -> object:
    import ray

    try:
        result: object = ray.get(task)
    except ray.exceptions.RayTaskError as err:
        if isinstance(err.cause, RobotDataError):
            raise err.cause from err
        raise
    return result


def _worker_faults() -> tuple[type[Exception], ...]:
    """Return what Ray raises where a process or machine ended, whatever ran in it."""
    from ray import exceptions

    return (
        exceptions.WorkerCrashedError,
        exceptions.NodeDiedError,
        exceptions.OutOfMemoryError,
        exceptions.ObjectLostError,
        exceptions.LocalRayletDiedError,
    )


def worker_died(indices: Sequence[int], num_attempts: int) -> StorageError:
    """Return the error of items whose worker died in each of ``num_attempts`` tries."""
    return StorageError(
        f"Items {list(indices[:10])} ({len(indices)} in all) were not finished: their worker died "
        f"{num_attempts} times. Check memory and the worker's log, then run again.",
        kind=ErrorKind.WORKER_DIED,
        items=list(indices[:10]),
    )
