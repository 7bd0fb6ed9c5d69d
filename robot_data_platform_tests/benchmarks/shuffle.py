"""Scenario F: our two orders of training against each other; no peer has the second one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from robot_data_platform_tests.benchmarks.figures import figure, ratio, take_turns
from robot_data_platform_tests.benchmarks.random_access import PREFETCH
from robot_data_platform_tests.benchmarks.source_files import DATASET
from robot_data_platform_tests.benchmarks.stores import Bench, Stores

NUM_ROUNDS = 5


def measure(bench: Bench, stores: Stores) -> dict[str, Any]:
    """Read rows of an epoch in both orders, in turns."""
    scale = bench.scale
    bench.say("scenario F, taking turns")
    with bench.own_worker() as own:
        own.ask("open", lake=str(stores.lake), dataset=DATASET)

        def reading(order: str) -> Callable[[int], float]:
            def seconds_per_frame(number: int) -> float:
                reply = own.ask(
                    "shuffle",
                    order=order,
                    epoch=number,
                    rows=scale.shuffle_rows,
                    batch_size=scale.batch_size,
                    prefetch=PREFETCH,
                )
                return float(reply["wall_s"])

            return seconds_per_frame

        measures = {"exact": reading("exact"), "block": reading("block")}
        seconds = take_turns(min(NUM_ROUNDS, scale.num_rounds), measures)
    figures = {f"F_{name}": figure(values, "s/frame") for name, values in seconds.items()}
    ratios = {"block_over_exact_shuffle": ratio(seconds["exact"], seconds["block"])}
    return {"figures": figures, "ratios": ratios}
