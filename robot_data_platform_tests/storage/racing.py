"""What other processes do in the races of the tests; each function runs in one of them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import pyarrow as pa

from robot_data_platform.storage.commit import (
    Guard,
    append_built,
    commit_fragments,
    grow_schema,
    rewrite_columns,
    write_rows,
)
from robot_data_platform.storage.compaction import compact
from robot_data_platform.storage.predicate import equals
from robot_data_platform.storage.table import LakeTable
from robot_data_platform_tests.storage.small_table import SCHEMA, add, rows_of

START_DELAY_S = 0.2
"""Time for every process to be at its start line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """Where a race is run, from when on, and how S3 is reached there."""

    uri: str
    start_s: float
    environment: Mapping[str, str]


def race(
    pool: ProcessPoolExecutor, uri: str, *runners: tuple[Callable[..., object], object]
) -> None:
    """Run functions at once, each in its own process, as ``function(uri, argument)``."""
    environment = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
    start = Race(uri=uri, start_s=time.time() + START_DELAY_S, environment=environment)
    futures = [pool.submit(_run, start, function, argument) for function, argument in runners]
    for future in futures:
        future.result()


def _run(start: Race, function: Callable[..., object], argument: object) -> None:
    os.environ.update(start.environment)
    time.sleep(max(0.0, start.start_s - time.time()))
    function(start.uri, argument)


def holds(upload: str) -> Guard:
    """Return the guard that asks whether a table has rows of an upload."""
    return lambda table: table.count_rows(equals("upload", upload)) > 0


def append_uploads(uri: str, uploads: list[str]) -> None:
    """Append one row for each upload, under a guard, as a driver that may be a second one."""
    for number, upload in enumerate(uploads):
        add(uri, [number], upload, is_done=holds(upload))


def commit_written(uri: str, fragments: list[str]) -> None:
    """Commit fragments that another process wrote, under a guard."""
    commit_fragments(uri, fragments, properties={}, is_done=lambda table: table.count_rows() > 0)


def replace_upload(uri: str, given: tuple[str, list[range]]) -> None:
    """Replace an upload's rows several times."""
    upload, versions = given
    for keys in versions:
        add(uri, keys, upload, replace=True)


def score_rows(uri: str, given: tuple[list[int], float]) -> None:
    """Give one row after the other a score."""
    keys, score = given
    for key in keys:
        rewrite_columns(uri, pa.table({"key": [key], "score": [score]}), key="key", properties={})


def add_columns(uri: str, names: list[str]) -> None:
    """Add columns one by one, each with an entry of metadata."""
    for name in names:
        grow_schema(uri, [pa.field(name, pa.int64())], {f"rdp.{name}": "there"})


def reserve_numbers(uri: str, given: tuple[str, int]) -> None:
    """Append rows whose key is the next free one."""
    upload, count = given

    def next_row(table: LakeTable) -> pa.Table:
        held = table.read(["key"])["key"].to_pylist()
        return rows_of([max(held, default=-1) + 1], upload)

    for _ in range(count):
        append_built(uri, next_row, properties={})


def compact_often(uri: str, times: int) -> None:
    """Merge the table's fragments several times."""
    for _ in range(times):
        compact(uri)


def write_and_wait(uri: str, ready: str) -> None:
    """Write rows, say so by a file, and never commit them."""
    write_rows(uri, SCHEMA, rows_of(range(100), "killed").to_batches())
    with open(ready, "x"):
        time.sleep(600)
