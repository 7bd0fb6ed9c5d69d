"""Locations: a local path or ``s3://bucket/prefix``, and how to reach them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from robot_data_platform.errors import ErrorKind, InvalidInputError

S3_SCHEME = "s3://"

CONNECT_TIMEOUT_S = 3
"""How long a connection to an object store may take to be made."""

REQUEST_TIMEOUT_S = 30
"""How long one request of Lance may take, a part of 5 MiB to be sent or read included."""

RETRY_TIMEOUT_S = 45
"""How long Lance repeats a request that fails, so that a store may restart under a reader.

Longer than one request may take, or a request that was never answered would not be repeated.
"""

MAX_RETRIES = 3
"""How often Lance's client repeats a request, with pauses that grow from 0.1 s."""

MAX_THROTTLE_RETRIES = 1
"""How often Lance starts such a row of requests anew, at a lower rate, when the row has failed."""

MAX_DOWNLOAD_RETRIES = 3
"""How often Lance asks again for an answer whose body broke off."""

_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

_OPTION_BY_VARIABLE = {
    "AWS_ACCESS_KEY_ID": "aws_access_key_id",
    "AWS_SECRET_ACCESS_KEY": "aws_secret_access_key",
    "AWS_SESSION_TOKEN": "aws_session_token",
    "AWS_ENDPOINT_URL": "aws_endpoint",
    "AWS_ENDPOINT_URL_S3": "aws_endpoint",
    "AWS_DEFAULT_REGION": "aws_region",
    "AWS_REGION": "aws_region",
}
"""Lance's option for each variable; of two variables for one option the later one wins."""


def normalise_root(location: str | Path) -> str:
    """Return a lake or landing root: an absolute path, or an ``s3://`` URI without a last slash.

    Raises
    ------
    InvalidInputError
        ``invalid-uri``: empty, another scheme, no bucket, a prefix that climbs, or anything that
        looks like a credential. The message never repeats the location.
    """
    text = str(location)
    if not text.strip():
        raise _invalid("", "is empty")
    if "://" not in text:
        return str(Path(text).expanduser().resolve())
    parts = _split(text)
    if parts.scheme != "s3":
        raise _invalid(parts.scheme, f"has scheme {parts.scheme!r}")
    if parts.query or parts.fragment or "@" in parts.netloc or ":" in parts.netloc:
        raise _invalid(
            parts.scheme, "carries credentials or options, which belong in AWS_* variables"
        )
    if not _BUCKET.fullmatch(parts.netloc):
        raise _invalid(parts.scheme, "has no bucket, or one of other characters than a-z 0-9 . _ -")
    folders = [folder for folder in parts.path.split("/") if folder]
    if {".", ".."} & set(folders):
        raise _invalid(parts.scheme, "has '.' or '..' in its prefix")
    return S3_SCHEME + "/".join([parts.netloc, *folders])


def _split(text: str) -> SplitResult:
    try:
        return urlsplit(text)
    except ValueError:
        # The cause would repeat the location, which may hold a credential.
        raise _invalid("", "is not a URI") from None


def _invalid(scheme: str, what: str) -> InvalidInputError:
    return InvalidInputError(
        f"A location {what}: expected a local path or s3://bucket/prefix. Correct --lake or "
        "--landing (or RDP_LAKE, RDP_LANDING).",
        kind=ErrorKind.INVALID_URI,
        scheme=scheme,
    )


def is_s3(uri: str) -> bool:
    """Return whether a normalised location is on an object store."""
    return uri.startswith(S3_SCHEME)


def join(root: str, *parts: str) -> str:
    """Return ``root`` with path parts appended."""
    return "/".join((root.rstrip("/"), *parts))


def s3_bucket_and_key(uri: str) -> tuple[str, str]:
    """Return the bucket and the key (no leading slash) of an ``s3://`` URI."""
    bucket, _, key = uri.removeprefix(S3_SCHEME).partition("/")
    return bucket, key


def storage_options(uri: str) -> dict[str, str] | None:
    """Return what Lance needs to reach ``uri``, read from the ``AWS_*`` variables at call time."""
    if not is_s3(uri):
        return None
    options = {
        option: os.environ[variable]
        for variable, option in _OPTION_BY_VARIABLE.items()
        if os.environ.get(variable)
    }
    options.setdefault("aws_region", "us-east-1")
    options["connect_timeout"] = f"{CONNECT_TIMEOUT_S}s"
    options["timeout"] = f"{REQUEST_TIMEOUT_S}s"
    options["client_max_retries"] = str(MAX_RETRIES)
    options["client_retry_timeout"] = str(RETRY_TIMEOUT_S)
    options["lance_aimd_max_retries"] = str(MAX_THROTTLE_RETRIES)
    options["download_retry_count"] = str(MAX_DOWNLOAD_RETRIES)
    if options.get("aws_endpoint", "").startswith("http://"):
        options["allow_http"] = "true"
    return options
