"""Tells a Dagster web server of a model, by its REST interface and with the standard library.

Where a proxy asks for a password, it comes from ``RDP_DAGSTER_USER`` and ``RDP_DAGSTER_PASSWORD``.
"""

from __future__ import annotations

import json
import logging
import os
import urllib.request
from base64 import b64encode
from collections.abc import Mapping
from http.client import HTTPException
from urllib.parse import urlsplit

from robot_data_platform.errors import ErrorKind, InvalidInputError

ASSET = "trained_models"
"""Key of the external asset; the asset graph declares it under this name."""

TIMEOUT_S = 10
"""How long the server may take for one request."""

_LOG = logging.getLogger(__name__)


def check_server_url(url: str) -> str:
    """Return the address of a web server without a slash at its end.

    Raises
    ------
    InvalidInputError
        ``invalid-uri``: another scheme than http or https, no host, or a user and password.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or "@" in parts.netloc:
        raise InvalidInputError(
            f"The address of the Dagster web server, with scheme {parts.scheme!r} and host "
            f"{parts.hostname!r}, can't be used: expected http://host:port or https://host, "
            "without a user. Correct dagster_url.",
            kind=ErrorKind.INVALID_URI,
            scheme=parts.scheme,
        )
    return url.rstrip("/")


def report_model(url: str, *, data_version: str, metadata: Mapping[str, object]) -> bool:
    """Report a materialization of ``trained_models``; return whether the server took it.

    A failure is logged as a warning and nothing more: the lake holds the record. The server
    would answer 200 to an unknown asset and make a stray one of it, so it is asked first whether
    it knows the asset.
    """
    try:
        if not _is_known(url):
            _LOG.warning("The Dagster server has no asset %r: the model is in the lake only", ASSET)
            return False
        body = {"data_version": data_version, "metadata": dict(metadata)}
        _post(f"{url}/report_asset_materialization/{ASSET}", body)
    except (OSError, ValueError, HTTPException) as err:
        _LOG.warning("The Dagster server did not take the report of the model: %s", err)
        return False
    return True


def _is_known(url: str) -> bool:
    query = "query($key: AssetKeyInput!) { assetNodeOrError(assetKey: $key) { __typename } }"
    answer = _post(f"{url}/graphql", {"query": query, "variables": {"key": {"path": [ASSET]}}})
    return '"AssetNode"' in answer


def _post(url: str, body: Mapping[str, object]) -> str:
    request = urllib.request.Request(
        url,
        data=json.dumps(body).encode(),
        # Exactly this: the server compares the whole header.
        headers={"Content-Type": "application/json"},
    )
    user = os.environ.get("RDP_DAGSTER_USER")
    if user:
        password = os.environ.get("RDP_DAGSTER_PASSWORD", "")
        token = b64encode(f"{user}:{password}".encode()).decode()
        # A redirection may lead to another host, which is told nothing.
        request.add_unredirected_header("Authorization", f"Basic {token}")
    with urllib.request.urlopen(request, timeout=TIMEOUT_S) as response:
        text: str = response.read().decode()
    return text
