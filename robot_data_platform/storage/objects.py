"""Plain files on the local disk or on S3, by the same five calls."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from robot_data_platform.errors import ErrorKind, InvalidInputError, NotFoundError, StorageError
from robot_data_platform.storage.faults import store_errors, translate
from robot_data_platform.storage.source import safe_relative
from robot_data_platform.storage.uri import is_s3, join, s3_bucket_and_key

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client


class ObjectStore(Protocol):
    """Files below one root, by relative POSIX key."""

    root: str

    def put_file(self, local: Path, key: str) -> None:
        """Copy a local file to ``key``; a reader never sees half of it."""

    def put_bytes(self, data: bytes, key: str, *, only_new: bool = False) -> None:
        """Write an object whole; ``InvalidInputError`` (``already-exists``) where only new ones may."""

    def get_bytes(self, key: str) -> bytes:
        """Return an object; ``NotFoundError`` (``upload-not-found``) where there is none."""

    def fetch(self, key: str, local: Path) -> None:
        """Copy an object to a local file."""

    def list_keys(self, prefix: str, after: str = "", limit: int | None = None) -> list[str]:
        """Return keys below ``prefix`` that sort after ``after``, sorted, at most ``limit``."""


def object_store(root: str) -> ObjectStore:
    """Return the store of a normalised root."""
    return S3Store(root) if is_s3(root) else LocalStore(root)


class LocalStore:
    """A folder; writes go to a temporary name beside the target and are renamed."""

    def __init__(self, root: str) -> None:
        self.root = root

    def put_file(self, local: Path, key: str) -> None:
        """Copy a local file to ``key``."""
        target = self._path(key)
        with store_errors(str(target)):
            target.parent.mkdir(parents=True, exist_ok=True)
            partial = target.with_name(f".{target.name}.partial-{os.getpid()}")
            shutil.copyfile(local, partial)
            partial.replace(target)

    def put_bytes(self, data: bytes, key: str, *, only_new: bool = False) -> None:
        """Write an object whole."""
        target = self._path(key)
        with store_errors(str(target)):
            target.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=target.parent, prefix=".", delete=False) as file:
                file.write(data)
            if not only_new:
                Path(file.name).replace(target)
                return
            try:
                os.link(file.name, target)
            except FileExistsError as err:
                raise _exists(str(target)) from err
            finally:
                Path(file.name).unlink()

    def get_bytes(self, key: str) -> bytes:
        """Return an object."""
        path = self._path(key)
        if not path.is_file():
            raise _absent(str(path))
        with store_errors(str(path)):
            return path.read_bytes()

    def fetch(self, key: str, local: Path) -> None:
        """Copy an object to a local file."""
        with store_errors(str(self._path(key))):
            shutil.copyfile(self._path(key), local)

    def list_keys(self, prefix: str, after: str = "", limit: int | None = None) -> list[str]:
        """Return keys below ``prefix``; hidden files (half written) are not listed."""
        base = self._path(prefix)
        with store_errors(str(base)):
            found = (p for p in base.rglob("*") if p.is_file() and not p.name.startswith("."))
            keys = sorted(p.relative_to(self.root).as_posix() for p in found)
        return [key for key in keys if key > after][:limit]

    def _path(self, key: str) -> Path:
        return Path(self.root) / safe_relative(key, self.root)


class S3Store:
    """A bucket and prefix on any S3-compatible store; keys and endpoint from ``AWS_*``."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._bucket, self._prefix = s3_bucket_and_key(root)
        self._client = _s3_client()

    def put_file(self, local: Path, key: str) -> None:
        """Upload a local file, in parts where it is large."""
        with s3_errors(join(self.root, key)):
            self._client.upload_file(str(local), self._bucket, self._key(key))

    def put_bytes(self, data: bytes, key: str, *, only_new: bool = False) -> None:
        """Write an object whole; ``only_new`` is a conditional PUT."""
        condition = {"IfNoneMatch": "*"} if only_new else {}
        with s3_errors(join(self.root, key)):
            self._client.put_object(
                Bucket=self._bucket, Key=self._key(key), Body=data, **condition
            )

    def get_bytes(self, key: str) -> bytes:
        """Return an object."""
        with s3_errors(join(self.root, key)):
            return self._client.get_object(Bucket=self._bucket, Key=self._key(key))["Body"].read()

    def fetch(self, key: str, local: Path) -> None:
        """Download an object to a local file."""
        with s3_errors(join(self.root, key)):
            self._client.download_file(self._bucket, self._key(key), str(local))

    def list_keys(self, prefix: str, after: str = "", limit: int | None = None) -> list[str]:
        """Return keys below ``prefix``, a page of the store's listing at a time."""
        pages = self._client.get_paginator("list_objects_v2").paginate(
            Bucket=self._bucket,
            Prefix=self._key(prefix).rstrip("/") + "/",
            StartAfter=self._key(after) if after else "",
            PaginationConfig={"MaxItems": limit} if limit else {},
        )
        skip = len(self._prefix) + 1 if self._prefix else 0
        with s3_errors(join(self.root, prefix)):
            return [o["Key"][skip:] for page in pages for o in page.get("Contents", ())]

    def _key(self, key: str) -> str:
        relative = safe_relative(key, self.root).as_posix()
        return f"{self._prefix}/{relative}" if self._prefix else relative


def check_conditional_put(root: str) -> None:
    """Refuse a store that ignores ``If-None-Match``: on such a store commits would be lost.

    Raises
    ------
    StorageError
        ``store-unsafe``: a second conditional PUT of one key was accepted.
    """
    if not is_s3(root):
        return
    store, key = S3Store(root), "_catalog/.conditional-put-probe"
    for _ in range(2):
        try:
            store.put_bytes(b"probe", key, only_new=True)
        except InvalidInputError:
            return
    raise StorageError(
        f"The store of {root!r} accepted a second conditional PUT of one key: expected 412. "
        "Commits on it could be lost; use a store that honours If-None-Match.",
        kind=ErrorKind.STORE_UNSAFE,
        uri=root,
    )


@contextmanager
def s3_errors(uri: str) -> Iterator[None]:
    """Raise this project's errors for what boto3 raises inside the block."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except ClientError as err:
        code = err.response.get("Error", {}).get("Code", "")
        if code in {"PreconditionFailed", "412", "ConditionalRequestConflict"}:
            raise _exists(uri) from err
        if code in {"NoSuchKey", "404", "NoSuchBucket"}:
            raise _absent(uri) from err
        raise translate(err, uri) from err
    except (BotoCoreError, OSError) as err:
        raise translate(err, uri) from err


def _s3_client() -> S3Client:
    import boto3
    from botocore.config import Config

    return boto3.client("s3", config=Config(retries={"max_attempts": 4, "mode": "standard"}))


def _exists(uri: str) -> InvalidInputError:
    return InvalidInputError(
        f"Object {uri!r} exists: expected a new name. Choose another upload id.",
        kind=ErrorKind.ALREADY_EXISTS,
        uri=uri,
    )


def _absent(uri: str) -> NotFoundError:
    return NotFoundError(
        f"Object {uri!r} is not there. Check --landing and the upload's name.",
        kind=ErrorKind.UPLOAD_NOT_FOUND,
        uri=uri,
    )
