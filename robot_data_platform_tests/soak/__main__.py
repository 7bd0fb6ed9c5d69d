"""``python -m robot_data_platform_tests.soak``: many steps in fresh orders, with a summary."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from robot_data_platform_tests.soak.rounds import run_round


def main(arguments: Sequence[str]) -> int:
    """Run, print, and return the exit code: 1 where the lake was not as the model."""
    parser = argparse.ArgumentParser(prog="python -m robot_data_platform_tests.soak")
    parser.add_argument("--steps", type=int, default=10_000, help="steps, of all lakes together")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    options = parser.parse_args(arguments)
    counts: dict[str, int] = {}
    failures, start_s = 0, time.monotonic()
    # Tables are tiny: a pool of threads for each core would only wake up and sleep.
    os.environ.setdefault("LANCE_CPU_THREADS", "1")
    with ProcessPoolExecutor(options.workers, mp_context=get_context("spawn")) as pool:
        running = {pool.submit(run_round) for _ in range(options.workers)}
        while running:
            done = next(as_completed(running))
            running.remove(done)
            failures += bool(done.result().failure)
            for what, count in done.result().counts.items():
                counts[what] = counts.get(what, 0) + count
            _say(done.result().failure or _line(counts, failures, start_s))
            if sum(counts.values()) < options.steps:
                running.add(pool.submit(run_round))
    _say("\n".join(f"{count:>7} {what}" for what, count in sorted(counts.items())))
    _say(_line(counts, failures, start_s))
    return 1 if failures else 0


def _line(counts: dict[str, int], failures: int, start_s: float) -> str:
    seconds = time.monotonic() - start_s
    return f"{sum(counts.values())} steps, {failures} rounds failed, {seconds:.0f} s"


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - it is a program


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
