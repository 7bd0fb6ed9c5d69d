"""A lake and its model, and what both are put through together."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.compute.maintenance import maintain_dataset
from robot_data_platform.compute.upkeep_policy import UpkeepPolicy
from robot_data_platform.core.run import RunInfo
from robot_data_platform.storage.compaction import compact
from robot_data_platform_tests.soak.effects import apply, assert_ended, collect, give_up
from robot_data_platform_tests.soak.invariants import Watch
from robot_data_platform_tests.soak.materialize import do_step, record
from robot_data_platform_tests.soak.model import DATASET, Model
from robot_data_platform_tests.soak.releases import make_release
from robot_data_platform_tests.soak.seams import before_commit

S_NS, DAY_NS = 10**9, 86_400 * 10**9
HEAD_START_NS = 1000 * DAY_NS
"""Days pass in the model, and it must not run ahead of the clock on the wall."""
TABLES = ("gops", "frames", "episodes", "quality", "spatial", "measurements", "splits")

Meanwhile = tuple[int, Callable[[], None]]
"""What another writer does, and before which commit of a step."""


class Driver:
    """One dataset in a lake of its own."""

    def __init__(self, folder: Path) -> None:
        self.place = Workplace(lake_root=str(folder / "lake"), landing_root=str(folder / "landing"))
        self.lake = self.place.lake
        self.model = Model()
        self.watch = Watch(self.lake, self.model)
        self.now_ns = time.time_ns() - HEAD_START_NS
        self.num_runs = 0
        self.last_cleaned = -1
        """Versions of ``episodes`` up to this one may be gone."""

    def run_of(self, asset: str, upload: str | None = None) -> RunInfo:
        """Return a run of its own, a second later than the last one."""
        self.num_runs += 1
        self.now_ns += S_NS
        return RunInfo(
            run_id=f"run-{self.num_runs}",
            asset=asset,
            partition=upload,
            code_version="0",
            created_ns=self.now_ns,
        )

    def materialize(
        self,
        asset: str,
        upload: str,
        meanwhile: Meanwhile | None = None,
    ) -> None:
        """Do a step; ``meanwhile`` is done before its commit of a number, where it has one."""
        run = self.run_of(asset, upload)
        before = self.model.expected(asset, upload)
        with self.interrupted(None if before.refusals else meanwhile):
            outcome = do_step(self.place, asset, upload, run)
            # Another writer that was let in so far comes before what this step committed, one
            # that is let in before its edges comes after it.
            expected = self.model.expected(asset, upload, has_begun=not before.refusals)
            assert_ended(outcome, expected, f"{asset} of {upload}")
            apply(self.model, self.lake, asset, upload, outcome, run)
            record(self.place, outcome, run)

    def release(self) -> None:
        """Release all that is visible under a new name."""
        make_release(self.lake, self.model, f"r{len(self.model.releases)}", self.run_of("release"))

    def maintain(self, policy: UpkeepPolicy, meanwhile: Meanwhile | None = None) -> None:
        """Let maintenance give up, collect, compact and clean up."""
        run = self.run_of("maintenance")
        if not policy.grace:
            # Files have the time of the clock on the wall, which is later.
            run = replace(run, created_ns=time.time_ns() + S_NS)
        if self.lake.find(DATASET, "episodes") is None:
            return
        oldest_ns = run.created_ns - int(policy.grace.total_seconds()) * S_NS
        with self.interrupted(meanwhile, lambda: give_up(self.model, self.lake, oldest_ns)):
            report = maintain_dataset(self.lake, DATASET, run, policy)
        assert not report.damaged
        give_up(self.model, self.lake, oldest_ns)
        collect(self.model, self.lake)
        self.watch.distrust()
        if not policy.keep_versions:
            self.last_cleaned = self.lake.open(DATASET, "episodes").version

    @contextmanager
    def interrupted(
        self,
        meanwhile: Meanwhile | None,
        first: Callable[[], None] = lambda: None,
    ) -> Iterator[None]:
        """Do something before a commit that is made inside, after noting what came before."""
        if meanwhile is None:
            yield
            return

        def intrude() -> None:
            first()
            meanwhile[1]()

        with before_commit(meanwhile[0], intrude):
            yield

    def compact_all(self) -> None:
        """Merge the fragments of every table."""
        for table in TABLES:
            if self.lake.find(DATASET, table) is not None:
                compact(self.lake.table_uri(DATASET, table))
