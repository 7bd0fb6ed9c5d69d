"""Roots to work in, local and on S3, and a pool of other processes."""

from __future__ import annotations

import multiprocessing
import uuid
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from robot_data_platform_tests.servers import S3Server

NUM_WRITERS = 4


@pytest.fixture(scope="session")
def bucket(s3_server: S3Server) -> str:
    """One bucket for all tests: SeaweedFS sets volumes apart for each."""
    return s3_server.make_bucket("storage")


@pytest.fixture
def s3_root(bucket: str, s3_environment: S3Server) -> str:
    """A prefix of its own, with the process's variables pointing at its server."""
    return f"{bucket}/{uuid.uuid4().hex}"


@pytest.fixture(params=["local", "s3"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A root on this machine, and one on S3."""
    if request.param == "local":
        return str(tmp_path)
    return str(request.getfixturevalue("s3_root"))


@pytest.fixture
def table_uri(root: str) -> str:
    """Where a table may be made, locally and on S3."""
    return f"{root}/numbers.lance"


@pytest.fixture
def local_uri(tmp_path: Path) -> str:
    """Where a table may be made on this machine."""
    return str(tmp_path / "numbers.lance")


@pytest.fixture(scope="session")
def writers() -> Iterator[ProcessPoolExecutor]:
    """Processes that share nothing with this one and live as long as the session."""
    context = multiprocessing.get_context("spawn")
    at_start = context.Barrier(NUM_WRITERS)
    with ProcessPoolExecutor(NUM_WRITERS, context, _meet, (at_start,)) as pool:
        list(pool.map(abs, range(NUM_WRITERS)))
        yield pool


def _meet(at_start: Barrier) -> None:
    """Import what races need, and wait for the others, so that a race is one from its start."""
    import robot_data_platform_tests.storage.racing  # noqa: F401

    at_start.wait()
