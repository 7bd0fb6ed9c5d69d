"""One line of JSON a request, one a reply, between the driver and a worker process.

A worker keeps its readers open from request to request. This module is run by the peers' Python
too, so it needs the standard library only.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

Reply = dict[str, Any]
Handler = Callable[..., Reply]


def serve(handlers: Mapping[str, Handler]) -> None:
    """Answer requests until the driver closes the pipe.

    Libraries print what they like: only replies reach the driver, all else goes to stderr.
    """
    with os.fdopen(os.dup(1), "w", buffering=1) as replies:
        os.dup2(2, 1)
        for line in sys.stdin:
            request = json.loads(line)
            reply = handlers[request.pop("op")](**request)
            replies.write(json.dumps(reply) + "\n")


def peak_bytes() -> int:
    """Return the largest resident size that this process had since it was started.

    ``ru_maxrss`` would count the parent, whose memory a child has until it runs its own program
    (Linux, getrusage(2) and proc(5), "VmHWM").
    """
    with open("/proc/self/status", encoding="ascii") as status:
        line = next(line for line in status if line.startswith("VmHWM:"))
    return 1024 * int(line.split()[1])


class Stopwatch:
    """Wall-clock and processor seconds of a block, all threads of this process together."""

    def __enter__(self) -> Stopwatch:
        self._wall, self._cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.wall_s = time.perf_counter() - self._wall
        self.cpu_s = time.process_time() - self._cpu

    def per(self, count: int) -> Reply:
        """Return the seconds of one of ``count`` equal parts."""
        return {"wall_s": self.wall_s / count, "cpu_s": self.cpu_s / count}
