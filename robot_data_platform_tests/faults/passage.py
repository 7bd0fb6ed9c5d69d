"""An upload on its whole way through a store that fails: landed, ingested, released, read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar
from unittest import mock

from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.curation.release import create_release
from robot_data_platform.curation.spec import parse_spec
from robot_data_platform.curation.splits import curate
from robot_data_platform.curation.verify import verify
from robot_data_platform.errors import CommitConflictError, StorageError, is_worth_retrying
from robot_data_platform.reader import RobotLanceDataset
from robot_data_platform.reader.items import Item
from robot_data_platform.storage import reach, s3_store, uri
from robot_data_platform.testing.rawlog import Draw, RawlogShape, write_rawlog
from robot_data_platform_tests.compute.uploads import IN_PROCESS, RUN, STEPS, workplace
from robot_data_platform_tests.faults.contents import Shown, damaged_gops, rows_of_tables, shown
from robot_data_platform_tests.faults.faulty_proxy import FaultyProxy, Plan
from robot_data_platform_tests.faults.scenarios import SHAPE
from robot_data_platform_tests.video.videos import write_video

Value = TypeVar("Value")

DATASET, UPLOAD, RELEASE = "robot", "u1", "v1"
MAX_RUNS = 4
"""How often a person, or Dagster, runs a step that ends in an error of the store."""
SPEC = "{name: all, filter: {status: [ok, flagged], max_findings: {}}, ratios: {train: 1.0}}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """What an ingestion that meets no fault comes to."""

    recording: Path
    shown: Shown
    rows: Mapping[str, list[str]]


@dataclass(slots=True, kw_only=True)
class Passage:
    """How one upload got through."""

    plan: Plan
    num_runs: dict[str, int] = field(default_factory=dict)
    """By step: 1, and one more for each error that it ended with."""
    errors: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """What is not as it has to be."""

    def done(self, step: str, work: Callable[[], Value]) -> Value:
        """Return what ``work`` returns, run again where the store's failure ended it."""
        for run in range(1, MAX_RUNS + 1):
            self.num_runs[step] = run
            try:
                return work()
            except (StorageError, CommitConflictError) as err:
                if not is_worth_retrying(err) or run == MAX_RUNS:
                    raise
                self.errors.append(f"{step}: {err}")
        raise AssertionError("unreachable: the last run returns or raises")


@contextmanager
def impatient() -> Iterator[None]:
    """Let clients wait for seconds where they would for half a minute, in this process."""
    with (
        mock.patch.object(uri, "REQUEST_TIMEOUT_S", 2),
        mock.patch.object(s3_store, "READ_TIMEOUT_S", 2),
        mock.patch.dict(reach._IMPATIENCE, {"timeout": "2s"}),
    ):
        yield


def _write_video(path: Path, num_frames: int, draw: Draw) -> Path:
    return write_video(path, num_frames, options={"preset": "ultrafast", "crf": "8"}, picture=draw)


def find_truth(folder: Path, shape: RawlogShape = SHAPE) -> Truth:
    """Record an upload and ingest it on this machine."""
    place = workplace(folder / "local")
    write_rawlog(folder / "recording", shape, _write_video)
    place.landing.put(folder / "recording", DATASET, UPLOAD)
    _ingest(place, Passage(plan=Plan(share=0.0)))
    return Truth(
        recording=folder / "recording",
        shown=shown(place, DATASET),
        rows=rows_of_tables(place, DATASET),
    )


def pass_through(proxy: FaultyProxy, root: str, truth: Truth, plan: Plan) -> Passage:
    """Land, ingest, release and read an upload through a proxy; look behind it afterwards.

    The process's variables name the proxy.
    """
    place = Workplace(lake_root=f"{root}/lake", landing_root=f"{root}/landing")
    passage = Passage(plan=plan)
    proxy.plan = plan
    passage.done("put", lambda: _put(place, truth))
    _ingest(place, passage, after_each=lambda: _look(place, proxy, truth, passage))
    passage.done("curate", lambda: curate(place.lake, DATASET, parse_spec(SPEC), RUN))
    spec = parse_spec(SPEC)
    passage.done("release", lambda: create_release(place.lake, DATASET, spec, RUN, name=RELEASE))
    items = passage.done("read", lambda: _items(place))
    proxy.plan = Plan(share=0.0)
    with mock.patch.dict(os.environ, proxy.server.environment):
        _compare(place, truth, passage, items)
    return passage


def _put(place: Workplace, truth: Truth) -> None:
    landing = place.landing
    if UPLOAD not in landing.list_uploads():
        landing.put(truth.recording, DATASET, UPLOAD)


def _ingest(
    place: Workplace, passage: Passage, after_each: Callable[[], None] = lambda: None
) -> None:
    for name, step in STEPS.items():
        passage.done(name, partial(step, place, UPLOAD, IN_PROCESS, RUN))
        after_each()


def _look(place: Workplace, proxy: FaultyProxy, truth: Truth, passage: Passage) -> None:
    """Look behind the proxy: all of the upload has to be visible, or nothing."""
    with mock.patch.dict(os.environ, proxy.server.environment):
        seen = shown(place, DATASET)
    if seen not in ({}, truth.shown):
        passage.problems.append(f"half visible: {seen}, not {truth.shown}")


def _items(place: Workplace) -> list[Item]:
    view = RobotLanceDataset(place.lake_root, DATASET, release=RELEASE, split="train")
    return view.__getitems__(range(len(view)))


def _compare(place: Workplace, truth: Truth, passage: Passage, items: list[Item]) -> None:
    if (seen := shown(place, DATASET)) != truth.shown:
        passage.problems.append(f"shown are {seen}, not {truth.shown}")
    for table, rows in rows_of_tables(place, DATASET).items():
        if rows != truth.rows[table]:
            passage.problems.append(f"table {table} has {rows}, not {truth.rows[table]}")
    if damaged := damaged_gops(place, DATASET):
        passage.problems.append(f"GOPs {damaged} are damaged")
    passage.problems += map(str, verify(place.lake, DATASET, RELEASE).problems)
    if str(items) != str(_items(place)):
        passage.problems.append("a training read through the proxy gave other items")
