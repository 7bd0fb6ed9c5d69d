"""A small HTTP server that shows Data Docs of a lake, on a disk or on S3, to a browser."""

from __future__ import annotations

from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from robot_data_platform.compute.data_docs import read_page
from robot_data_platform.errors import NotFoundError, RobotDataError

if TYPE_CHECKING:
    from robot_data_platform.storage.lake import Lake


def docs_server(lake: Lake, host: str, port: int) -> ThreadingHTTPServer:
    """Return a server of the pages; it listens once it is made, and answers in `serve_forever`.

    Parameters
    ----------
    lake : Lake
        Whose pages.
    host : str
        Address to listen at.
    port : int
        0 takes a free one.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(with_body=True)

        def do_HEAD(self) -> None:
            self._answer(with_body=False)

        def log_message(self, format: str, *args: object) -> None:
            """Write nothing: requests are not the lake's history."""

        def _answer(self, *, with_body: bool) -> None:
            status, kind, body = _page(lake, self.path)
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("X-Content-Type-Options", "nosniff")
            self.end_headers()
            if with_body:
                self.wfile.write(body)

    return ThreadingHTTPServer((host, port), Handler)


def _page(lake: Lake, target: str) -> tuple[HTTPStatus, str, bytes]:
    """Return status, content type and body for the target of a request."""
    text = "text/plain; charset=utf-8"
    try:
        key = unquote(urlsplit(target).path).lstrip("/")
        return HTTPStatus.OK, "text/html; charset=utf-8", read_page(lake, key)
    except NotFoundError as err:
        return HTTPStatus.NOT_FOUND, text, str(err).encode()
    except (RobotDataError, ValueError) as err:
        return HTTPStatus.BAD_GATEWAY, text, str(err).encode()
