"""Functions that other processes run in place of an episode's work; each fails in its own way."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from robot_data_platform.errors import (
    CommitConflictError,
    DataFaultError,
    ErrorKind,
    RobotDataError,
    StorageError,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One piece of work; ``folder`` remembers over processes how often it was tried."""

    number: int
    folder: Path
    num_failures: int = 0
    """Times that it fails before it succeeds."""
    kind: ErrorKind = ErrorKind.STORE_FAILED


def items(folder: Path, count: int, **failing: int) -> list[Item]:
    """Return items 0, 1, ...; ``at_<number>=n`` says how often one fails."""
    return [
        Item(number=number, folder=folder, num_failures=failing.get(f"at_{number}", 0))
        for number in range(count)
    ]


def num_tries(item: Item) -> int:
    return len(list(item.folder.glob(f"{item.number}-*")))


def squared(item: Item) -> int:
    """Return the number's square; the earlier items take longest."""
    time.sleep(0.2 if item.number == 0 else 0)
    _fails(item)
    return item.number**2


def squared_or_store_error(item: Item) -> int:
    if _fails(item):
        raise _store_error(item)
    return item.number**2


def squared_or_data_fault(item: Item) -> int:
    if _fails(item):
        raise DataFaultError(
            f"Item {item.number} is damaged", kind=ErrorKind.UNREADABLE_FILE, item=item.number
        )
    return item.number**2


def squared_or_bug(item: Item) -> int:
    if _fails(item):
        raise KeyError(item.number)
    return item.number**2


def squared_or_killed(item: Item) -> int:
    """Return the number's square, or be killed as by a kernel that is out of memory."""
    if _fails(item):
        os.kill(os.getpid(), signal.SIGKILL)
    return item.number**2


def process_of(item: Item) -> int:
    """Return the process that worked on the item."""
    time.sleep(0.1)
    return os.getpid()


def variables_of(prefix: str) -> dict[str, str]:
    """Return the variables of the worker that begin so."""
    return {name: value for name, value in os.environ.items() if name.startswith(prefix)}


def node_of(item: Item) -> str:
    """Return the node of the Ray cluster that worked on the item."""
    import ray

    time.sleep(0.5)
    return str(ray.get_runtime_context().get_node_id())


def node_after_waiting(item: Item) -> str:
    """Return the node that ended the item; where one says that it began, it waits to be killed."""
    import ray

    node = str(ray.get_runtime_context().get_node_id())
    (item.folder / f"{item.number}-{num_tries(item)}").write_text(node)
    while item.number == 0 and num_tries(item) == 1:
        time.sleep(0.1)
    return node


def seen_region(item: Item) -> str:
    return os.environ.get("AWS_REGION", "")


def _store_error(item: Item) -> RobotDataError:
    cls = CommitConflictError if item.kind is ErrorKind.COMMIT_CONFLICT else StorageError
    return cls(f"Item {item.number} met a failing store", kind=item.kind, item=item.number)


def _fails(item: Item) -> bool:
    """Remember a try; return whether it is one of those that fail."""
    tries = num_tries(item)
    (item.folder / f"{item.number}-{tries}").touch()
    return tries < item.num_failures
