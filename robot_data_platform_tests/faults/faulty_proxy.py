"""A proxy before an S3 server that does to requests what networks and stores do to them."""

from __future__ import annotations

import random
import socket
import struct
import time
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from http.server import BaseHTTPRequestHandler
from threading import Event, Lock
from urllib.parse import unquote, urlsplit

from robot_data_platform_tests.counting_proxy import Answer, CountingProxy, ForwardingHandler
from robot_data_platform_tests.servers import S3Server


class Fault(StrEnum):
    """What happens to one request."""

    SLOW_DOWN = "503, not passed on"
    RESET = "connection reset, not passed on"
    SILENCE = "never answered, not passed on"
    SLOW_BODY = "answered in drops"
    CUT_BODY = "answer cut in the middle"
    DONE_BUT_500 = "done, and answered 500"
    DONE_BUT_RESET = "done, and the connection reset"
    UNCONDITIONAL = "done, whatever If-None-Match asks for"


QUICK_READ_FAULTS = (Fault.SLOW_DOWN, Fault.RESET, Fault.SLOW_BODY, Fault.CUT_BODY)
QUICK_WRITE_FAULTS = (Fault.SLOW_DOWN, Fault.RESET, Fault.DONE_BUT_500, Fault.DONE_BUT_RESET)
# Silence is seldom drawn: each takes as long as a client waits.
READ_FAULTS = (*QUICK_READ_FAULTS * 3, Fault.SILENCE)
WRITE_FAULTS = (*QUICK_WRITE_FAULTS * 3, Fault.SILENCE)

PRECONDITION_FAILED = 412
DROPS = 4
DROP_PAUSE_S = 0.05
SILENCE_S = 60.0
"""Longer than any client waits in a test."""

Planned = tuple[Fault, ...]


@dataclass(slots=True)
class Plan:
    """Which requests meet a fault, and which: at random, by a seed."""

    share: float
    """0 to 1, of all requests."""
    seed: int = 0
    reads: Planned = READ_FAULTS
    writes: Planned = WRITE_FAULTS
    only: str = ""
    """Part of the path of those that may meet one."""
    limit: int | None = None
    """How many may meet one; None, any number."""
    met: Counter[Fault] = field(default_factory=Counter)
    num_requests: int = 0
    num_by_request: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Of those that met a fault, by method and path with its query."""
    _random: random.Random = field(init=False)
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def next_fault(self, method: str, path: str) -> Fault | None:
        """Return what happens to the next request."""
        with self._lock:
            self.num_requests += 1
            chosen = self.reads if method in {"GET", "HEAD"} else self.writes
            if not chosen or self._is_spared(path):
                return None
            fault = self._random.choice(chosen)
            self.met[fault] += 1
            self.num_by_request[method, path] += 1
            return fault

    def _is_spared(self, path: str) -> bool:
        is_over = self.limit is not None and self.met.total() >= self.limit
        return is_over or self.only not in path or self._random.random() >= self.share

    def most_alike(self) -> int:
        """Return how often the request was made that met most faults."""
        return max(self.num_by_request.values(), default=0)


class FaultyProxy(CountingProxy):
    """A `CountingProxy` that follows a plan; there is none at first."""

    def __init__(self, server: S3Server) -> None:
        super().__init__(server.endpoint_url)
        self.server = server
        self.plan = Plan(share=0.0)
        self.ending = Event()

    def __exit__(self, *exc_info: object) -> None:
        self.ending.set()
        super().__exit__(*exc_info)

    def _handler_class(self) -> type[BaseHTTPRequestHandler]:
        members = {"proxy": self, "faults": self, "upstream": self._upstream}
        return type("Handler", (_FaultyHandler,), members)


class _FaultyHandler(ForwardingHandler):
    faults: FaultyProxy

    def _faulty(self) -> None:
        fault, body = self.faults.plan.next_fault(self.command, self.path), self.body()
        if fault is None:
            self.send(self.upstream_answer(body))
        elif fault in (Fault.SLOW_DOWN, Fault.RESET, Fault.SILENCE):
            self._refuse(fault)
        else:
            self._spoil(fault, self.upstream_answer(body), body)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _faulty  # noqa: N815

    def _refuse(self, fault: Fault) -> None:
        if fault is Fault.SLOW_DOWN:
            self.send(_error(503, "SlowDown"))
        elif fault is Fault.RESET:
            self._reset()
        else:
            self.faults.ending.wait(SILENCE_S)
            self._reset()

    def _spoil(self, fault: Fault, answer: Answer, body: bytes) -> None:
        if fault is Fault.DONE_BUT_500:
            self.send(_error(500, "InternalError"))
        elif fault is Fault.DONE_BUT_RESET:
            self._reset()
        elif fault is Fault.UNCONDITIONAL:
            self.send(self._put_anyway(body) if answer.status == PRECONDITION_FAILED else answer)
        elif fault is Fault.CUT_BODY:
            self.send_head(answer)
            self.wfile.write(answer.payload[: len(answer.payload) // 2])
            self._reset()
        else:
            self._send_in_drops(answer)

    def _send_in_drops(self, answer: Answer) -> None:
        self.send_head(answer)
        size = -(-len(answer.payload) // DROPS) or 1
        for start in range(0, len(answer.payload), size):
            time.sleep(DROP_PAUSE_S)
            self.wfile.write(answer.payload[start : start + size])

    def _put_anyway(self, body: bytes) -> Answer:
        """Overwrite what is there, as a store does that does not know the header."""
        bucket, key = unquote(urlsplit(self.path).path).lstrip("/").split("/", 1)
        self.faults.server.client.put_object(Bucket=bucket, Key=key, Body=body)
        return Answer(status=200, reason="OK", headers=(("ETag", '"any"'),), payload=b"")

    def _reset(self) -> None:
        """End the connection as a machine that crashed does: without a last word."""
        self.wfile.flush()
        at_once = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
        self.connection.close()
        self.close_connection = True


def _error(status: int, code: str) -> Answer:
    told = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>on purpose</Message></Error>"
    return Answer(status=status, reason=code, headers=(), payload=told.encode())
