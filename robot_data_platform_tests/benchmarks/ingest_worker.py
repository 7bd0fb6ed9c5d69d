"""Ingests an upload step by step in a process of its own, and says how long each step took."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable

from robot_data_platform import __version__
from robot_data_platform.compute.episodes_map import Fanout
from robot_data_platform.compute.frames import write_frames
from robot_data_platform.compute.gop_video import write_gop_video
from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.compute.publish import publish_episodes
from robot_data_platform.compute.quality import write_quality
from robot_data_platform.compute.registration import register_upload
from robot_data_platform.core.run import RunInfo
from robot_data_platform.video.settings import GopSettings
from robot_data_platform_tests.benchmarks.protocol import Reply, peak_bytes, serve


def ingest(lake: str, landing: str, upload: str, workers: int, profile: str) -> Reply:
    """Ingest an upload into an empty lake; return the seconds of each step, and what came of it."""
    place = Workplace(lake_root=lake, landing_root=landing)
    run = RunInfo(
        run_id="bench", asset="bench", code_version=__version__, created_ns=time.time_ns()
    )
    fanout = Fanout(num_workers=workers)
    settings = GopSettings(profile=profile)  # type: ignore[arg-type]
    seconds: dict[str, float] = {}

    def timed(name: str, step: Callable[[], object]) -> None:
        start = time.perf_counter()
        step()
        seconds[name] = time.perf_counter() - start

    start = time.perf_counter()
    ingestion = register_upload(place, upload, settings, run).ingestion
    seconds["register"] = time.perf_counter() - start
    timed("gop_video", lambda: write_gop_video(ingestion, fanout, run))
    timed("frames", lambda: write_frames(ingestion, fanout, run))
    timed("episodes", lambda: publish_episodes(ingestion, fanout, run))
    timed("quality", lambda: write_quality(ingestion, fanout, run))
    return {"seconds": seconds, **_counts(place, ingestion.dataset), "peak_bytes": _peak_bytes()}


def _counts(place: Workplace, dataset: str) -> dict[str, int]:
    pictures = place.lake.open(dataset, "gops").read(["num_frames"])["num_frames"]
    rows = place.lake.open(dataset, "frames").count_rows()
    return {"pictures": sum(pictures.to_pylist()), "rows": rows}


def _peak_bytes() -> int:
    """Return the largest resident size of any process that worked: this one or a worker."""
    # A child's figure counts this process where that is larger, which changes no maximum.
    return max(peak_bytes(), 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)


if __name__ == "__main__":
    serve({ingest.__name__: ingest})
