"""Ask the upload sensor from a program, as the daemon would, and do what it requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg

from robot_data_platform.defs.graph import build_definitions
from robot_data_platform.defs.ingest.sensors import new_uploads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from robot_data_platform.defs.resources import Platform
    from robot_data_platform.storage.landing import Manifest


def requested_uploads(instance: dg.DagsterInstance, platform: Platform) -> Iterator[Manifest]:
    """Yield the manifest of each upload that the sensor requests a run for, tick by tick.

    The caller runs each before it asks for the next; the sensor goes on asking for what has no
    run, so without runs this never ends.
    """
    cursor = None
    while True:
        context = dg.build_sensor_context(
            instance=instance,
            cursor=cursor,
            resources={"platform": platform},
            definitions=build_definitions(platform),
        )
        result = new_uploads(context)
        assert isinstance(result, dg.SensorResult)
        for request in result.dynamic_partitions_requests or ():
            if isinstance(request, dg.AddDynamicPartitionsRequest):
                instance.add_dynamic_partitions(
                    request.partitions_def_name, list(request.partition_keys)
                )
        if not result.run_requests:
            return
        for run_request in result.run_requests:
            yield platform.workplace.landing.manifest(str(run_request.partition_key))
        cursor = result.cursor
