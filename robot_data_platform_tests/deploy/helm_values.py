"""The keys of Dagster's Helm chart that the values use; another one fails."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Strict(BaseModel):
    """Refuses keys that it does not name."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class Image(Strict):
    repository: str
    tag: str
    pullPolicy: Literal["Always", "IfNotPresent", "Never"]


class Named(Strict):
    name: str


class SecretKey(Strict):
    name: str
    key: str


class ValueFrom(Strict):
    secretKeyRef: SecretKey


class Variable(Strict):
    name: str
    value: str | None = None
    valueFrom: ValueFrom | None = None


class PodSecurity(Strict):
    runAsNonRoot: Literal[True]
    runAsUser: int = Field(gt=0)
    fsGroup: int = Field(gt=0)


class Capabilities(Strict):
    drop: list[str]


class Security(Strict):
    allowPrivilegeEscalation: Literal[False]
    capabilities: Capabilities


class Resources(Strict):
    requests: dict[str, str]
    limits: dict[str, str]


class Enabled(Strict):
    enabled: bool


class Pod(Strict):
    image: Image
    envSecrets: list[Named]
    podSecurityContext: PodSecurity
    securityContext: Security
    resources: Resources


class Deployment(Pod):
    name: str = Field(pattern="[a-z][a-z0-9-]*")
    dagsterApiGrpcArgs: list[str]
    port: int
    includeConfigInLaunchedRuns: Enabled
    env: list[Variable]


class Deployments(Strict):
    enabled: bool
    enableSubchart: bool
    deployments: list[Deployment]


class Port(Strict):
    port: int


class PostgreSql(Strict):
    enabled: bool
    postgresqlHost: str
    postgresqlUsername: str
    postgresqlDatabase: str
    postgresqlScheme: Literal["postgresql+psycopg2"]
    service: Port


class K8sRunLauncher(Strict):
    imagePullPolicy: Literal["Always", "IfNotPresent", "Never"]
    loadInclusterConfig: bool
    failPodOnRunFailure: bool


class RunLauncherConfig(Strict):
    k8sRunLauncher: K8sRunLauncher


class RunLauncher(Strict):
    type: Literal["K8sRunLauncher"]
    config: RunLauncherConfig


class Service(Strict):
    type: Literal["ClusterIP"]
    port: int


class Webserver(Pod):
    replicaCount: int
    service: Service


class RunMonitoring(Strict):
    enabled: bool
    startTimeoutSeconds: int
    pollIntervalSeconds: int
    maxRuntimeSeconds: int
    freeSlotsAfterRunEndSeconds: int


class RunRetries(Strict):
    enabled: bool
    maxRetries: int
    retryOnAssetOrOpFailure: bool


class Workers(Strict):
    useThreads: bool
    numWorkers: int


class Daemon(Pod):
    enabled: bool
    runMonitoring: RunMonitoring
    runRetries: RunRetries
    sensors: Workers
    schedules: Workers


class Runs(Strict):
    maxConcurrentRuns: int


class Pools(Strict):
    granularity: Literal["op", "run"]
    defaultLimit: int


class Concurrency(Strict):
    enabled: bool
    runs: Runs
    pools: Pools


class S3ComputeLogManager(Strict):
    bucket: str
    prefix: str
    skipEmptyFiles: bool


class ComputeLogConfig(Strict):
    s3ComputeLogManager: S3ComputeLogManager


class ComputeLogManager(Strict):
    type: Literal["S3ComputeLogManager"]
    config: ComputeLogConfig


class PurgeAfterDays(Strict):
    skipped: int
    success: int
    failure: int
    started: int


class Ticks(Strict):
    purgeAfterDays: PurgeAfterDays


class Retention(Strict):
    enabled: bool
    sensor: Ticks
    schedule: Ticks


class Global(Strict):
    postgresqlSecretName: str


class Values(Strict):
    """The whole file."""

    global_: Global = Field(alias="global")
    generatePostgresqlPasswordSecret: Literal[False]
    postgresql: PostgreSql
    user_deployments: Deployments = Field(alias="dagster-user-deployments")
    runLauncher: RunLauncher
    dagsterWebserver: Webserver
    dagsterDaemon: Daemon
    concurrency: Concurrency
    computeLogManager: ComputeLogManager
    retention: Retention
    telemetry: Enabled
