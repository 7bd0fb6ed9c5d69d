"""Part I: how fast recordings become rows, how much memory that takes, and how a peer does it."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from robot_data_platform.storage.landing import Landing
from robot_data_platform_tests.benchmarks.figures import Figure, figure, ratio, take_turns
from robot_data_platform_tests.benchmarks.source_files import UPLOAD
from robot_data_platform_tests.benchmarks.stores import Bench, Stores
from robot_data_platform_tests.benchmarks.worker import Worker

PUBLISHING = ("register", "gop_video", "frames", "episodes")
"""Steps from an upload to rows that a reader sees; the checks come after them."""
CONTROL_HZ = 100
STEP_NS = 1_000_000_000 // CONTROL_HZ
NUM_JOINTS = 14
NUM_ROUNDS = 3


def measure(bench: Bench, stores: Stores) -> dict[str, Any]:
    """Ingest by copying, by encoding, and without video; and convert as a peer does."""
    landing = bench.folder / "ingest_landing"
    shutil.rmtree(landing, ignore_errors=True)
    figures = _without_video(bench, landing) | _raw_pictures(bench, stores)
    ratios: dict[str, Figure] = {}
    if bench.peers_python is not None:
        for codec in ("av1", "h264"):
            Landing(landing).put(stores.peer_root("lerobot", codec), codec, f"{UPLOAD}-{codec}")
        figures |= _encoded(bench, landing)
        figures |= _beside_peer(bench, stores, landing, ratios)
    return {"figures": figures | ratios, "ratios": {}}


def _without_video(bench: Bench, landing: Path) -> dict[str, Figure]:
    bench.say("ingesting rows without video")
    draft = bench.folder / "ingest_draft"
    shutil.rmtree(draft, ignore_errors=True)
    for number in range(4):
        _write_signals(draft / "episodes" / f"episode_{number}", bench.scale.ingest_rows // 4)
    upload = f"{UPLOAD}-rows"
    Landing(landing).put(draft, "rows", upload)
    shutil.rmtree(draft)
    replies = [_ingest(bench, landing, upload, workers=2) for _ in range(NUM_ROUNDS)]
    rates = [reply["rows"] / _seconds(reply) for reply in replies]
    return {"I_rows_per_s": figure(rates, "rows/s")}


def _write_signals(folder: Path, num_rows: int) -> None:
    (folder / "signals").mkdir(parents=True)
    (folder / "episode.json").write_text('{"task": "benchmark", "robot": "arm"}')
    time_ns = 1_700_000_000_000_000_000 + np.arange(num_rows, dtype=np.int64) * STEP_NS
    phase = np.arange(num_rows)[:, None] / 50 + np.arange(NUM_JOINTS)
    for name in ("observation_state", "action"):
        columns = {f"joint_{n}": column for n, column in enumerate(np.sin(phase).T)}
        table = pa.table({"timestamp_ns": time_ns, **columns})
        pq.write_table(table, folder / "signals" / f"{name}.parquet")


def _raw_pictures(bench: Bench, stores: Stores) -> dict[str, Figure]:
    """Ingest the source itself: files of hundreds of megabytes of raw pictures."""
    bench.say("ingesting raw pictures, for the memory")
    landing = stores.source.folder.parents[1]
    reply = _ingest(bench, landing, UPLOAD, workers=1)
    return {
        "I_peak_rss_mb": figure([reply["peak_bytes"] / 1e6], "MB"),
        "I_file_mb": figure([max(f.stat().st_size for f in _files(stores)) / 1e6], "MB"),
    }


def _files(stores: Stores) -> list[Path]:
    return [stores.source.folder / name for name in stores.source.files]


def _encoded(bench: Bench, landing: Path) -> dict[str, Figure]:
    """Re-encode H.264, checks included, with one worker and with two."""
    settings = {
        workers: _measured(bench, landing, f"{UPLOAD}-h264", workers, "anchored")
        for workers in (1, 2)
    }
    seconds: dict[int, list[float]] = {1: [], 2: []}
    pictures: list[int] = []
    for _ in range(NUM_ROUNDS):
        for workers, run in settings.items():
            bench.say(f"re-encoding with {workers} workers")
            reply = run()
            pictures.append(reply["pictures"])
            seconds[workers].append(sum(reply["seconds"].values()))
    rates = [pictures[0] / value for value in seconds[1]]
    return {
        "I_transcode_fps": figure(rates, "frames/s"),
        "I_transcode_2_over_1": ratio(seconds[1], seconds[2]),
    }


def _beside_peer(
    bench: Bench, stores: Stores, landing: Path, ratios: dict[str, Figure]
) -> dict[str, Figure]:
    """Copy LeRobot's default store, and let lerobot-lancedb's converter read the same."""
    replies: dict[str, list[dict[str, Any]]] = {"1": [], "2": []}

    def ours(workers: int) -> Callable[[int], float]:
        def run(number: int) -> float:
            bench.say(f"copying with {workers} workers")
            reply = _ingest(bench, landing, f"{UPLOAD}-av1", workers=workers)
            replies[str(workers)].append(reply)
            return float(reply["whole_s"] - reply["seconds"]["quality"])

        return run

    def peer(number: int) -> float:
        bench.say("converting with lerobot-lancedb")
        out = bench.folder / "ingest_peer"
        shutil.rmtree(out, ignore_errors=True)
        start = time.perf_counter()
        with bench.peer_worker() as worker:
            worker.ask("convert", root=str(stores.peer_root("lerobot", "av1")), out=str(out))
            return time.perf_counter() - start

    measures = {"1": ours(1), "2": ours(2), "peer": peer}
    seconds = take_turns(NUM_ROUNDS, measures)
    rates = [r["pictures"] / _seconds(r) for r in replies["1"]]
    ratios["I_vs_lance_convert"] = ratio(seconds["peer"], seconds["2"])
    return {
        "I_copy_fps": figure(rates, "frames/s"),
        "I_copy_s": figure(seconds["2"], "s"),
        "I_lance_convert_s": figure(seconds["peer"], "s"),
    }


def _measured(
    bench: Bench, landing: Path, upload: str, workers: int, profile: str
) -> Callable[[], dict[str, Any]]:
    return lambda: _ingest(bench, landing, upload, workers=workers, profile=profile)


def _ingest(
    bench: Bench, landing: Path, upload: str, *, workers: int, profile: str = "auto"
) -> dict[str, Any]:
    lake = bench.folder / "ingest_lake"
    shutil.rmtree(lake, ignore_errors=True)
    log = bench.folder / "logs" / "ingest.log"
    start = time.perf_counter()
    with Worker(sys.executable, "ingest_worker", log) as worker:
        reply = worker.ask(
            "ingest",
            lake=str(lake),
            landing=str(landing),
            upload=upload,
            workers=workers,
            profile=profile,
        )
        reply["whole_s"] = time.perf_counter() - start
    shutil.rmtree(lake)
    return reply


def _seconds(reply: dict[str, Any]) -> float:
    return float(sum(reply["seconds"][step] for step in PUBLISHING))
