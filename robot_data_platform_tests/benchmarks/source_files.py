"""Writes the source: one HDF5 file an episode, raw RGB pictures of every camera and signals."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import h5py
import numpy as np

from robot_data_platform.storage.landing import Landing
from robot_data_platform_tests.benchmarks.clips import Pictures, clip_sources, load_clip, play
from robot_data_platform_tests.benchmarks.scale import CAMERAS, FPS, STATE_WIDTH, Scale
from robot_data_platform_tests.benchmarks.source_index import (
    INDEX_FILE,
    SIGNALS_FILE,
    SourceIndex,
)

DATASET = "bench"
UPLOAD = "20260101t000000z-bench-0000"
PROFILE = f"control_hz: {FPS}\npicture_channel_order: rgb\ntask: benchmark\n"
LONGEST_CLIP = 1_000
"""Pictures kept in memory while a camera is written: 0.9 GB at 640x480."""


def land_source(folder: Path, scale: Scale) -> SourceIndex:
    """Write the source and land it as an upload below ``folder``; return where its pictures are."""
    draft = folder / "draft"
    draft.mkdir(parents=True)
    names = [f"episode_{number}.hdf5" for number in range(scale.num_episodes)]
    signals = _signals(scale)
    np.save(folder / SIGNALS_FILE, signals)
    for number, name in enumerate(names):
        own = slice(number * scale.rows_per_episode, (number + 1) * scale.rows_per_episode)
        _write_signals(draft / name, signals[own])
    offsets = {camera: _write_camera(draft, names, camera, scale) for camera in CAMERAS}
    Landing(folder / "landing").put(draft, DATASET, UPLOAD, profile=PROFILE)
    shutil.rmtree(draft)
    shape = (scale.rows_per_episode, *scale.size_px, 3)
    index = {"files": names, "offset_by_camera": offsets, "shape": shape}
    (folder / INDEX_FILE).write_text(json.dumps(index))
    return source_index(folder)


def source_index(folder: Path) -> SourceIndex:
    """Return where the pictures of a landed source are."""
    return SourceIndex.load(folder / "landing" / DATASET / UPLOAD, folder / INDEX_FILE)


def _signals(scale: Scale) -> np.ndarray:
    phase = np.arange(2 * STATE_WIDTH)
    return np.sin(np.arange(scale.num_rows)[:, None] / 20 + phase).astype(np.float32)


def _write_signals(path: Path, signals: np.ndarray) -> None:
    with h5py.File(path, "w") as file:
        file["observations/qpos"] = signals[:, :STATE_WIDTH]
        file["action"] = signals[:, STATE_WIDTH:]


def _write_camera(folder: Path, names: list[str], camera: str, scale: Scale) -> list[int]:
    source = clip_sources()[camera]
    clip = load_clip(source, scale.size_px, min(LONGEST_CLIP, scale.num_rows))
    return [
        _write_pictures(folder / name, camera, clip, number, scale)
        for number, name in enumerate(names)
    ]


def _write_pictures(path: Path, camera: str, clip: Pictures, number: int, scale: Scale) -> int:
    """Write an episode's pictures of a camera; return where in the file they start."""
    count = scale.rows_per_episode
    with h5py.File(path, "a") as file:
        dataset = file.create_dataset(
            f"observations/images/{camera}", (count, *scale.size_px, 3), np.uint8
        )
        for step, picture in enumerate(play(clip, number * count, count)):
            dataset[step] = picture
        return int(dataset.id.get_offset())
