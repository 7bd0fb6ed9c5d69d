"""Hypothesis profiles, the folders of test data, and the S3 server of the session."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from robot_data_platform_tests.counting_proxy import CountingProxy
from robot_data_platform_tests.servers import S3Server, require, run_seaweedfs

REPOSITORY = Path(__file__).parent.parent

# The machine may be slow at any moment: an example that takes long is no failure.
settings.register_profile("dev", deadline=None, max_examples=50)
settings.register_profile(
    "ci",
    deadline=None,
    max_examples=200,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ci" if os.environ.get("CI") else "dev")

# Programs, not tests: they import what only `make samples` installs.
collect_ignore_glob = ["samples/generate/*", "golden/generate/*"]


@pytest.fixture(scope="session")
def repository() -> Path:
    """Root of the repository."""
    return REPOSITORY


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Recordings that others made, in a folder beside the repository."""
    folder = REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no recordings in {folder}")
    return folder


@pytest.fixture(scope="session")
def samples() -> Path:
    """The sample uploads that `make samples` writes."""
    folder = REPOSITORY / "robot_data_platform_tests" / "samples" / "data"
    require(folder.is_dir(), f"The folder of sample uploads, {folder},")
    return folder


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """A SeaweedFS server that lives as long as the session."""
    with run_seaweedfs(tmp_path_factory.mktemp("seaweedfs")) as server:
        yield server


@pytest.fixture
def s3_environment(s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> S3Server:
    """The S3 server, with the process's ``AWS_*`` variables pointing at it."""
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    return s3_server


@pytest.fixture
def s3_proxy(s3_server: S3Server) -> Iterator[CountingProxy]:
    """A proxy before the S3 server that writes down each request."""
    with CountingProxy(s3_server.endpoint_url) as proxy:
        yield proxy
