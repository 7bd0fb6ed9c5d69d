"""A robot that uploads by the protocol of ``docs/format.md``, with boto3 and its keys alone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

LANDING = "rdp-landing"


def s3_client(endpoint_url: str, keys: tuple[str, str]) -> S3Client:
    """Return a client of the store as one pair of keys is known there."""
    access_key, secret_key = keys
    return boto3.client(
        "s3",
        endpoint_url=endpoint_url,
        aws_access_key_id=access_key,
        aws_secret_access_key=secret_key,
        region_name="us-east-1",
        config=Config(s3={"addressing_style": "path"}),
    )


def upload(client: S3Client, source: Path, dataset: str, upload_id: str) -> None:
    """Put the bytes, each only where nothing is yet, and then the marker."""
    files = []
    for path in sorted(path for path in source.rglob("*") if path.is_file()):
        relative, data = path.relative_to(source).as_posix(), path.read_bytes()
        _put_new(client, f"{dataset}/{upload_id}/{relative}", data)
        sha256 = hashlib.sha256(data).hexdigest()
        files.append({"path": relative, "size_bytes": len(data), "sha256": sha256})
    marker = {"upload": upload_id, "dataset": dataset, "files": files}
    _put_new(client, f"_uploads/{upload_id}.json", json.dumps(marker).encode())


def refusals(client: S3Client, dataset: str, upload_id: str, other_dataset: str) -> dict[str, str]:
    """Try what no robot may do, and return the store's answer to each."""
    marker, file = f"_uploads/{upload_id}.json", f"{dataset}/{upload_id}/anything"
    attempts: dict[str, Callable[[], object]] = {
        "write over a marker": lambda: _put_new(client, marker, b"{}"),
        "read a marker": lambda: client.get_object(Bucket=LANDING, Key=marker),
        "remove a marker": lambda: client.delete_object(Bucket=LANDING, Key=marker),
        "remove a file": lambda: client.delete_object(Bucket=LANDING, Key=file),
        "list the bucket": lambda: client.list_objects_v2(Bucket=LANDING),
        "write into another dataset": lambda: _put_new(client, f"{other_dataset}/x/y", b""),
        "write another dataset's marker": lambda: _put_new(
            client, f"_uploads/1-{other_dataset}-1.json", b"{}"
        ),
        "write into the lake": lambda: client.put_object(Bucket="rdp-lake", Key="x", Body=b""),
    }
    return {what: _answer(attempt) for what, attempt in attempts.items()}


def _put_new(client: S3Client, key: str, data: bytes) -> object:
    return client.put_object(Bucket=LANDING, Key=key, Body=data, IfNoneMatch="*")


def _answer(attempt: Callable[[], object]) -> str:
    try:
        attempt()
    except ClientError as err:
        return err.response["Error"].get("Code", "")
    return "done"
