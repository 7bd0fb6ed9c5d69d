"""The one place where processes on one machine differ from containers.

1. A container has its own host name: here every service is 127.0.0.1.
2. A container has its own ports: here each port of ``compose.yaml`` is a free one.
3. Ray announces the container's address to its clients: here it takes 127.0.0.1 (``RAY_HOST``).
4. A container has its own files: here each mount is a folder of the sandbox, with a copy of what
   Docker would mount from ``infra/``.

It is done on the values of ``compose.yaml`` alone. The files that it mounts (``dagster.yaml``,
``workspace.yaml``, ``Caddyfile``, policies) are taken as they are, since they read hosts and ports
from the variables that ``compose.yaml`` sets.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from robot_data_platform_tests.deploy.compose_file import INFRA, Mount, Service
from robot_data_platform_tests.servers import free_ports

HOST = "127.0.0.1"

RAY_HOST = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""Lets Ray use the loopback address, as it does by itself where a firewall would ask."""


@dataclass(frozen=True, kw_only=True)
class Sandbox:
    """Where the processes of some services live."""

    root: Path
    service_names: frozenset[str]
    port_by_port: Mapping[str, str]
    """The free port for each port of ``compose.yaml``."""

    def url(self, port: str) -> str:
        """Return where the service that has a port in ``compose.yaml`` is reached here."""
        return f"http://{HOST}:{self.port_by_port[port]}"

    def placed(self, service: Service) -> Service:
        """Return a service with hosts, ports and paths of this machine."""
        paths: dict[str, str] = {}
        for mount in service.mounts:
            paths |= self._place(service, mount)
        health = service.health
        return replace(
            service,
            command=self._all(service.command, paths),
            environment={
                name: self._text(value, paths) for name, value in service.environment.items()
            },
            health=health and replace(health, command=self._all(health.command, paths)),
        )

    def home(self, service: Service) -> Path:
        """Return the working folder of a service."""
        return self._made(self.root / "containers" / service.name)

    def volume(self, name: str) -> Path:
        """Return the folder of a named volume."""
        return self._made(self.root / "volumes" / name)

    def temporary(self, name: str) -> Path:
        """Return the folder of a service's temporary files."""
        return self._made(self.root / "t" / name)

    def _place(self, service: Service, mount: Mount) -> dict[str, str]:
        """Copy what is mounted, and return the path here of each path in the container."""
        if mount.is_volume:
            return {mount.target: str(self.volume(mount.source))}
        source = INFRA / mount.source
        target = self.home(service) / mount.target.lstrip("/")
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
            return {mount.target: str(target)}
        shutil.copyfile(source, self._made(target.parent) / target.name)
        # The folder of a mounted file is named too: DAGSTER_HOME is one.
        return {mount.target: str(target), str(Path(mount.target).parent): str(target.parent)}

    def _all(self, texts: Iterable[str], paths: Mapping[str, str]) -> tuple[str, ...]:
        return tuple(self._text(text, paths) for text in texts)

    def _text(self, text: str, paths: Mapping[str, str]) -> str:
        text = self._hosts.sub(HOST, text)
        text = self._ports.sub(lambda match: self.port_by_port[match[0]], text)
        if not paths:
            return text
        longest_first = "|".join(map(re.escape, sorted(paths, key=len, reverse=True)))
        pattern = rf"(?<![\w/.-])(?:{longest_first})(?![\w.-])"
        return re.sub(pattern, lambda match: paths[match[0]], text)

    @cached_property
    def _hosts(self) -> re.Pattern[str]:
        names = "|".join(sorted(map(re.escape, self.service_names), reverse=True))
        # The whole value, or before a port: other words stay, whatever they mean.
        named = rf"(?<![\w.-])(?:{names})(?=:\d)|^(?:{names})$"
        # What listens on every address of its container listens on one here.
        return re.compile(rf"{named}|(?:^|(?<==))0\.0\.0\.0$|(?<=//)(?=:\d)")

    @cached_property
    def _ports(self) -> re.Pattern[str]:
        return re.compile(rf"(?<![\w.])(?:{'|'.join(self.port_by_port)})(?![\w.])")

    @staticmethod
    def _made(folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        return folder


def sandbox(root: Path, services: Mapping[str, Service]) -> Sandbox:
    """Return a sandbox with a free port for every port of the services."""
    ports = [port for service in services.values() for port in service.ports]
    free = free_ports(len(ports))
    return Sandbox(
        root=root,
        service_names=frozenset(services),
        port_by_port=dict(zip(ports, map(str, free), strict=True)),
    )
