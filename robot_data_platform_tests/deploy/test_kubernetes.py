"""The manifests against Kubernetes' schemas, and the values against the keys of Dagster's chart."""

from __future__ import annotations

from typing import Any

import kubernetes_validate
import pytest
import yaml

from robot_data_platform_tests.deploy.compose_file import INFRA
from robot_data_platform_tests.deploy.helm_values import Values
from robot_data_platform_tests.deploy.ray_cluster import RayCluster

FOLDER = INFRA / "kubernetes"
VALUES = yaml.safe_load((FOLDER / "dagster-values.yaml").read_text())
RAY = yaml.safe_load((FOLDER / "raycluster.yaml").read_text())
COMPOSE = yaml.safe_load((INFRA / "compose.yaml").read_text())
CONSTRAINTS = (INFRA.parent / "constraints.txt").read_text()
PLAIN = [
    pytest.param(manifest, id=f"{manifest['kind']} {manifest['metadata']['name']}")
    for name in ("proxy.yaml", "secrets.example.yaml")
    for manifest in yaml.safe_load_all((FOLDER / name).read_text())
]


def check(manifest: dict[str, Any]) -> None:
    kubernetes_validate.validate(manifest, kubernetes_validate.latest_version(), strict=True)


@pytest.mark.parametrize("manifest", PLAIN)
def test_a_manifest_follows_its_schema(manifest: dict[str, Any]) -> None:
    check(manifest)


def test_the_values_have_keys_of_the_chart() -> None:
    Values.model_validate(VALUES)


def test_the_cluster_has_keys_of_kuberay() -> None:
    RayCluster.model_validate(RAY)


@pytest.mark.parametrize("group", ["head", "worker"])
def test_a_pod_of_the_cluster_follows_its_schema(group: str) -> None:
    spec = RAY["spec"]
    stated = spec["headGroupSpec"] if group == "head" else spec["workerGroupSpecs"][0]
    check(
        {
            "apiVersion": "v1",
            "kind": "PodTemplate",
            "metadata": {"name": group},
            "template": stated["template"],
        }
    )


def test_every_secret_that_is_named_is_in_the_example() -> None:
    made = {
        each["metadata"]["name"]
        for each in yaml.safe_load_all((FOLDER / "secrets.example.yaml").read_text())
    }
    named = {
        VALUES["global"]["postgresqlSecretName"],
        RAY["spec"]["authOptions"]["secretName"],
        *_secret_names(VALUES),
        *_secret_names(RAY),
        "rdp-web",
    }
    assert named == made


def _secret_names(value: object) -> set[str]:
    if isinstance(value, list):
        return set().union(*map(_secret_names, value))
    if not isinstance(value, dict):
        return set()
    names = {value[key]["name"] for key in ("secretRef", "secretKeyRef") if key in value}
    names |= {each["name"] for each in value.get("envSecrets", ())}
    return names.union(*map(_secret_names, value.values()))


def test_chart_and_image_have_the_versions_of_the_constraints() -> None:
    assert f"\nray=={RAY['spec']['rayVersion']}\n" in CONSTRAINTS
    chart = (FOLDER / "dagster-values.yaml").read_text().split("--version ")[1].split()[0]
    assert f"\ndagster=={chart}\n" in CONSTRAINTS


def test_all_pods_run_one_image() -> None:
    image = VALUES["dagsterWebserver"]["image"]
    head = RAY["spec"]["headGroupSpec"]["template"]["spec"]["containers"][0]
    assert head["image"] == f"{image['repository']}:{image['tag']}"


def test_the_code_location_has_the_places_of_the_compose_file() -> None:
    location = VALUES["dagster-user-deployments"]["deployments"][0]
    there = {each["name"]: each.get("value") for each in location["env"]}
    here = COMPOSE["services"]["code-location"]["environment"]
    for name in ("RDP_LANDING", "RDP_LAKE", "RDP_BACKEND", "RAY_AUTH_MODE"):
        assert there[name] == here[name], name
