"""Locations: a local path or ``s3://bucket/prefix``, and how to reach them."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

from robot_data_platform.errors import ErrorKind, InvalidInputError

S3_SCHEME = "s3://"


def normalise_root(location: str | Path) -> str:
    """Return a lake or landing root as an absolute path or an ``s3://`` URI without a slash at its end.

    Raises
    ------
    InvalidInputError
        ``invalid-uri``: another scheme, no bucket, or anything that looks like a credential.
    """
    text = str(location)
    if "://" not in text:
        return str(Path(text).expanduser().resolve())
    parts = urlsplit(text)
    if parts.username or parts.password or parts.query or parts.fragment or "@" in parts.netloc:
        raise _invalid(parts.scheme, "carries credentials or options; they belong in AWS_* variables")
    if parts.scheme != "s3" or not parts.netloc:
        raise _invalid(parts.scheme, f"has scheme {parts.scheme!r} and bucket {parts.netloc!r}")
    return f"s3://{parts.netloc}{parts.path}".rstrip("/")


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
    names = {
        "AWS_ACCESS_KEY_ID": "aws_access_key_id",
        "AWS_SECRET_ACCESS_KEY": "aws_secret_access_key",
        "AWS_SESSION_TOKEN": "aws_session_token",
        "AWS_ENDPOINT_URL": "aws_endpoint",
        "AWS_ENDPOINT_URL_S3": "aws_endpoint",
        "AWS_DEFAULT_REGION": "aws_region",
        "AWS_REGION": "aws_region",
    }
    options = {option: os.environ[name] for name, option in names.items() if os.environ.get(name)}
    options.setdefault("aws_region", "us-east-1")
    if options.get("aws_endpoint", "").startswith("http://"):
        options["allow_http"] = "true"
    return options
