"""``infra/compose.yaml`` as values: services with commands, variables, ports, mounts and checks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import yaml

INFRA = Path(__file__).parents[2] / "infra"
COMPOSE = INFRA / "compose.yaml"
ENV_EXAMPLE = INFRA / ".env.example"

_VARIABLE = re.compile(r"\$\{(?P<name>\w+)(?P<operator>:[?-])?(?P<text>[^}]*)\}")
_DURATION = re.compile(r"(\d+)([smh])")
_SECONDS = {"s": 1, "m": 60, "h": 3600}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """What a container sees under a path: a file or folder of ``infra/``, or a named volume."""

    source: str
    target: str

    @property
    def is_volume(self) -> bool:
        """Whether it is a named volume."""
        return not self.source.startswith(".")


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthCheck:
    """How Docker asks whether a service is well."""

    command: tuple[str, ...]
    interval_s: int
    timeout_s: int
    start_period_s: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """One service with every variable filled in."""

    name: str
    image: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    mounts: tuple[Mount, ...]
    ports: tuple[str, ...]
    """Every port that it listens on inside its container."""
    published: tuple[str, ...]
    """Those of them that the machine publishes."""
    depends_on: Mapping[str, str]
    """The condition that each service it waits for has to meet."""
    health: HealthCheck | None

    @property
    def runs_once(self) -> bool:
        """Whether it does something and ends."""
        return self.health is None


def services(environment: Mapping[str, str]) -> dict[str, Service]:
    """Return the services of ``compose.yaml`` with the variables of a ``.env`` filled in."""
    stated = _filled(yaml.safe_load(COMPOSE.read_text()), environment)
    return {name: _service(name, facts) for name, facts in stated["services"].items()}


def filled_text(environment: Mapping[str, str]) -> str:
    """Return ``compose.yaml`` with the variables of a ``.env`` filled in."""
    return yaml.safe_dump(_filled(yaml.safe_load(COMPOSE.read_text()), environment))


def variables(text: str) -> set[str]:
    """Return the names of the variables that a text takes from ``.env``."""
    return {match["name"] for match in _VARIABLE.finditer(text)}


def parse_env(text: str) -> dict[str, str]:
    """Return the variables of a ``.env`` file."""
    lines = (line.strip() for line in text.splitlines())
    pairs = (line.partition("=") for line in lines if line and not line.startswith("#"))
    return {name: value.strip("'") for name, _, value in pairs}


def _filled(value: Any, environment: Mapping[str, str]) -> Any:  # noqa: ANN401 (what YAML holds)
    if isinstance(value, str):
        return _VARIABLE.sub(lambda match: _value_of(match, environment), value)
    if isinstance(value, list):
        return [_filled(each, environment) for each in value]
    if isinstance(value, dict):
        return {name: _filled(each, environment) for name, each in value.items()}
    return value


def _value_of(match: re.Match[str], environment: Mapping[str, str]) -> str:
    value = environment.get(match["name"], "")
    if value or match["operator"] is None:
        return value
    if match["operator"] == ":?":
        raise LookupError(f"{match['name']} is empty, and compose.yaml requires it")
    return match["text"]


def _service(name: str, facts: Mapping[str, Any]) -> Service:
    published = tuple(port.partition(":")[2] for port in facts.get("ports", ()))
    return Service(
        name=name,
        image=facts["image"],
        command=tuple(facts["command"]),
        environment=facts.get("environment", {}),
        mounts=tuple(_mounts(facts.get("volumes", ()))),
        ports=(*facts.get("expose", ()), *published, *facts.get("x-loopback-ports", ())),
        published=published,
        depends_on={on: how["condition"] for on, how in facts.get("depends_on", {}).items()},
        health=_health(facts["healthcheck"]) if "healthcheck" in facts else None,
    )


def _mounts(volumes: Iterable[str]) -> Iterator[Mount]:
    for volume in volumes:
        source, target, *_ = volume.split(":")
        yield Mount(source=source, target=target)


def _health(facts: Mapping[str, Any]) -> HealthCheck:
    kind, *command = facts["test"]
    assert kind == "CMD", f"health check {facts['test']} is not of the form [CMD, ...]"
    return HealthCheck(
        command=tuple(command),
        interval_s=_seconds(facts["interval"]),
        timeout_s=_seconds(facts["timeout"]),
        start_period_s=_seconds(facts["start_period"]),
    )


def _seconds(duration: str) -> int:
    number, unit = cast("re.Match[str]", _DURATION.fullmatch(duration)).groups()
    return int(number) * _SECONDS[unit]
