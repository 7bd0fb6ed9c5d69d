"""Uploads as partitions in Dagster: a tick of the sensor, their status, and what a page asks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.error import HTTPError, URLError

import dagster as dg

from robot_data_platform.defs.graph import build_definitions
from robot_data_platform.defs.ingest.sensors import new_uploads, run_key
from robot_data_platform.defs.partitions import UPLOADS
from robot_data_platform.defs.resources import Platform
from robot_data_platform.storage.landing import MARKERS, Landing
from robot_data_platform_tests.scale.postgres import ROLE, running
from robot_data_platform_tests.scale.session import REPOSITORY
from robot_data_platform_tests.servers import START_TIMEOUT_S, free_ports

SIZES = (100, 1_000, 10_000)
REPEATS = 3
ASSET = "episodes"
JOB = "ingest_upload"
KEYS_AT_ONCE = 5_000
STATUSES = """
query($key: AssetKeyInput!) { assetNodeOrError(assetKey: $key) { __typename ... on AssetNode {
  partitionKeysByDimension { name partitionKeys }
  assetPartitionStatuses { ... on DefaultPartitionStatuses {
    materializedPartitions failedPartitions unmaterializedPartitions } }
  partitionStats { numMaterialized numPartitions numFailed numMaterializing } } } }
"""
"""What the Partitions tab of an asset asks for."""
EVENTS = """
query($key: AssetKeyInput!) { assetNodeOrError(assetKey: $key) { __typename ... on AssetNode {
  assetMaterializations(limit: 100) { partition timestamp runId metadataEntries { label } } } } }
"""
"""What its Events tab asks for."""

INTO = {
    "event_logs": "run_id, event, dagster_event_type, timestamp, asset_key, partition",
    "runs": "run_id, pipeline_name, status, run_body, partition, create_timestamp, "
    "update_timestamp",
}
COPIED = {
    table: f"SELECT {columns} FROM {table} WHERE partition = %(name)s"
    for table, columns in INTO.items()
}
"""Rows of one upload in Dagster's storage."""

Save = Callable[[str, str, dict[str, Any]], None]


def measure_partitions(
    say: Callable[[str], None], save: Save, sizes: Sequence[int] = SIZES
) -> None:
    """Fill an instance step by step, and measure it at each size."""
    with TemporaryDirectory(dir="/tmp") as work:
        Path(work).chmod(0o755)
        with running(Path(work)) as port, instance_on(Path(work), port) as instance:
            database = f"host=127.0.0.1 port={port} user={ROLE} dbname={ROLE}"
            measure_sizes(instance, Path(work), database, say, save, sizes)


@contextmanager
def instance_on(folder: Path, port: int) -> Iterator[dg.DagsterInstance]:
    """Yield a Dagster instance whose storage is a PostgreSQL server."""
    database = {"hostname": "127.0.0.1", "username": ROLE, "password": "", "db_name": ROLE}
    storage = {**database, "port": port, "scheme": "postgresql+psycopg2"}
    settings = {
        "telemetry": {"enabled": False},
        "storage": {"postgres": {"postgres_db": storage}},
    }
    (folder / "dagster.yaml").write_text(json.dumps(settings))
    with dg.DagsterInstance.from_config(str(folder)) as instance:
        yield instance


def measure_sizes(
    instance: dg.DagsterInstance,
    folder: Path,
    database: str,
    say: Callable[[str], None],
    save: Save,
    sizes: Sequence[int],
) -> None:
    """Measure an instance at rising numbers of ingested uploads."""
    platform = Platform(lake=str(folder / "lake"), landing=str(folder / "landing"))
    filled = 0
    for size in sizes:
        say(f"filling {size:,} partitions")
        fill(instance, platform, range(filled, size), database)
        filled = size
        results = measured(instance, platform, folder)
        say(f"{size:,} partitions: {results}")
        save("dagster", str(size), results)


def fill(instance: dg.DagsterInstance, platform: Platform, numbers: range, database: str) -> None:
    """Land uploads, and tell the instance that each was ingested by a run of its own.

    The first and the last are told as the platform tells it; the rows of those between are made
    after the first one's, since telling takes a tenth of a second each.
    """
    names = [name_of(number) for number in numbers]
    for first in range(0, len(names), KEYS_AT_ONCE):
        keys = names[first : first + KEYS_AT_ONCE]
        instance.add_dynamic_partitions(str(UPLOADS.name), keys)
    markers = Path(platform.landing) / MARKERS
    for name in (names[0], names[-1]):
        tell(instance, platform, name)
        if name == names[0]:
            text = (markers / f"{name}.json").read_text()
            between = names[1:-1]
            for other in between:
                (markers / f"{other}.json").write_text(text.replace(name, other))
            keys_of = {n: run_key(Landing(platform.landing).manifest(n)) for n in (name, *between)}
            copy_rows(database, keys_of)


def tell(instance: dg.DagsterInstance, platform: Platform, name: str) -> None:
    """Land one upload, and tell of its run and its materialization."""
    source = Path(platform.landing).parent / "source"
    source.mkdir(exist_ok=True)
    (source / "file.txt").write_text("x")
    manifest = Landing(platform.landing).put(source, "pick", name)
    tags = {"dagster/partition": name, "dagster/run_key": run_key(manifest)}
    run = dg.DagsterRun(job_name=JOB, tags=tags, status=dg.DagsterRunStatus.SUCCESS)
    instance.add_run(run)
    instance.report_runless_asset_event(dg.AssetMaterialization(ASSET, partition=name))


