"""One pool of worker processes, kept between the steps of a run: starting one costs seconds.

Workers are spawned, not forked: Lance handles that cross a fork hang on S3.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

INHERITED = ("AWS_", "RDP_")
"""Prefixes of variables that workers read; a change of one needs new workers."""


@dataclass(slots=True)
class _Kept:
    key: tuple[int, frozenset[tuple[str, str]]]
    pool: ProcessPoolExecutor


_KEPT: list[_Kept] = []


def process_pool(num_workers: int) -> ProcessPoolExecutor:
    """Return the pool of this process, started anew where width or environment changed."""
    variables = frozenset((k, v) for k, v in os.environ.items() if k.startswith(INHERITED))
    key = (num_workers, variables)
    if not _KEPT or _KEPT[0].key != key:
        close_pool()
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(num_workers, mp_context=context, initializer=_end_with_parent)
        _KEPT.append(_Kept(key, pool))
    return _KEPT[0].pool


def _end_with_parent() -> None:
    """Watch the parent from a thread: a worker of a killed parent would wait for work for ever."""
    threading.Thread(target=_exit_after_parent, daemon=True).start()


def _exit_after_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def close_pool() -> None:
    """End the workers, if there are any."""
    while _KEPT:
        _KEPT.pop().pool.shutdown(wait=False, cancel_futures=True)
