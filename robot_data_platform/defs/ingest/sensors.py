"""The sensor that sees new uploads, on a local folder and on S3 by the same code."""

from collections.abc import Iterable

import dagster as dg
from pydantic import BaseModel

from robot_data_platform.defs.failures import failures
from robot_data_platform.defs.jobs import ingest_upload
from robot_data_platform.defs.partitions import DATASETS, UPLOADS
from robot_data_platform.defs.resources import Platform
from robot_data_platform.errors import DataFaultError
from robot_data_platform.storage.landing import Landing, Manifest

WINDOW = 50
"""Newest markers that every tick looks at again: a marker may arrive out of order."""
PER_TICK = 25
"""Runs that one tick requests at most; the rest waits for the next."""
SWEEP = 20
"""Markers of the whole history that each tick looks at again, going round: no late marker and
no corrected upload is missed for ever, and no tick lists everything."""


class Cursor(BaseModel):
    """What the sensor remembers; a lost cursor only costs looking again."""

    recent: list[str] = []
    """Newest uploads seen, sorted, at most `WINDOW`."""
    sweep_after: str = ""
    """Where the round through the whole history goes on."""


@dg.sensor(
    job=ingest_upload,
    minimum_interval_seconds=15,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Lists upload markers and requests one ingestion for each new or corrected one.",
)
def new_uploads(context: dg.SensorEvaluationContext, platform: Platform) -> dg.SensorResult:
    """Request a run per upload; a run key with the manifest's digest makes it once per content."""
    cursor = Cursor.model_validate_json(context.cursor) if context.cursor else Cursor()
    with failures():
        landing = platform.workplace.landing
        fresh = landing.list_uploads(_window_start(cursor), WINDOW + PER_TICK)
        new = [u for u in fresh if u not in cursor.recent][:PER_TICK]
        swept = landing.list_uploads(cursor.sweep_after, SWEEP)
        recheck = [u for u in (*cursor.recent[-SWEEP:], *swept) if u not in new]
        manifests = list(_manifests(context, landing, [*new, *dict.fromkeys(recheck)]))
    after = Cursor(
        recent=sorted({*cursor.recent, *new})[-WINDOW:],
        sweep_after=swept[-1] if len(swept) == SWEEP else "",
    )
    return dg.SensorResult(
        run_requests=[run_request(m) for m in manifests if not _is_known(context, m)],
        dynamic_partitions_requests=partition_requests(manifests),
        cursor=after.model_dump_json(),
    )


def _window_start(cursor: Cursor) -> str:
    """Return the upload after which to list: markers later than the oldest remembered one."""
    return cursor.recent[0] if len(cursor.recent) == WINDOW else ""


def _manifests(
    context: dg.SensorEvaluationContext, landing: Landing, uploads: Iterable[str]
) -> Iterable[Manifest]:
    for upload in uploads:
        try:
            yield landing.manifest(upload)
        except DataFaultError as err:
            context.log.warning("Upload %s is passed over: %s", upload, err)


def run_key(manifest: Manifest) -> str:
    """Return the key under which Dagster runs an upload's content once and never again."""
    return f"{manifest.upload}:{manifest.manifest_sha256[:16]}"


def _is_known(context: dg.SensorEvaluationContext, manifest: Manifest) -> bool:
    tags = {"dagster/run_key": run_key(manifest)}
    return bool(context.instance.get_runs(dg.RunsFilter(tags=tags), limit=1))


def run_request(manifest: Manifest) -> dg.RunRequest:
    """Return the request that ingests one upload."""
    tags = {"rdp/upload": manifest.upload, "rdp/dataset": manifest.dataset}
    return dg.RunRequest(partition_key=manifest.upload, run_key=run_key(manifest), tags=tags)


def partition_requests(
    manifests: Iterable[Manifest],
) -> list[dg.AddDynamicPartitionsRequest | dg.DeleteDynamicPartitionsRequest]:
    """Return the partitions that these uploads need."""
    listed = list(manifests)
    if not listed:
        return []
    return [
        UPLOADS.build_add_request(sorted({m.upload for m in listed})),
        DATASETS.build_add_request(sorted({m.dataset for m in listed})),
    ]