def copy_rows(database: str, keys_of: Mapping[str, str]) -> None:
    """Give each upload the rows of the first one, under its own name, run key and run."""
    import psycopg2
    from psycopg2.extras import execute_values

    first, *others = keys_of
    with closing(psycopg2.connect(database)) as connection, connection, connection.cursor() as rows:
        for table, statement in COPIED.items():
            rows.execute(statement, {"name": first})
            (columns,) = rows.fetchall()
            execute_values(
                rows,
                f"INSERT INTO {table} ({INTO[table]}) VALUES %s",
                [_renamed(columns, first, other, keys_of) for other in others],
            )
        execute_values(
            rows,
            "INSERT INTO run_tags (run_id, key, value) VALUES %s",
            [
                (_run_of(other), key, value)
                for other in others
                for key, value in (
                    ("dagster/partition", other),
                    ("dagster/run_key", keys_of[other]),
                )
            ],
        )


def _renamed(
    columns: tuple[object, ...], first: str, other: str, keys_of: Mapping[str, str]
) -> list[object]:
    """Return a row with the names of another upload; its run's id stands first."""
    run_id, *rest = columns
    texts = [
        value.replace(keys_of[first], keys_of[other]).replace(first, other)
        if isinstance(value, str)
        else value
        for value in rest
    ]
    if not run_id:
        return [run_id, *texts]
    renamed = [
        text.replace(str(run_id), _run_of(other)) if isinstance(text, str) else text
        for text in texts
    ]
    return [_run_of(other), *renamed]


def _run_of(upload: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_OID, upload))


def name_of(number: int) -> str:
    """Return an upload's name; names sort by number."""
    return f"20260101t{number:06d}z-pick-0000"


def measured(instance: dg.DagsterInstance, platform: Platform, home: Path) -> dict[str, float]:
    """Return the least seconds of each question, over some repeats."""
    definitions = build_definitions(platform)
    ticking = Ticking(instance, platform, definitions)
    ticking.catch_up()
    asked: dict[str, Callable[[], object]] = {
        "tick of `new_uploads`, nothing new": ticking.tick,
        "tick of `new_uploads`, all forgotten": ticking.tick_anew,
        "status of all partitions": lambda: status(instance),
    }
    figures = {what: least(question) for what, question in asked.items()}
    with pages(home) as ask:
        ask(EVENTS)  # the first answer waits for the server to start
        figures["Partitions tab of an asset, its queries"] = least(lambda: ask(STATUSES))
        figures["Events tab of an asset, its queries"] = least(lambda: ask(EVENTS))
    return figures


def least(question: Callable[[], object]) -> float:
    """Return the least wall seconds that a question takes."""
    taken = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        question()
        taken.append(time.perf_counter() - start)
    return round(min(taken), 4)


class Ticking:
    """The sensor asked as the daemon does."""

    def __init__(
        self, instance: dg.DagsterInstance, platform: Platform, definitions: dg.Definitions
    ) -> None:
        self._facts = {
            "instance": instance,
            "resources": {"platform": platform},
            "definitions": definitions,
        }
        self._cursor: str | None = None

    def catch_up(self) -> None:
        """Tick until the cursor stands at the newest upload."""
        for _ in range(4):
            self.tick()

    def tick(self) -> None:
        """Tick once, from the cursor; every upload is known, so no run is requested."""
        self._cursor = self._ticked(self._cursor)

    def tick_anew(self) -> None:
        """Tick once without a cursor."""
        self._ticked(None)

    def _ticked(self, cursor: str | None) -> str | None:
        context = dg.build_sensor_context(cursor=cursor, **self._facts)  # type: ignore[arg-type]
        result = new_uploads(context)
        assert isinstance(result, dg.SensorResult)
        assert not result.run_requests
        return result.cursor


def status(instance: dg.DagsterInstance) -> None:
    """Ask which partitions of an asset are materialized, and list them all."""
    key = dg.AssetKey(ASSET)
    known = instance.get_materialized_partitions(key)
    listed = instance.get_dynamic_partitions(str(UPLOADS.name))
    assert known == set(listed)


@contextmanager
def pages(home: Path) -> Iterator[Callable[[str], None]]:
    """Yield a function that asks a web server's GraphQL about the asset."""
    (port,) = free_ports(1)
    command = [sys.executable, "-m", "dagster_webserver", "-h", "127.0.0.1", "-p", str(port)]
    with (home / "webserver.log").open("wb") as log:
        server = subprocess.Popen(
            [*command, "-m", "robot_data_platform.definitions"],
            env={**os.environ, "DAGSTER_HOME": str(home), "PYTHONPATH": str(REPOSITORY)},
            stdout=log,
            stderr=log,
        )
    try:
        yield partial(_ask, f"http://127.0.0.1:{port}", server)
    finally:
        server.terminate()
        server.wait()


def _ask(url: str, server: subprocess.Popen[bytes], query: str) -> None:
    body = {"query": query, "variables": {"key": {"path": [ASSET]}}}
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{url}/graphql", json.dumps(body).encode(), headers)
    deadline = time.monotonic() + 5 * START_TIMEOUT_S
    while True:
        try:
            with urllib.request.urlopen(request, timeout=START_TIMEOUT_S) as response:
                told = json.load(response)
            break
        except HTTPError as err:
            raise RuntimeError(f"The web server answered {err.read()[:2000]!r}.") from err
        except URLError:
            if server.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.5)
    if "errors" in told or told["data"]["assetNodeOrError"]["__typename"] != "AssetNode":
        raise RuntimeError(f"The web server answered {str(told)[:2000]}.")
