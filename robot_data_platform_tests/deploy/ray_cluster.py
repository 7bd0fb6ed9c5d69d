"""The keys of KubeRay's ``RayCluster`` that the manifest uses; another one fails.

Pod templates are checked with Kubernetes' own schema instead.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from robot_data_platform_tests.deploy.helm_values import Named, Strict


class AuthOptions(Strict):
    mode: Literal["token"]
    secretName: str


class AutoscalerOptions(Strict):
    idleTimeoutSeconds: int


class Group(Strict):
    rayStartParams: dict[str, str]
    template: dict[str, Any]


class HeadGroup(Group):
    serviceType: Literal["ClusterIP"]


class WorkerGroup(Group):
    groupName: str = Field(pattern="[a-z][a-z0-9-]*")
    replicas: int
    minReplicas: int
    maxReplicas: int

    @model_validator(mode="after")
    def _in_order(self) -> WorkerGroup:
        assert self.minReplicas <= self.replicas <= self.maxReplicas
        return self


class Spec(Strict):
    rayVersion: str
    authOptions: AuthOptions
    enableInTreeAutoscaling: bool
    autoscalerOptions: AutoscalerOptions
    headGroupSpec: HeadGroup
    workerGroupSpecs: list[WorkerGroup]


class RayCluster(Strict):
    """The whole file."""

    apiVersion: Literal["ray.io/v1"]
    kind: Literal["RayCluster"]
    metadata: Named
    spec: Spec
