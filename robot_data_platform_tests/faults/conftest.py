"""A real S3 server behind a proxy that spoils requests as it is told."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from robot_data_platform_tests.faults import passage
from robot_data_platform_tests.faults.faulty_proxy import FaultyProxy
from robot_data_platform_tests.servers import S3Server


@pytest.fixture(scope="session")
def fault_bucket(s3_server: S3Server) -> str:
    """One bucket for all tests: SeaweedFS sets volumes apart for each."""
    return s3_server.make_bucket("faults")


@pytest.fixture
def root(fault_bucket: str) -> str:
    """A prefix of its own."""
    return f"{fault_bucket}/{uuid.uuid4().hex}"


@pytest.fixture
def faulty(s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyProxy]:
    """A proxy that passes everything on until it has a plan; the process's variables name it."""
    with FaultyProxy(s3_server) as proxy:
        through = s3_server.environment | {"AWS_ENDPOINT_URL": proxy.endpoint_url}
        for name, value in through.items():
            monkeypatch.setenv(name, value)
        yield proxy


@pytest.fixture
def impatient() -> Iterator[None]:
    """Clients that wait for seconds where they would for half a minute."""
    with passage.impatient():
        yield
