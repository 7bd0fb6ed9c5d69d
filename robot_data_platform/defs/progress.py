"""Who hears how far a materialization is: the CLI's progress bar, or the log of its run."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robot_data_platform.compute.episodes_map import Progress

Listener = Callable[[str, int, int], None]
"""Called with (asset, items done, items in all)."""

LOG_EVERY_S = 30.0
"""Pause between two lines on progress in a run's log."""

_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Hear of the progress of everything materialized inside the block, in this process."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def progress_of(asset: str, log: logging.Logger) -> Progress:
    """Return what an asset's work reports its progress to; a run's log hears of it now and then."""
    listener = _LISTENER.get()
    if listener is not None:
        return lambda done, total: listener(asset, done, total)
    now_s = time.monotonic()
    return _Told(asset, log, started_s=now_s, told_s=now_s)


@dataclass(slots=True)
class _Told:
    asset: str
    log: logging.Logger
    started_s: float
    told_s: float

    def __call__(self, done: int, total: int) -> None:
        now_s = time.monotonic()
        if now_s - self.told_s >= LOG_EVERY_S and done < total:
            self.told_s = now_s
            left_s = (now_s - self.started_s) / done * (total - done)
            self.log.info(
                "%s: %d of %d tasks done, about %.0f s left", self.asset, done, total, left_s
            )
