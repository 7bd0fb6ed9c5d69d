"""``python -m robot_data_platform_tests.fuzz``: many runs with a summary, or one of them again."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from robot_data_platform_tests.fuzz.run import Case, Outcome, rerun, run
from robot_data_platform_tests.fuzz.seeds import SEEDS
from robot_data_platform_tests.fuzz.summary import Summary
from robot_data_platform_tests.fuzz.workers import Worker, outcomes

KEPT = Path(".fuzz")
NUM_WORKERS = 2
PROGRESS_RUNS = 500
SLOW_S = 5.0
"""Runs that take longer are named."""


def cases_of(num_runs: int, seed_names: Sequence[str], first: int = 0) -> list[Case]:
    """Return so many cases or a few more, as many of each seed, the seeds in turn."""
    per_seed = -(-num_runs // len(seed_names))
    return [
        Case(seed_name=name, number=number)
        for number in range(first, first + per_seed)
        for name in seed_names
    ]


def main(arguments: Sequence[str]) -> int:
    """Run, print, and return the exit code: 1 where a run failed."""
    parser = argparse.ArgumentParser(prog="python -m robot_data_platform_tests.fuzz")
    parser.add_argument("--runs", type=int, default=20_000, help="number of runs, of all formats")
    parser.add_argument("--first", type=int, default=0, help="number of the first run of each")
    parser.add_argument("--formats", nargs="+", choices=list(SEEDS), default=list(SEEDS))
    parser.add_argument("--kept", type=Path, default=KEPT, help="folder of sources that failed")
    parser.add_argument("--replay", nargs=2, metavar=("FORMAT", "SEED"), help="do one run again")
    options = parser.parse_args(arguments)
    options.kept.mkdir(parents=True, exist_ok=True)
    if options.replay:
        name, number = options.replay
        return _replay(Case(seed_name=name, number=int(number)), options.kept)
    return _campaign(cases_of(options.runs, options.formats, options.first), options.kept)


def _campaign(cases: Sequence[Case], kept: Path) -> int:
    summary, start_s = Summary(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="rdp-fuzz-") as name:
        folder = Path(name)
        workers = [Worker(folder) for _ in range(NUM_WORKERS)]
        for outcome in outcomes(cases, workers):
            summary.add(outcome)
            if outcome.faults:
                _keep(outcome, folder, kept)
                _say(told(outcome))
            elif outcome.seconds > SLOW_S:
                _say(f"slow, {outcome.seconds:.0f} s: {told(outcome)}")
            if summary.total.runs % PROGRESS_RUNS == 0:
                _say(f"{summary.line()}, {time.monotonic() - start_s:.0f} s")
        for worker in workers:
            worker.close()
    _say(summary.table())
    return 1 if summary.total.failed else 0


def _keep(outcome: Outcome, folder: Path, kept: Path) -> None:
    made, target = folder / outcome.case.name, kept / outcome.case.name
    shutil.rmtree(target, ignore_errors=True)
    if made.exists():
        shutil.move(made, target)


def _replay(case: Case, kept: Path) -> int:
    with tempfile.TemporaryDirectory(prefix="rdp-fuzz-") as name:
        folder = Path(name)
        is_kept = (kept / case.name).exists()
        outcome = rerun(case, kept, folder) if is_kept else run(case, folder)
        if outcome.faults and not is_kept:
            _keep(outcome, folder, kept)
    _say(told(outcome))
    return 1 if outcome.faults else 0


def told(outcome: Outcome) -> str:
    """Return how a run went, for a person."""
    lines = [f"{outcome.case.seed_name} {outcome.case.number}: {outcome.what}", *outcome.faults]
    counts = f"{outcome.num_converted} converted, {outcome.num_refused} refused"
    return "\n    ".join([*lines, f"{counts}, {outcome.num_flagged} flagged"])


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - it is a program


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
