"""Cameras of one episode that have 100, 98 and 103 frames: each row has the right one of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from robot_data_platform_tests.formats.coded_video import write_video
from robot_data_platform_tests.formats.ingested import DATASET, Ingested, ingest_folder
from robot_data_platform_tests.formats.rawlog_files import (
    START_NS,
    folder_of,
    times,
    write_json,
    write_signal,
)

if TYPE_CHECKING:
    import pyarrow as pa

PERIOD_NS = 33_333_333
NUM_ROWS = 330
LOST = (40, 41)
FRAMES = {
    "first": list(range(100)),
    "second": [n for n in range(100) if n not in LOST],
    "third": list(range(103)),
}
"""Numbers of the pictures that were taken and kept, by camera."""
START = {"first": 0, "second": 4_000_000, "third": -2_000_000}
"""When each camera took its first picture, ns after the first row."""
BASE = {"first": 1000, "second": 2000, "third": 3000}
KEY = "ep_0"


def taken_ns(camera: str) -> list[int]:
    return [START_NS + START[camera] + n * PERIOD_NS for n in FRAMES[camera]]


def nearest(camera: str) -> list[int | None]:
    """Return the number of the picture that was taken nearest to each row, were none lost."""
    rows = np.arange(NUM_ROWS) * 10_000_000 - START[camera]
    numbers = np.clip(np.rint(rows / PERIOD_NS), 0, max(FRAMES[camera])).astype(int)
    return [None if n not in FRAMES[camera] else n for n in numbers.tolist()]


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Ingested:
    root = tmp_path_factory.mktemp("source")
    folder = folder_of(root, KEY)
    write_json(folder / "episode.json", {"task": "fold the towel", "robot": "aloha"})
    for signal in ("observation_state", "action"):
        write_signal(folder, signal, times(NUM_ROWS))
    for camera, numbers in FRAMES.items():
        write_video(folder / "cameras" / f"{camera}.mp4", [BASE[camera] + n for n in numbers])
        clock = {"clock": "host_monotonic_epoch", "timestamp_ns": taken_ns(camera)}
        write_json(folder / "cameras" / f"{camera}.timestamps.json", clock)
    return ingest_folder(root, tmp_path_factory.mktemp("lake"))


def rows_of(ingested: Ingested) -> pa.Table:
    return ingested.place.lake.open(DATASET, "frames").read().sort_by("frame_index")


@pytest.mark.parametrize("camera", list(FRAMES))
def test_cameras_of_different_lengths_are_aligned_by_time(ingested: Ingested, camera: str) -> None:
    (key,) = ingested.shown
    pairs = zip(ingested.codes(key, camera), nearest(camera), strict=True)
    known = [(code, BASE[camera] + n) for code, n in pairs if n is not None]
    assert [code for code, _ in known] == [expected for _, expected in known]


def test_rows_at_lost_frames_show_the_nearest_honest_picture_or_none(ingested: Ingested) -> None:
    column = rows_of(ingested)["observation_images_second_ref_id"]
    missing = [row for row, ref in enumerate(column.to_pylist()) if ref is None]
    assert missing == [row for row, number in enumerate(nearest("second")) if number is None]
    assert len(missing) == pytest.approx(2 * PERIOD_NS / 10_000_000, abs=1)
    for camera in ("first", "third"):
        assert rows_of(ingested)[f"observation_images_{camera}_ref_id"].null_count == 0


@pytest.mark.parametrize("camera", list(FRAMES))
def test_offsets_are_from_each_row_to_its_picture(ingested: Ingested, camera: str) -> None:
    offsets = rows_of(ingested)[f"observation_images_{camera}_offset_ns"].to_pylist()
    expected = [
        None if n is None else START[camera] + n * PERIOD_NS - row * 10_000_000
        for row, n in enumerate(nearest(camera))
    ]
    assert offsets == expected


def test_the_hole_is_told(ingested: Ingested) -> None:
    (finding,) = ingested.findings("camera_covers_rows")
    missing = [row for row, number in enumerate(nearest("second")) if number is None]
    assert finding["where"] == f"camera=second rows {missing[0]}..{missing[-1]}"
    assert finding["severity"] == "info"
