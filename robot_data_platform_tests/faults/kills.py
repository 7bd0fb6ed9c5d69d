"""One kill of an ingestion: when, what is held against the truth afterwards, and what was found."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Literal

from robot_data_platform.compute.episodes_map import Fanout
from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform_tests.faults.contents import (
    damaged_gops,
    garbage_after_clean_up,
    rows_of_tables,
    shown,
)
from robot_data_platform_tests.faults.scenarios import NEIGHBOUR, Scenario, count_files
from robot_data_platform_tests.faults.victims import STARVED, ingesting, kill

MAX_STARTS = 5
"""How often a run is started whose Ray fails by itself."""

Moment = Literal["time", "write"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """When an ingestion is killed."""

    number: int
    scenario: str
    fanout: Fanout
    moment: Moment
    """At a share of the time that it takes, or of the files that it writes."""
    share: float
    """0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """What a kill came to."""

    kill: Kill
    was_published: bool
    """Whether the upload was visible when the process died."""
    problems: tuple[str, ...]
    """What is not as it has to be; none, where all is well."""


def draw_kills(
    fanouts: Mapping[int, Fanout], scenarios: Mapping[str, Scenario], seed: int
) -> Iterator[Kill]:
    """Yield the kills of a seed, one for each fan-out."""
    for number, fanout in fanouts.items():
        draw = random.Random(f"{seed}/{number}")
        yield Kill(
            number=number,
            scenario=draw.choice(sorted(scenarios)),
            fanout=fanout,
            moment=("time", "write")[number % 2],
            share=draw.random(),
        )


def carry_out(planned: Kill, scenario: Scenario, duration_s: float, folder: Path) -> Ended:
    """Kill an ingestion, look, run it again, and look closely."""
    killed, place = _killed(planned, scenario, duration_s, folder)
    seen = shown(place, scenario.dataset)
    problems = []
    if seen not in (scenario.before, scenario.after):
        problems.append(f"after the kill a reader saw {seen}")
    if code := run_to_its_end(place, scenario.upload, killed.fanout):
        problems.append(f"the next run ended with exit code {code}")
    problems += _differences(place, scenario)
    return Ended(
        kill=killed, was_published=seen == scenario.after, problems=tuple(map(str, problems))
    )


def run_to_its_end(place: Workplace, upload: str, fanout: Fanout) -> int:
    """Ingest an upload in a process of its own and return its exit code."""
    code = STARVED
    for _ in range(MAX_STARTS):
        with ingesting(place, upload, fanout) as process:
            process.join()
            code = process.exitcode or 0
        if code != STARVED:
            break
    return code


def _killed(
    planned: Kill, scenario: Scenario, duration_s: float, folder: Path
) -> tuple[Kill, Workplace]:
    """Kill at the planned moment, or earlier where it was over by then."""
    attempt = 0
    while True:
        place = scenario.copied(folder / str(attempt))
        with ingesting(place, scenario.upload, planned.fanout) as process:
            if planned.moment == "time":
                time.sleep(planned.share * duration_s)
            else:
                _wait_for_files(process, place, planned.share * scenario.num_files)
            kill(process)
            process.join()
            if process.exitcode == -signal.SIGKILL:
                return planned, place
            assert process.exitcode in (0, STARVED), f"it failed: {process.exitcode}"
            if process.exitcode == 0:
                planned = replace(planned, share=planned.share * 0.7)
        attempt += 1


def _wait_for_files(process: BaseProcess, place: Workplace, num_files: float) -> None:
    at_start = count_files(place)
    while count_files(place) - at_start < num_files and process.is_alive():
        time.sleep(0.001)


def _differences(place: Workplace, scenario: Scenario) -> Iterator[str]:
    """Yield how a place differs from one where nobody disturbed the ingestion."""
    if shown(place, scenario.dataset) != scenario.after:
        yield f"a reader sees {shown(place, scenario.dataset)}, not {scenario.after}"
    if shown(place, NEIGHBOUR) != scenario.others:
        yield f"dataset {NEIGHBOUR!r} has changed"
    for table, rows in rows_of_tables(place, scenario.dataset).items():
        if rows != scenario.rows[table]:
            yield f"table {table} has {len(rows)} rows {rows}, not {scenario.rows[table]}"
    if damaged := damaged_gops(place, scenario.dataset):
        yield f"GOPs {damaged} are damaged"
    if left := garbage_after_clean_up(place):
        yield f"clean-up leaves {left}"
    if shown(place, scenario.dataset) != scenario.after:
        yield "clean-up took what a reader sees"
