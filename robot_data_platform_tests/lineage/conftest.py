"""A small lake that holds a release, and a Dagster web server that knows ``trained_models``."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from robot_data_platform.curation.release import create_release
from robot_data_platform.curation.spec import default_spec
from robot_data_platform_tests.curation.small_lake import SmallLake, episodes_named, run_named
from robot_data_platform_tests.servers import START_TIMEOUT_S, free_ports

DEFINITIONS = """
import dagster as dg
defs = dg.Definitions(assets=[dg.AssetSpec({key!r})])
"""


@pytest.fixture
def released(tmp_path: Path) -> SmallLake:
    """Six episodes of two uploads, released as ``v1`` with 4, 1 and 1 of them in its splits."""
    small = SmallLake(str(tmp_path / "lake"))
    small.ingest([*episodes_named("abcd", upload="u1"), *episodes_named("ef", upload="u2")])
    create_release(small.lake, "aloha", default_spec(), run_named("release-run"), name="v1")
    return small


@pytest.fixture(scope="session")
def dagster_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Dagster web server with one external asset, ``trained_models``."""
    home = tmp_path_factory.mktemp("dagster")
    (home / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    (home / "models.py").write_text(DEFINITIONS.format(key="trained_models"))
    (port,) = free_ports(1)
    command = [sys.executable, "-m", "dagster_webserver", "-h", "127.0.0.1", "-p", str(port)]
    with (home / "server.log").open("wb") as log:
        server = subprocess.Popen(
            [*command, "-f", "models.py"],
            cwd=home,
            env={**os.environ, "DAGSTER_HOME": str(home)},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_until_answering(f"http://127.0.0.1:{port}/server_info", server, home / "server.log")
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def wait_until_answering(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while server.poll() is None and time.monotonic() < deadline:
        try:
            with urlopen(url, timeout=2):
                return
        except URLError:
            time.sleep(0.2)
    pytest.fail(f"the Dagster web server did not start: {log.read_text()[-2000:]}")
