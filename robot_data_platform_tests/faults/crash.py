"""`make crash`: kill ingestions at random moments, on local processes and on Ray, and compare.

Run as ``python -m robot_data_platform_tests.faults.crash --kills 200``.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from robot_data_platform.compute.episodes_map import Backend, Fanout
from robot_data_platform_tests.faults.kills import (
    MAX_STARTS,
    Ended,
    carry_out,
    draw_kills,
    run_to_its_end,
)
from robot_data_platform_tests.faults.scenarios import Scenario, make_scenarios

if TYPE_CHECKING:
    from ray.cluster_utils import Cluster

SHARED = "the cluster of this program"
EVERY_OWN_CLUSTER = 10
"""Of so many kills on Ray, one takes the cluster along, which it then has started itself."""
EVERY_POOL = 4
"""Of so many kills on this machine, one takes two worker processes along."""


def main() -> int:
    """Carry out the kills and print what they came to; 1 where anything was lost."""
    options = _options()
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="rdp-crash-") as folder, ExitStack() as stack:
        numbers = range(options.first, options.first + options.kills)
        fanouts = {n: _fanout(n) for n in numbers if options.only in ("both", _backend(n))}
        if any(fanout.ray_address for fanout in fanouts.values()):
            address = stack.enter_context(_cluster())
            fanouts = {n: _at(fanout, address) for n, fanout in fanouts.items()}
        scenarios = make_scenarios(Path(folder))
        ended = list(_carry_out_all(fanouts, scenarios, options.seed, Path(folder)))
    print(_summary(ended, time.monotonic() - begin))  # noqa: T201 (it is what the program is for)
    return int(any(each.problems for each in ended))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    parser.add_argument("--only", choices=["local", "ray", "both"], default="both")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


@contextmanager
def _cluster() -> Iterator[str]:
    """Yield the address of a Ray cluster that outlives those who are killed."""
    from ray.cluster_utils import Cluster

    cluster = Cluster()
    try:
        _add_node(cluster)
        yield cluster.address
    finally:
        cluster.shutdown()


def _add_node(cluster: Cluster) -> None:
    """Start the cluster's node, again where half a minute was too short for Ray."""
    for _ in range(MAX_STARTS - 1):
        try:
            cluster.add_node(num_cpus=2, include_dashboard=False)
        except Exception as err:
            if "timed out during startup" not in str(err):
                raise
            cluster.shutdown()
        else:
            return
    cluster.add_node(num_cpus=2, include_dashboard=False)


def _backend(number: int) -> Backend:
    """Return where the kill of a number works: two on this machine, two on Ray."""
    return "ray" if number // 2 % 2 else "local"


def _fanout(number: int) -> Fanout:
    if _backend(number) == "local":
        return Fanout(num_workers=2 if number // 4 % EVERY_POOL == 0 else 1)
    own = number // 4 % EVERY_OWN_CLUSTER == 0
    return Fanout(backend="ray", num_workers=2, ray_address=None if own else SHARED)


def _at(fanout: Fanout, address: str) -> Fanout:
    return replace(fanout, ray_address=address) if fanout.ray_address else fanout


def _carry_out_all(
    fanouts: Mapping[int, Fanout], scenarios: Mapping[str, Scenario], seed: int, folder: Path
) -> Iterator[Ended]:
    duration_s: dict[tuple[str, Fanout], float] = {}
    for kill in draw_kills(fanouts, scenarios, seed):
        scenario, place = scenarios[kill.scenario], folder / f"kill-{kill.number}"
        key = (kill.scenario, kill.fanout)
        if key not in duration_s:
            duration_s[key] = _measured(scenario, kill.fanout, place / "measured")
        ended = carry_out(kill, scenario, duration_s[key], place)
        shutil.rmtree(place)
        print(_line(ended), flush=True)  # noqa: T201
        yield ended


def _measured(scenario: Scenario, fanout: Fanout, folder: Path) -> float:
    place = scenario.copied(folder)
    begin = time.monotonic()
    assert run_to_its_end(place, scenario.upload, fanout) == 0
    return time.monotonic() - begin


def _line(ended: Ended) -> str:
    kill = ended.kill
    said = "; ".join(ended.problems) or "whole"
    return (
        f"kill {kill.number} {kill.scenario} {_where(kill.fanout)} at {kill.share:.0%} of its "
        f"{kill.moment}, {'published' if ended.was_published else 'unseen'}: {said}"
    )


def _where(fanout: Fanout) -> str:
    if fanout.backend == "ray":
        return "ray-cluster" if fanout.ray_address else "ray-own"
    return f"local-{fanout.num_workers}"


def _summary(ended: list[Ended], seconds: float) -> str:
    counts = Counter((_where(each.kill.fanout), each.was_published) for each in ended)
    bad = [_line(each) for each in ended if each.problems]
    return "\n".join(
        [
            f"{len(ended)} kills in {seconds:.0f} s, {len(bad)} with a problem",
            *(
                f"  {where}: {count} {'after' if published else 'before'} the upload was published"
                for (where, published), count in sorted(counts.items())
            ),
            *bad,
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
