"""Scenario E and memory: large tables of rows whose pictures cost almost nothing."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np

from robot_data_platform_tests.benchmarks.figures import figure, take_turns
from robot_data_platform_tests.benchmarks.import_time import import_seconds
from robot_data_platform_tests.benchmarks.random_access import PREFETCH
from robot_data_platform_tests.benchmarks.scale import CAMERAS, Scale
from robot_data_platform_tests.benchmarks.stores import Bench
from robot_data_platform_tests.benchmarks.synthetic_lake import DATASET, Shape, build
from robot_data_platform_tests.benchmarks.worker import Worker

FEW_EPISODES = 100
MEMORY_BATCHES = 20


def measure(bench: Bench) -> dict[str, Any]:
    """Measure opening, resident memory and importing."""
    few, many = _lakes(bench)
    with bench.own_worker() as few_reader, bench.own_worker() as many_reader:
        for worker, lake in ((few_reader, few), (many_reader, many)):
            worker.ask("open", lake=str(lake), dataset=DATASET)
            worker.ask("open_seconds")
        bench.say("opening, taking turns")
        seconds = take_turns(
            bench.scale.num_rounds,
            {
                "open_100_episodes_s": lambda number: _open_seconds(few_reader),
                "open_1m_rows_s": lambda number: _open_seconds(many_reader),
                "import_reader_s": lambda number: import_seconds("robot_data_platform.reader"),
            },
        )
    figures = {name: figure(values, "s") for name, values in seconds.items()}
    bench.say("memory")
    ratios = {name: figures.pop(name) for name in ("open_100_episodes_s", "open_1m_rows_s")}
    return {"figures": {**figures, **_memory(bench, many)}, "ratios": ratios}


def _lakes(bench: Bench) -> tuple[Path, Path]:
    scale = bench.scale
    rows = scale.many_rows_per_episode
    shapes = {
        "few": _shape(scale, FEW_EPISODES, min(300, rows)),
        "many": _shape(scale, scale.many_rows // rows, rows),
    }
    folders = {name: bench.folder / f"synthetic_{name}" for name in shapes}
    for name, shape in shapes.items():
        bench.say(f"writing {shape.num_episodes} episodes of {shape.rows_per_episode} rows")
        shutil.rmtree(folders[name], ignore_errors=True)
        build(folders[name], shape)
    return folders["few"], folders["many"]


def _shape(scale: Scale, num_episodes: int, rows_per_episode: int) -> Shape:
    return Shape(
        num_episodes=num_episodes,
        rows_per_episode=rows_per_episode,
        width_px=scale.width_px,
        height_px=scale.height_px,
    )


def _open_seconds(worker: Worker) -> float:
    return float(worker.ask("open_seconds")["wall_s"])


def _memory(bench: Bench, lake: Path) -> dict[str, Any]:
    """Return peak resident sizes after random batches, alone and of two workers together."""
    scale = bench.scale
    buffers = (
        (PREFETCH + 2) * scale.batch_size * len(CAMERAS) * scale.height_px * scale.width_px * 3
    )
    peaks = {}
    for num_processes in (1, 2):
        workers = [bench.own_worker() for _ in range(num_processes)]
        sizes = [_peak_bytes(bench, worker, lake, seed) for seed, worker in enumerate(workers)]
        for worker in workers:
            worker.close()
        peaks[num_processes] = sizes
    return {
        "peak_rss_0_workers_mb": _megabytes(peaks[1]),
        "peak_rss_2_workers_mb": _megabytes([sum(peaks[2])]),
        "batch_buffers_mb": _megabytes([buffers]),
        "rss_above_buffers_mb": _megabytes([peaks[1][0] - buffers]),
    }


def _peak_bytes(bench: Bench, worker: Worker, lake: Path, seed: int) -> int:
    rng = np.random.default_rng(seed)
    size = bench.scale.batch_size
    rows = rng.integers(0, bench.scale.many_rows, (MEMORY_BATCHES, size)).tolist()
    worker.ask("open", lake=str(lake), dataset=DATASET)
    worker.ask("measure", scenario="B", batches=rows, prefetch=PREFETCH)
    return int(worker.ask("peak_memory")["peak_bytes"])


def _megabytes(sizes: list[int]) -> dict[str, Any]:
    return figure([size / 1e6 for size in sizes], "MB")
