"""Scenario S: A to D from a real S3 server against local disk, the server sharing the cores."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from robot_data_platform_tests.benchmarks.draws import batches_of
from robot_data_platform_tests.benchmarks.figures import Figure, figure, ratio, take_turns
from robot_data_platform_tests.benchmarks.random_access import (
    PREFETCH,
    SCENARIOS,
    WARM_UP_ROUND,
    unit_of,
)
from robot_data_platform_tests.benchmarks.source_files import DATASET
from robot_data_platform_tests.benchmarks.stores import Bench, Stores
from robot_data_platform_tests.benchmarks.worker import Worker
from robot_data_platform_tests.counting_proxy import CountingProxy, Request
from robot_data_platform_tests.servers import S3Server, run_seaweedfs

BUCKET = "bench"
DELAY_S = 0.02
"""What a request takes to a store in the same region."""
S3_PREFETCH = 4
"""Batches read ahead from a store that answers late."""


class DelayingProxy(CountingProxy):
    """A counting proxy whose every answer comes late."""

    def record(self, request: Request) -> None:
        """Write a request down after the delay; each has a thread of its own."""
        time.sleep(DELAY_S)
        super().record(request)


def measure(bench: Bench, stores: Stores) -> dict[str, Any]:
    """Read from disk and from S3 in turns; then count requests, and read behind a delay."""
    with TemporaryDirectory() as folder, run_seaweedfs(Path(folder)) as server:
        bench.say("copying the lake to S3")
        uri = _copy_lake(server, stores.lake)
        result = _against_disk(bench, stores, server, uri)
        with CountingProxy(server.endpoint_url) as proxy:
            result["requests"] = _requests(bench, replace_endpoint(server, proxy), uri, proxy)
        with DelayingProxy(server.endpoint_url) as proxy:
            behind = replace_endpoint(server, proxy)
            result["figures"] |= _behind_delay(bench, behind, uri)
    return result


def replace_endpoint(server: S3Server, proxy: CountingProxy) -> S3Server:
    """Return the server as it is reached through a proxy."""
    return replace(server, endpoint_url=proxy.endpoint_url)


def _copy_lake(server: S3Server, lake: Path) -> str:
    uri = server.make_bucket(BUCKET)
    for path in sorted(lake.rglob("*")):
        if path.is_file():
            server.client.upload_file(str(path), BUCKET, f"lake/{path.relative_to(lake)}")
    return f"{uri}/lake"


@contextmanager
def _reader(
    bench: Bench, lake: str, environment: Mapping[str, str] | None = None
) -> Iterator[Worker]:
    """Yield a process of ours that has read every scenario once."""
    with bench.own_worker(environment) as worker:
        worker.ask("open", lake=lake, dataset=DATASET)
        for scenario in SCENARIOS:
            _ask(bench, worker, scenario, WARM_UP_ROUND)
        yield worker


def _ask(
    bench: Bench, worker: Worker, scenario: str, number: int, prefetch: int = PREFETCH
) -> dict[str, Any]:
    batches = batches_of(bench.scale, scenario, number)
    reply = worker.ask("measure", scenario=scenario, batches=batches, prefetch=prefetch)
    return {**reply, "cpu_per_frame": reply["cpu_s"] * len(batches) / reply["pictures"]}


def _against_disk(bench: Bench, stores: Stores, server: S3Server, uri: str) -> dict[str, Any]:
    figures: dict[str, Figure] = {}
    ratios: dict[str, Figure] = {}
    cpu: dict[str, list[float]] = {"local": [], "s3": []}
    with (
        _reader(bench, str(stores.lake)) as local,
        _reader(bench, uri, server.environment) as remote,
    ):
        for scenario in SCENARIOS:
            bench.say(f"scenario S, {scenario}, taking turns")
            reading = {"local": local, "s3": remote}
            measures = {
                name: _seconds(bench, worker, scenario, cpu[name] if scenario == "B" else [])
                for name, worker in reading.items()
            }
            seconds = take_turns(bench.scale.num_rounds, measures)
            for name, values in seconds.items():
                figures[f"S_{scenario}_{name}"] = figure(values, unit_of(scenario))
            # A speed is the inverse of a time: what S3 reaches of the disk's.
            ratios[f"s3_over_local_{scenario}"] = ratio(seconds["local"], seconds["s3"])
    figures["s3_cpu_over_local"] = ratio(cpu["s3"], cpu["local"])
    ratios["s3_over_local_sequential"] = ratios.pop("s3_over_local_D")
    ratios["s3_over_local_random"] = ratios.pop("s3_over_local_B")
    figures |= {name: ratios.pop(name) for name in ("s3_over_local_A", "s3_over_local_C")}
    return {"figures": figures, "ratios": ratios}


def _seconds(
    bench: Bench, worker: Worker, scenario: str, cpu: list[float]
) -> Callable[[int], float]:
    def measured(number: int) -> float:
        reply = _ask(bench, worker, scenario, number)
        cpu.append(reply["cpu_per_frame"])
        return float(reply["wall_s"])

    return measured


def _requests(
    bench: Bench, server: S3Server, uri: str, proxy: CountingProxy
) -> dict[str, dict[str, float]]:
    """Return GETs and bytes for one picture of each scenario, and to open."""
    counts = {}
    with bench.own_worker(server.environment) as worker:
        bench.say("counting requests")
        worker.ask("open", lake=uri, dataset=DATASET)
        proxy.clear()
        worker.ask("open_seconds")
        counts["open"] = _count(proxy, 1)
        for scenario in SCENARIOS:
            _ask(bench, worker, scenario, WARM_UP_ROUND)
            proxy.clear()
            reply = _ask(bench, worker, scenario, 0)
            counts[scenario] = _count(proxy, reply["pictures"])
    return counts


def _count(proxy: CountingProxy, per: int) -> dict[str, float]:
    gets = [request for request in proxy.requests if request.method == "GET"]
    return {
        "gets": len(gets) / per,
        "bytes": sum(request.num_bytes for request in gets) / per,
    }


def _behind_delay(bench: Bench, server: S3Server, uri: str) -> dict[str, Figure]:
    figures = {}
    bench.say("scenario S behind a delay")
    with _reader(bench, uri, server.environment) as worker:
        for scenario in SCENARIOS:
            rounds = range(min(3, bench.scale.num_rounds))
            seconds = [
                _ask(bench, worker, scenario, number, S3_PREFETCH)["wall_s"] for number in rounds
            ]
            figures[f"S_{scenario}_s3_20ms"] = figure(seconds, unit_of(scenario))
    return figures
