"""``compose.yaml`` against its schema, and against the files around it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

import compose_spec
import pytest
import yaml

from robot_data_platform_tests.deploy.compose_file import (
    COMPOSE,
    ENV_EXAMPLE,
    INFRA,
    Service,
    filled_text,
    parse_env,
    services,
    variables,
)
from robot_data_platform_tests.deploy.settings import make_settings

TEXT = COMPOSE.read_text()
README = (INFRA / "README.md").read_text()
FILES = sorted(path for path in INFRA.rglob("*") if path.is_file() and path.suffix != ".pyc")


def test_it_follows_the_compose_specification() -> None:
    stated = filled_text(make_settings("$2a$14$hash", "password").environment)
    compose_spec.PyCompose.from_yaml(stated).validate()


def test_a_key_that_the_specification_lacks_is_found() -> None:
    stated = yaml.safe_load(filled_text(make_settings("$2a$14$hash", "password").environment))
    stated["services"]["store"]["comand"] = ["server"]
    with pytest.raises(ValueError, match="comand"):
        compose_spec.PyCompose.from_yaml(yaml.safe_dump(stated)).validate()


def test_every_variable_is_in_the_example_and_the_other_way_round() -> None:
    assert variables(TEXT) == set(parse_env(ENV_EXAMPLE.read_text()))


def test_the_example_holds_no_secret() -> None:
    example = parse_env(ENV_EXAMPLE.read_text())
    secret = re.compile(r"_(PASSWORD|SECRET_KEY|TOKEN|HASH)$")
    assert {name for name, value in example.items() if secret.search(name) and value} == set()


def test_without_a_secret_nothing_starts() -> None:
    with pytest.raises(LookupError, match="RAY_AUTH_TOKEN"):
        services(make_settings("hash", "password").environment | {"RAY_AUTH_TOKEN": ""})


def test_every_image_is_pinned(compose_services: Mapping[str, Service]) -> None:
    for service in compose_services.values():
        assert re.fullmatch(r"[\w/.-]+:\d[\w.-]*", service.image), service.image


def test_only_the_proxy_is_published(compose_services: Mapping[str, Service]) -> None:
    assert {s.name for s in compose_services.values() if s.published} == {"proxy"}


def test_no_two_services_have_a_port_in_common(compose_services: Mapping[str, Service]) -> None:
    ports = Counter(port for service in compose_services.values() for port in service.ports)
    assert {port for port, times in ports.items() if times > 1} == set()


def test_every_service_is_checked_or_ends(compose_services: Mapping[str, Service]) -> None:
    once = {service.name for service in compose_services.values() if service.runs_once}
    assert once == {"store-identities", "store-buckets"}
    stated = yaml.safe_load(TEXT)["services"]
    restarts = {name: facts["restart"] for name, facts in stated.items()}
    assert {name for name, how in restarts.items() if how == "no"} == once
    assert set(restarts.values()) == {"no", "unless-stopped"}


def test_a_service_waits_for_what_it_uses_to_be_well(
    compose_services: Mapping[str, Service],
) -> None:
    for service in compose_services.values():
        for name, condition in service.depends_on.items():
            once = compose_services[name].runs_once
            expected = "service_completed_successfully" if once else "service_healthy"
            assert condition == expected, f"{service.name} waits for {name}: {condition}"


def test_every_mounted_file_exists(compose_services: Mapping[str, Service]) -> None:
    volumes = set(yaml.safe_load(TEXT)["volumes"])
    for service in compose_services.values():
        for mount in service.mounts:
            there = mount.source in volumes if mount.is_volume else (INFRA / mount.source).exists()
            assert there, f"{service.name} mounts {mount.source}"


def test_what_dagster_asks_the_environment_for_is_set(
    compose_services: Mapping[str, Service],
) -> None:
    asked = re.compile(r"\{env: (\w+)\}")
    instance = set(asked.findall((INFRA / "dagster" / "dagster.yaml").read_text()))
    workspace = set(asked.findall((INFRA / "dagster" / "workspace.yaml").read_text()))
    for name in ("code-location", "webserver", "daemon"):
        needed = instance if name == "code-location" else instance | workspace
        assert needed <= set(compose_services[name].environment), name


def test_what_caddy_asks_the_environment_for_is_set(
    compose_services: Mapping[str, Service],
) -> None:
    asked = set(re.findall(r"\{\$(\w+)\}", (INFRA / "proxy" / "Caddyfile").read_text()))
    assert asked == set(compose_services["proxy"].environment)


def test_the_readme_tells_of_every_service_and_port(
    compose_services: Mapping[str, Service],
) -> None:
    rows = dict(re.findall(r"^\| `([\w-]+)` \|(.*)$", README, re.MULTILINE))
    for service in compose_services.values():
        missing = [p for p in service.ports if not re.search(rf"\b{p}\b", rows[service.name])]
        assert not missing, f"{service.name}: {missing}"


def test_the_readme_tells_of_every_file() -> None:
    names = {path.relative_to(INFRA).parts[0] for path in FILES}
    known = {"README.md", "Dockerfile.dockerignore"}
    assert {name for name in names - known if f"`{name}" not in README} == set()


def test_the_location_has_the_name_that_it_has_everywhere() -> None:
    deployed = yaml.safe_load((INFRA / "dagster" / "workspace.yaml").read_text())["load_from"][0]
    local = yaml.safe_load((INFRA.parent / "workspace.yaml").read_text())["load_from"][0]
    assert deployed["grpc_server"]["location_name"] == local["python_module"]["location_name"]
