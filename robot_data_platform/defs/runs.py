"""Run the graph from a program: the same jobs that sensors request, in this process."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import dagster as dg

from robot_data_platform import errors
from robot_data_platform.defs.failures import failure_reason
from robot_data_platform.defs.graph import build_definitions
from robot_data_platform.defs.ingest.sensors import run_key
from robot_data_platform.defs.partitions import DATASETS, UPLOADS
from robot_data_platform.errors import DataFaultError, ErrorKind, RobotDataError
from robot_data_platform.storage.faults import showable, translate
from robot_data_platform.telemetry.log_facts import log_facts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from robot_data_platform.defs.resources import Platform
    from robot_data_platform.storage.landing import Manifest

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
"""What failed is told by the error; the run's page has the rest."""

Instance = dg.DagsterInstance

INSTANCE_FILE = "dagster.yaml"
FALLBACK_HOME = ".rdp/dagster"
"""Where run history goes without DAGSTER_HOME and without a `dagster.yaml` in this folder."""


@contextmanager
def open_instance() -> Iterator[dg.DagsterInstance]:
    """Yield the Dagster instance that ``dagster dev`` in this folder would use.

    Raises
    ------
    StorageError
        ``disk-full``, ``store-denied`` or ``store-failed``: what happens can't be written down.
    """
    from sqlalchemy.exc import DBAPIError

    home = _home()
    try:
        _make_home(home)
        with dg.DagsterInstance.from_config(str(home)) as instance:
            yield instance
    except (OSError, DBAPIError) as err:
        raise translate(err, str(home)) from showable(err)


def _home() -> Path:
    stated = os.environ.get("DAGSTER_HOME")
    if stated:
        return Path(stated)
    return Path.cwd() if Path(INSTANCE_FILE).is_file() else Path(FALLBACK_HOME).resolve()


def _make_home(home: Path) -> None:
    if home != Path(FALLBACK_HOME).resolve():
        return
    home.mkdir(parents=True, exist_ok=True)
    file = home / INSTANCE_FILE
    if not file.is_file():
        file.write_text("telemetry: {enabled: false}\n")


def ingest(instance: dg.DagsterInstance, platform: Platform, manifest: Manifest) -> None:
    """Materialize everything of one upload.

    Raises
    ------
    DataFaultError
        The upload as a whole was refused, or a blocking check failed; with the reason.
    """
    instance.add_dynamic_partitions(UPLOADS.name or "", [manifest.upload])
    tags = {
        "rdp/upload": manifest.upload,
        "rdp/dataset": manifest.dataset,
        "dagster/run_key": run_key(manifest),
    }
    _run(instance, platform, "ingest_upload", manifest.upload, tags)


def check_again(
    instance: dg.DagsterInstance, platform: Platform, dataset: str, upload: str
) -> None:
    """Materialize the spatial results of one upload anew.

    Raises
    ------
    DataFaultError
        The upload was removed or corrected meanwhile; with the reason.
    """
    instance.add_dynamic_partitions(UPLOADS.name or "", [upload])
    tags = {"rdp/upload": upload, "rdp/dataset": dataset}
    _run(instance, platform, "check_upload", upload, tags)


def release(
    instance: dg.DagsterInstance, platform: Platform, dataset: str, name: str = "", spec: str = ""
) -> None:
    """Materialize splits and a release of one dataset.

    Raises
    ------
    DataFaultError
        A check failed, or there is nothing to release; with the reason.
    """
    instance.add_dynamic_partitions(DATASETS.name or "", [dataset])
    config: dict[str, object] = {
        "ops": {
            "curated_splits": {"config": {"spec": spec}},
            "dataset_release": {"config": {"spec": spec, "name": name}},
        }
    }
    _run(instance, platform, "release_dataset", dataset, {"rdp/dataset": dataset}, config)


def _run(
    instance: dg.DagsterInstance,
    platform: Platform,
    job: str,
    partition: str,
    tags: dict[str, str],
    config: dict[str, object] | None = None,
) -> None:
    definitions = build_definitions(platform)
    # The run's facts end with it.
    with log_facts():
        result = definitions.resolve_job_def(job).execute_in_process(
            instance=instance,
            partition_key=partition,
            tags=tags,
            run_config={**QUIET, **(config or {})},
            raise_on_error=False,
        )
    if not result.success:
        raise _refused(job, partition, result)


def _refused(job: str, partition: str, result: dg.ExecuteInProcessResult) -> RobotDataError:
    """Return what the run failed with: the error itself where a step raised one of ours."""
    failed = [event for event in result.all_events if event.is_step_failure]
    said = " ".join(filter(None, map(failure_reason, failed))) or "A blocking check failed"
    cls, kind = _class_and_kind(failed)
    return cls(
        f"{said} (job {job}, partition {partition!r}, run {result.run_id})",
        kind=kind,
        partition=partition,
        run_id=result.run_id,
    )


def _class_and_kind(failed: list[dg.DagsterEvent]) -> tuple[type[RobotDataError], ErrorKind]:
    for event in failed:
        data = event.step_failure_data
        told = data.user_failure_data.metadata if data.user_failure_data else {}
        if "error_class" in told:
            cls: type[RobotDataError] = getattr(errors, str(told["error_class"].value))
            return cls, ErrorKind(str(told["error_kind"].value))
    return DataFaultError, ErrorKind.CHECK_FAILED
