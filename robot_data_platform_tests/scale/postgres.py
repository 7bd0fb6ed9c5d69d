"""A PostgreSQL server of its own, from the programs that Debian's package installs."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from robot_data_platform_tests.servers import START_TIMEOUT_S, free_ports

ROLE = "dagster"
ACCOUNT = "postgres"
"""The server refuses to run as root; Debian's package makes this account."""


def programs() -> Path | None:
    """Return the folder of the newest version's programs, None without one."""
    folders = Path("/usr/lib/postgresql").glob("*/bin")
    return max(folders, key=lambda folder: int(folder.parent.name), default=None)


@contextmanager
def running(folder: Path) -> Iterator[int]:
    """Run a server with its data below ``folder``, which its account can reach; yield its port."""
    found = programs()
    if found is None:
        raise RuntimeError("PostgreSQL is absent: install Debian's package postgresql.")
    user = ACCOUNT if os.geteuid() == 0 else None
    data = folder / "postgres"
    data.mkdir(mode=0o700)
    shutil.chown(data, user or os.geteuid())
    (port,) = free_ports(1)
    _call([found / "initdb", "-D", data, "-U", ROLE, "-A", "trust", "--no-sync"], user)
    command = [str(found / "postgres"), "-D", str(data), "-k", str(data), "-p", str(port)]
    with (folder / "postgres.log").open("wb") as log:
        server = subprocess.Popen(
            [*command, "-c", "listen_addresses=127.0.0.1"], stdout=log, stderr=log, user=user
        )
    try:
        _wait(found, port)
        _call([found / "createdb", "-h", "127.0.0.1", "-p", port, "-U", ROLE, ROLE], user)
        yield port
    finally:
        server.terminate()
        server.wait()


def _call(command: list[object], user: str | None) -> None:
    subprocess.run(
        [str(word) for word in command], user=user, check=True, stdout=subprocess.DEVNULL, cwd="/"
    )


def _wait(found: Path, port: int) -> None:
    asked = [str(found / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(port)]
    deadline = time.monotonic() + START_TIMEOUT_S
    while subprocess.run(asked, check=False).returncode:
        if time.monotonic() > deadline:
            raise RuntimeError(f"PostgreSQL did not answer at port {port}.")
        time.sleep(0.2)
