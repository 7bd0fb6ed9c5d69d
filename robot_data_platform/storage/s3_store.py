"""Plain objects on S3 or a store that speaks its protocol."""

from __future__ import annotations

from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from robot_data_platform.errors import ErrorKind, StorageError
from robot_data_platform.storage.faults import (
    object_absent,
    object_exists,
    showable,
    translate,
    unsafe_store,
)
from robot_data_platform.storage.source import safe_relative
from robot_data_platform.storage.uri import (
    CONNECT_TIMEOUT_S,
    join,
    s3_bucket_and_key,
    storage_options,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from mypy_boto3_s3.client import S3Client
    from mypy_boto3_s3.type_defs import ObjectIdentifierTypeDef

    from robot_data_platform.errors import RobotDataError

READ_TIMEOUT_S = 10
"""How long S3 may be silent within one answer; each request is tried three times."""

_EXISTS_CODES = {"PreconditionFailed", "412", "ConditionalRequestConflict"}
_ABSENT_CODES = {"NoSuchKey", "404"}


class S3Store:
    """A bucket and prefix on any S3-compatible store; keys and endpoint from ``AWS_*``."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._bucket, self._prefix = s3_bucket_and_key(root)
        self._client = _s3_client(frozenset((storage_options(root) or {}).items()))

    def put_file(self, local: Path, key: str) -> None:
        """Upload a local file, in parts where it is large."""
        with s3_errors(join(self.root, key)):
            self._client.upload_file(str(local), self._bucket, self._key(key))

    def put_bytes(self, data: bytes, key: str, *, only_new: bool = False) -> None:
        """Write an object whole; ``only_new`` is a conditional PUT."""
        target = self._key(key)
        with s3_errors(join(self.root, key)):
            if only_new:
                self._client.put_object(Bucket=self._bucket, Key=target, Body=data, IfNoneMatch="*")
            else:
                self._client.put_object(Bucket=self._bucket, Key=target, Body=data)

    def get_bytes(self, key: str) -> bytes:
        """Return an object."""
        with s3_errors(join(self.root, key)):
            body = self._client.get_object(Bucket=self._bucket, Key=self._key(key))["Body"]
            with body:
                return bytes(body.read())

    def fetch(self, key: str, local: Path) -> None:
        """Download an object to a local file."""
        with s3_errors(join(self.root, key)):
            self._client.download_file(self._bucket, self._key(key), str(local))

    def list_keys(self, prefix: str, after: str = "", limit: int | None = None) -> list[str]:
        """Return keys below ``prefix``, a page of the store's listing at a time."""
        with s3_errors(join(self.root, prefix)):
            found = islice(self._pages(self._key(prefix), after, limit), limit)
            # Stores that keep folders list one folder after the other.
            return sorted(found)

    def list_sizes(self, prefix: str) -> dict[str, int]:
        """Return the bytes of each object below ``prefix``, by key."""
        pages = self._client.get_paginator("list_objects_v2").paginate(
            Bucket=self._bucket, Prefix=f"{self._key(prefix)}/"
        )
        with s3_errors(join(self.root, prefix)):
            return {
                found["Key"][self._skip :]: found["Size"]
                for page in pages
                for found in page.get("Contents", ())
            }

    def clock_s(self) -> float:
        """Return the store's time, seconds since 1970, as it stamps its answers."""
        with s3_errors(self.root):
            answer = self._client.head_bucket(Bucket=self._bucket)
        stamp = answer["ResponseMetadata"]["HTTPHeaders"]["date"]
        return parsedate_to_datetime(stamp).timestamp()

    def delete(self, keys: Sequence[str]) -> None:
        """Remove objects, a request for each thousand."""
        for start in range(0, len(keys), 1000):
            objects: list[ObjectIdentifierTypeDef] = [
                {"Key": self._key(key)} for key in keys[start : start + 1000]
            ]
            with s3_errors(self.root):
                answer = self._client.delete_objects(
                    Bucket=self._bucket, Delete={"Objects": objects, "Quiet": True}
                )
            for failed in answer.get("Errors", ()):
                raise _not_deleted(join(self.root, failed.get("Key", "")), failed.get("Code", ""))

    def _pages(self, prefix: str, after: str, limit: int | None) -> Iterator[str]:
        pages = self._client.get_paginator("list_objects_v2").paginate(
            Bucket=self._bucket,
            Prefix=f"{prefix}/",
            StartAfter=self._key(after) if after else "",
            PaginationConfig={"PageSize": min(limit or 1000, 1000)},
        )
        for page in pages:
            yield from (found["Key"][self._skip :] for found in page.get("Contents", ()))

    @property
    def _skip(self) -> int:
        """How many characters of a key stand for the root."""
        return len(self._prefix) + 1 if self._prefix else 0

    def _key(self, key: str) -> str:
        relative = safe_relative(key, self.root).as_posix()
        return f"{self._prefix}/{relative}" if self._prefix else relative


@contextmanager
def s3_errors(uri: str) -> Iterator[None]:
    """Raise this project's errors for what boto3 raises inside the block."""
    from boto3.exceptions import Boto3Error
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except ClientError as err:
        raise _answered(err.response.get("Error", {}).get("Code", ""), err, uri) from showable(err)
    except (BotoCoreError, Boto3Error, OSError) as err:
        raise translate(err, uri) from showable(err)


def _not_deleted(uri: str, code: str) -> StorageError:
    return StorageError(
        f"Object {uri!r} could not be removed ({code}). Check the rights on the bucket, then run "
        "the same command again.",
        kind=ErrorKind.STORE_FAILED,
        uri=uri,
    )


def _answered(code: str, error: Exception, uri: str) -> RobotDataError:
    if code in _EXISTS_CODES:
        return object_exists(uri)
    if code in _ABSENT_CODES:
        return object_absent(uri)
    if code == "NotImplemented":
        return unsafe_store(uri, "does not implement a request")
    return translate(error, uri)


@lru_cache(maxsize=16)
def _s3_client(options: frozenset[tuple[str, str]]) -> S3Client:
    """Return the client for some options; making one takes a tenth of a second."""
    import boto3
    from botocore.config import Config

    given = dict(options)
    # A session of its own: the default one keeps the first keys it ever saw.
    return boto3.session.Session().client(
        "s3",
        region_name=given["aws_region"],
        config=Config(
            connect_timeout=CONNECT_TIMEOUT_S,
            read_timeout=READ_TIMEOUT_S,
            retries={"total_max_attempts": 3, "mode": "standard"},
            # As Lance does: a store of one's own seldom has a host name for each bucket.
            s3={"addressing_style": "path" if "aws_endpoint" in given else "auto"},
        ),
    )
