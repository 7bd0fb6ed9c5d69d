"""Runs in a process of its own whose credentials are looked for afterwards in all it left.

``python -m … good BUCKET`` ingests and releases an upload; ``bad`` does what it can with keys that
the store refuses. Each does so twice, with logs in either format. The current folder has the
instance's files and the recording ``fold``.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import dagster as dg
from prometheus_client import CollectorRegistry, generate_latest

from robot_data_platform.defs import runs
from robot_data_platform.defs.alerts import tell_of_failures, tell_of_quarantine
from robot_data_platform.defs.resources import Platform
from robot_data_platform.reader import RobotLanceDataset
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.landing import Landing
from robot_data_platform.telemetry.logs import configure_logging
from robot_data_platform.telemetry.metrics import LakeCollector

DATASET, UPLOAD = "fold", "20260101t000000z-fold-0000"


class Sensor:
    """A sensor that looks at what happened since it was made."""

    def __init__(self, sensor: dg.SensorDefinition, instance: dg.DagsterInstance) -> None:
        self.sensor = sensor
        self.instance = instance
        self.cursor: str | None = None

    def tick(self, platform: Platform) -> None:
        context = dg.build_sensor_context(
            instance=self.instance, cursor=self.cursor, resources={"platform": platform}
        )
        data = self.sensor.evaluate_tick(context)
        print(data)  # noqa: T201
        self.cursor = data.cursor


def shown(work: Callable[[], object]) -> None:
    """Do some work and print what it returns or, whole, what it raises."""
    try:
        print(work())  # noqa: T201
    except Exception:  # noqa: BLE001 (whatever it is, all of it is searched)
        traceback.print_exc()


def figures(lake: str) -> str:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(LakeCollector(Lake(lake)))
    return generate_latest(registry).decode()


def go_through(mode: str, bucket: str) -> None:
    landing = Landing(f"{bucket}/landing" if mode == "good" else "landing")
    platform = Platform(lake=f"{bucket}/lake", landing=landing.root, num_workers=2)
    if UPLOAD not in landing.list_uploads():
        landing.put(Path("fold"), DATASET, UPLOAD)
    with runs.open_instance() as instance:
        sensors = [Sensor(each, instance) for each in (tell_of_failures, tell_of_quarantine)]
        for each in sensors:
            each.tick(platform)
        shown(lambda: runs.ingest(instance, platform, landing.manifest(UPLOAD)))
        shown(lambda: runs.release(instance, platform, DATASET, "v1"))
        for each in sensors:
            each.tick(platform)
    shown(lambda: figures(platform.lake))
    shown(lambda: RobotLanceDataset(platform.lake, DATASET)[0])
    shown(lambda: Landing(f"{bucket}/landing").list_uploads())


def main(mode: str, bucket: str) -> None:
    for form in ("json", "text"):
        os.environ["RDP_LOG_FORMAT"] = form
        configure_logging()
        go_through(mode, bucket)


if __name__ == "__main__":
    main(*sys.argv[1:])
