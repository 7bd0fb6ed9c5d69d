"""Starts the services of ``compose.yaml`` as Docker Compose would: in order, until all are well."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from robot_data_platform_tests.deploy.compose_file import Service, services
from robot_data_platform_tests.deploy.processes import NotWellError, Running, wait_until
from robot_data_platform_tests.deploy.programs import base_environment, health_command, program
from robot_data_platform_tests.deploy.settings import Settings
from robot_data_platform_tests.deploy.substitution import Sandbox, sandbox

LATER = frozenset({"daemon"})
"""Not waited for at the start: all parts of it tell that they live after a minute or more, and do
their work meanwhile. Whoever uses the stack waits for them."""

MAX_RESTARTS = 3
"""Times that a service which ends by itself is started again, as ``unless-stopped`` asks for."""

START_TIMEOUT_S = 400
"""How long one service may take to be well, on a machine that is busy with others."""


@dataclass
class Stack:
    """The services, running."""

    settings: Settings
    sandbox: Sandbox
    services: Mapping[str, Service]
    running: dict[str, Running] = field(default_factory=dict)
    restarts: Counter[str] = field(default_factory=Counter)

    def start(self, name: str) -> None:
        """Start one service."""
        service = self.services[name]
        # Temporary files stay in the sandbox; a short path, since Ray's sockets are below it.
        environment = base_environment() | {"TMPDIR": str(self.sandbox.temporary(name))}
        self.running[name] = Running(
            name, program(service, self.sandbox), self.sandbox.home(service), environment
        )

    def kill(self, *names: str) -> None:
        """End services by SIGKILL."""
        for name in names:
            self.running.pop(name).kill()

    def wait_until_well(self, name: str) -> None:
        """Ask a service's own health check until it says yes, or wait for the end of a task."""
        service, process = self.services[name], self.running[name]
        if not service.runs_once:
            wait_until(f"{name} is well", lambda: self._is_well(service), START_TIMEOUT_S)
        elif process.wait(START_TIMEOUT_S) != 0:
            raise NotWellError(f"{name} failed: {process.tail()}")

    def restart_ended(self) -> None:
        """Start again what ended by itself, as ``unless-stopped`` asks for."""
        for name, process in list(self.running.items()):
            if process.exit_code is not None and not self.services[name].runs_once:
                self._restart(name)

    def _is_well(self, service: Service) -> bool:
        if self.running[service.name].exit_code is not None:
            self._restart(service.name)
        assert service.health is not None
        command = health_command(service)
        environment = base_environment() | dict(service.environment)
        try:
            asked = subprocess.run(
                command,
                env=environment,
                cwd=self.sandbox.home(service),
                capture_output=True,
                check=False,
                # A machine with other work takes longer than Docker's patience.
                timeout=8 * service.health.timeout_s,
            )
        except subprocess.TimeoutExpired:
            return False
        return asked.returncode == 0

    def _restart(self, name: str) -> None:
        ended = self.running[name]
        if self.restarts[name] == MAX_RESTARTS:
            raise NotWellError(f"{name} ends by itself again and again: {ended.tail()}")
        say(f"{name} ended by itself and is started again: {ended.tail()[-300:]}")
        self.restarts[name] += 1
        ended.kill()
        self.start(name)

    def stop(self) -> None:
        """Stop all at once: their data is of no more use."""
        with ThreadPoolExecutor(len(self.services)) as pool:
            list(pool.map(Running.stop, self.running.values()))
        self.running.clear()
        for port in self.sandbox.port_by_port.values():
            # SeaweedFS keeps them outside of its folder.
            for path in Path("/tmp").glob(f"seaweedfs-*-{port}.sock"):
                path.unlink(missing_ok=True)


@contextmanager
def started(root: Path, settings: Settings) -> Iterator[Stack]:
    """Start all services, each as soon as those it waits for are well, and stop them in the end."""
    stated = services(settings.environment)
    box = sandbox(root, stated)
    placed = {name: box.placed(service) for name, service in stated.items()}
    stack = Stack(settings, box, placed)
    try:
        _start_all(stack)
        yield stack
    finally:
        stack.stop()


def _start_all(stack: Stack) -> None:
    with ThreadPoolExecutor(len(stack.services)) as pool:
        ready: dict[str, Future[None]] = {}
        for name in _in_order(stack.services):
            awaited = [ready[other] for other in stack.services[name].depends_on]
            ready[name] = pool.submit(_start_after, stack, name, awaited)
        for future in ready.values():
            future.result()


def _start_after(stack: Stack, name: str, awaited: list[Future[None]]) -> None:
    for future in awaited:
        future.result()
    began = time.monotonic()
    stack.start(name)
    if name in LATER:
        return
    stack.wait_until_well(name)
    say(f"{name} is well after {time.monotonic() - began:.1f} s")


def _in_order(all_services: Mapping[str, Service]) -> list[str]:
    order: list[str] = []
    while len(order) < len(all_services):
        order += [
            name
            for name, service in all_services.items()
            if name not in order and set(service.depends_on) <= set(order)
        ]
    return order


def say(line: str) -> None:
    """Tell whoever looks on."""
    sys.stdout.write(f"{time.strftime('%H:%M:%S')} {line}\n")
    sys.stdout.flush()
