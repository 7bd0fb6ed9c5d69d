"""Our own store: the landed source ingested by the platform's own steps."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from robot_data_platform import __version__
from robot_data_platform.compute.episodes_map import Fanout
from robot_data_platform.compute.frames import write_frames
from robot_data_platform.compute.gop_video import write_gop_video
from robot_data_platform.compute.ingestion import (
    Workplace,
)
from robot_data_platform.compute.publish import publish_episodes
from robot_data_platform.compute.registration import (
    register_upload,
)
from robot_data_platform.core.run import RunInfo
from robot_data_platform.reader import RobotLanceDataset
from robot_data_platform.storage.lake import Lake
from robot_data_platform.video.settings import GopSettings
from robot_data_platform_tests.benchmarks.scale import CAMERAS
from robot_data_platform_tests.benchmarks.source_files import DATASET, UPLOAD
from robot_data_platform_tests.benchmarks.source_index import (
    SourceIndex,
    fidelity_rows,
    squared_error,
)


def ingest(folder: Path, lake: Path, settings: GopSettings) -> None:
    """Ingest the source that is landed below ``folder`` into a lake of its own."""
    place = Workplace(lake_root=str(lake), landing_root=str(folder / "landing"))
    run = RunInfo(
        run_id="bench", asset="bench", code_version=__version__, created_ns=time.time_ns()
    )
    ingestion = register_upload(place, UPLOAD, settings, run).ingestion
    write_gop_video(ingestion, Fanout(), run)
    write_frames(ingestion, Fanout(), run)
    published = publish_episodes(ingestion, Fanout(), run)
    if published.num_quarantined:
        raise RuntimeError(f"{published.num_quarantined} episodes were quarantined: expected none")


def stored_bytes(lake: Path) -> int:
    """Return the bytes of all coded pictures of the lake."""
    gops = Lake(lake).open(DATASET, "gops")
    sizes = gops.read(["packet_size_bytes"])["packet_size_bytes"].combine_chunks().flatten()
    return int(np.sum(sizes.to_numpy()))


def fidelity(lake: Path, source: SourceIndex) -> dict[str, list[float]]:
    """Return the mean squared error of compared pictures, by camera, in order of rows."""
    rows = RobotLanceDataset(lake, DATASET, columns=[])
    errors: dict[str, list[float]] = {camera: [] for camera in CAMERAS}
    for row in fidelity_rows(len(rows)):
        item = rows[row]
        for camera in CAMERAS:
            shown = item[f"observation.images.{camera}"]
            errors[camera].append(squared_error(shown, source.picture(camera, row)))
    rows.close()
    return errors
