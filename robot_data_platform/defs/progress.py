"""Who wants to hear how far a materialization is: the CLI's progress bar, or nobody."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robot_data_platform.compute.episodes_map import Progress

Listener = Callable[[str, int, int], None]
"""Called with (asset, items done, items in all)."""

_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Hear of the progress of everything materialized inside the block, in this process."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def progress_of(asset: str) -> Progress | None:
    """Return what an asset's work reports its progress to."""
    listener = _LISTENER.get()
    if listener is None:
        return None
    return lambda done, total: listener(asset, done, total)
