"""Nodes of Ray clusters on this machine, each a process with an environment of its own."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from robot_data_platform_tests.servers import free_ports

_TIMEOUT_S = 120


@contextmanager
def head_node(folder: Path, token: str, **variables: str) -> Iterator[dict[str, str]]:
    """Start a head that asks for a token; yield its ``address`` and its ``client`` address."""
    port, client_port, agent_port, dashboard_port = free_ports(4)
    command = [
        str(Path(sys.executable).with_name("ray")),
        *("start", "--head", "--block", "--num-cpus=1", "--include-dashboard=false"),
        *("--node-ip-address=127.0.0.1", f"--temp-dir={folder}", "--disable-usage-stats"),
        *(f"--port={port}", f"--ray-client-server-port={client_port}"),
        *(f"--dashboard-agent-listen-port={agent_port}", f"--dashboard-port={dashboard_port}"),
    ]
    environment = {**_without_store(os.environ), **with_token(token), **variables}
    with (folder / "head.log").open("wb") as log:
        node = subprocess.Popen(
            command, env=environment, stdout=log, stderr=log, start_new_session=True
        )
        try:
            _wait_until_listening(node, client_port, folder / "head.log")
            yield {
                "address": f"127.0.0.1:{port}",
                "client": f"ray://127.0.0.1:{client_port}",
            }
        finally:
            with suppress(ProcessLookupError):
                os.killpg(node.pid, signal.SIGKILL)
            node.wait(_TIMEOUT_S)
            shutil.rmtree(folder, ignore_errors=True)


def _wait_until_listening(node: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + _TIMEOUT_S
    while True:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        if node.poll() is not None or time.monotonic() > deadline:
            pytest.fail(f"Ray's head did not start: {log.read_text(errors='replace')[-2000:]}")
        time.sleep(0.2)


def with_token(token: str) -> dict[str, str]:
    """Return the variables by which a process shows a cluster its token."""
    return {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token}


def _without_store(environment: Mapping[str, str]) -> dict[str, str]:
    return {k: v for k, v in environment.items() if not k.startswith("AWS_")}


def run_driver(source: str, environment: Mapping[str, str]) -> str:
    """Run a program in a Python of its own with more variables; return what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", source],
        env={**_without_store(os.environ), **environment},
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_S,
        check=False,
    )
    if done.returncode:
        pytest.fail(f"{source}\nended with {done.returncode}:\n{done.stderr}")
    return done.stdout
