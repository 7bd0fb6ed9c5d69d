"""`make faults`: send uploads through a store that fails at a fifth of all requests, and compare.

Run as ``python -m robot_data_platform_tests.faults --passages 10``.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from unittest import mock

from robot_data_platform_tests.faults.faulty_proxy import Fault, FaultyProxy, Plan
from robot_data_platform_tests.faults.passage import (
    Passage,
    Truth,
    find_truth,
    impatient,
    pass_through,
)
from robot_data_platform_tests.servers import run_seaweedfs


def main() -> int:
    """Send the uploads and print what came of each; 1 where anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=10)
    parser.add_argument("--share", type=float, default=0.2, help="of all requests")
    parser.add_argument("--seed", type=int, default=1, help="of the first one")
    options = parser.parse_args()
    logging.basicConfig(level=logging.ERROR)
    with tempfile.TemporaryDirectory(prefix="rdp-faults-") as folder:
        truth = find_truth(Path(folder))
        seeds = range(options.seed, options.seed + options.passages)
        passages = [_sent(Path(folder) / str(seed), truth, options.share, seed) for seed in seeds]
    _tell(_total(passages))
    return int(any(passage.problems for passage in passages))


def _sent(folder: Path, truth: Truth, share: float, seed: int) -> Passage:
    folder.mkdir()
    begin, plan = time.monotonic(), Plan(share=share, seed=seed)
    with run_seaweedfs(folder) as server, FaultyProxy(server) as proxy:
        through = server.environment | {"AWS_ENDPOINT_URL": proxy.endpoint_url}
        with mock.patch.dict(os.environ, through), impatient():
            passage = pass_through(proxy, server.make_bucket("faults"), truth, plan)
    again = {step: runs for step, runs in passage.num_runs.items() if runs > 1}
    _tell(
        f"seed {seed}: {plan.met.total()} of {plan.num_requests} requests failed, one at most "
        f"{plan.most_alike()} times; {time.monotonic() - begin:.0f} s; "
        f"run again: {again or 'none'}; {'; '.join(passage.problems) or 'whole'}"
    )
    return passage


def _total(passages: list[Passage]) -> str:
    met: Counter[Fault] = sum((passage.plan.met for passage in passages), Counter())
    num_requests = sum(passage.plan.num_requests for passage in passages)
    bad = sum(bool(passage.problems) for passage in passages)
    return "\n".join(
        [
            f"{len(passages)} uploads, {bad} with a problem: {met.total()} of {num_requests} "
            f"requests failed",
            *(f"  {count:5} {fault}" for fault, count in met.most_common()),
            *(f"  ended with {error}" for passage in passages for error in passage.errors),
        ]
    )


def _tell(text: str) -> None:
    print(text, flush=True)  # noqa: T201 (it is what the program is for)


if __name__ == "__main__":
    sys.exit(main())
