"""Alerts as JSON by HTTP POST, with the standard library: its errors don't repeat the address."""

from __future__ import annotations

import json
import urllib.request
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPMessage
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit

from robot_data_platform.telemetry.alert import Alert
from robot_data_platform.telemetry.channel import TIMEOUT_S, Refusal

TOO_MANY_REQUESTS = 429
SERVER_ERRORS = range(500, 600)


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """A server that takes alerts; its address is a secret, whoever has it can write there."""

    url: str = field(repr=False)
    name: str = "webhook"

    def send(self, alert: Alert) -> Refusal | None:
        """POST an alert."""
        request = urllib.request.Request(
            self.url,
            data=json.dumps(alert.to_json()).encode(),
            headers={"Content-Type": "application/json"},
        )
        try:
            with _OPENER.open(request, timeout=TIMEOUT_S) as response:
                response.read()
        except HTTPError as err:
            with err:
                may_pass = err.code == TOO_MANY_REQUESTS or err.code in SERVER_ERRORS
                return Refusal(reason=f"{self._host} answered {err.code}", may_pass=may_pass)
        except URLError as err:
            return Refusal(reason=f"{self._host}: {_kind_of(err.reason)}", may_pass=True)
        except (OSError, HTTPException, UnicodeError) as err:
            return Refusal(reason=f"{self._host}: {_kind_of(err)}", may_pass=True)
        return None

    @property
    def _host(self) -> str:
        return urlsplit(self.url).hostname or ""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirected POST would arrive as a GET, without the alert; it counts as refused."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> None:
        """Follow nothing."""


_OPENER = urllib.request.build_opener(_NoRedirect)


def _kind_of(error: BaseException | str) -> str:
    """Return what failed by class and number: an HTTP error's text may hold what was sent."""
    if isinstance(error, OSError) and error.strerror:
        return f"{type(error).__name__}, {error.strerror}"
    return type(error).__name__
