"""An HTTP proxy before a server that writes down each request."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Self
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request as it passed the proxy."""

    method: str
    path: str
    """Without the query."""
    query: str
    byte_range: str | None
    """The ``Range`` header, for example ``bytes=0-99``."""
    status: int
    num_bytes: int
    """Length of the answer's body."""


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of clients that left before they were answered."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class CountingProxy:
    """An HTTP proxy in front of one server that writes down what passes.

    The ``Host`` header is passed on untouched, so signatures made for the proxy's address hold.
    """

    def __init__(self, upstream_url: str) -> None:
        self._upstream = urlsplit(upstream_url).netloc
        self._lock = Lock()
        self._requests: list[Request] = []
        self._server = _Server(("127.0.0.1", 0), self._handler_class())
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def endpoint_url(self) -> str:
        """Where clients connect to."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def requests(self) -> list[Request]:
        """What passed since the last ``clear``, in the order of the answers."""
        with self._lock:
            return list(self._requests)

    def clear(self) -> None:
        """Forget what passed."""
        with self._lock:
            self._requests.clear()

    def record(self, request: Request) -> None:
        """Add one request."""
        with self._lock:
            self._requests.append(request)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler_class(self) -> type[BaseHTTPRequestHandler]:
        return type("Handler", (ForwardingHandler,), {"proxy": self, "upstream": self._upstream})


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the server answered."""

    status: int
    reason: str
    headers: tuple[tuple[str, str], ...]
    payload: bytes


class ForwardingHandler(BaseHTTPRequestHandler):
    """Passes each request on to the server, and its answer back."""

    protocol_version = "HTTP/1.1"
    timeout = 30
    proxy: CountingProxy
    upstream: str

    def _forward(self) -> None:
        self.send(self.upstream_answer(self.body()))

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _forward  # noqa: N815

    def upstream_answer(self, body: bytes) -> Answer:
        """Pass the request on and write down what came of it."""
        connection = HTTPConnection(self.upstream, timeout=30)
        try:
            connection.request(self.command, self.path, body, dict(self.headers.items()))
            response = connection.getresponse()
            payload = response.read()
        finally:
            connection.close()
        self._record(response.status, len(payload))
        return Answer(
            status=response.status,
            reason=response.reason,
            headers=tuple(response.getheaders()),
            payload=payload,
        )

    def body(self) -> bytes:
        """Return what the client sent."""
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def send(self, answer: Answer) -> None:
        """Pass an answer back."""
        self.send_head(answer)
        self.wfile.write(answer.payload)

    def send_head(self, answer: Answer) -> None:
        """Pass an answer back without its body."""
        self.send_response_only(answer.status, answer.reason)
        for name, value in answer.headers:
            if name.lower() not in {"connection", "content-length", "transfer-encoding"}:
                self.send_header(name, value)
        declared = dict(answer.headers).get("Content-Length")
        length = declared if self.command == "HEAD" and declared else str(len(answer.payload))
        self.send_header("Content-Length", length)
        self.end_headers()

    def _record(self, status: int, num_bytes: int) -> None:
        parts = urlsplit(self.path)
        self.proxy.record(
            Request(
                method=self.command,
                path=parts.path,
                query=parts.query,
                byte_range=self.headers.get("Range"),
                status=status,
                num_bytes=num_bytes,
            )
        )

    def log_message(self, format: str, *args: object) -> None:
        """Stay quiet: the base class names the argument and prints to stderr."""
