"""Batches read ahead of who takes them, in order, on a bounded number of threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Order = TypeVar("Order")
Result = TypeVar("Result")


def read_ahead(
    read: Callable[[Order], Result], orders: Iterable[Order], num_ahead: int
) -> Iterator[Result]:
    """Yield ``read(order)`` of each order, while up to ``num_ahead`` of the next are being read.

    At most ``num_ahead + 1`` results exist at a time: the one that was yielded last, and those
    ahead. With 0, nothing is read before it is asked for. An error shows in its place in the order.

    Parameters
    ----------
    read : callable
        Called on as many threads as there are results ahead.
    orders : iterable
        Taken in step with the reading, on the caller's thread.
    num_ahead : int
        0 or more.
    """
    if num_ahead == 0:
        yield from map(read, orders)
        return
    pending: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(num_ahead, thread_name_prefix="rdp-prefetch") as pool:
        try:
            for order in orders:
                pending.append(pool.submit(read, order))
                if len(pending) > num_ahead:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()
