"""Scenario E and memory: large tables of rows whose pictures cost almost nothing."""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from robot_data_platform_tests.benchmarks.figures import figure, take_turns
from robot_data_platform_tests.benchmarks.import_time import import_seconds
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
    """Return peak resident sizes after random reads of the large table.

    What a reader holds besides the buffers of its batches shows where a batch is one sample.
    """
    size = bench.scale.batch_size
    peaks = {
        "rss_above_buffers_mb": _peak_bytes(bench, lake, num_processes=1, batch_size=1),
        "peak_rss_0_workers_mb": _peak_bytes(bench, lake, num_processes=1, batch_size=size),
        "peak_rss_2_workers_mb": _peak_bytes(bench, lake, num_processes=2, batch_size=size),
    }
    picture_bytes = bench.scale.height_px * bench.scale.width_px * 3
    figures = {"batch_mb": size * len(CAMERAS) * picture_bytes, **peaks}
    return {name: figure([num_bytes / 1e6], "MB") for name, num_bytes in figures.items()}


def _peak_bytes(bench: Bench, lake: Path, *, num_processes: int, batch_size: int) -> int:
    """Return the peaks, in sum, of processes that have read random batches."""
    with ExitStack() as stack:
        workers = [stack.enter_context(bench.own_worker()) for _ in range(num_processes)]
        for seed, worker in enumerate(workers):
            rows = np.random.default_rng(seed).integers(
                0, bench.scale.many_rows, (MEMORY_BATCHES, batch_size)
            )
            worker.ask("open", lake=str(lake), dataset=DATASET)
            worker.ask("measure", scenario="B", batches=rows.tolist(), prefetch=0)
        return sum(int(worker.ask("peak_memory")["peak_bytes"]) for worker in workers)
