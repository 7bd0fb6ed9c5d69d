"""Measures a peer; run by the peers' own Python.

Every reader returns uint8 RGB pictures of all cameras, (3, H, W), stacked in a batch by torch's
own collate function, as a training loop gets them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from robot_data_platform_tests.benchmarks.protocol import Reply, Stopwatch, serve
from robot_data_platform_tests.benchmarks.scale import CAMERAS, FPS, STATE_WIDTH, WINDOW_S
from robot_data_platform_tests.benchmarks.source_index import (
    SIGNALS_FILE,
    SourceIndex,
    fidelity_rows,
    squared_error,
)

REPO_ID = "benchmark/robot"
KEYS = tuple(f"observation.images.{camera}" for camera in CAMERAS)


def write(folder: str, index_file: str, out: str, codec: str, crf: int) -> Reply:
    """Write the source as a LeRobot v3 dataset, through LeRobot's recorder."""
    from lerobot.configs import RGBEncoderConfig  # type: ignore[import-not-found]
    from lerobot.datasets import LeRobotDataset  # type: ignore[import-not-found]

    source = SourceIndex.load(Path(folder), Path(index_file))
    preset: dict[str, Any] = {"preset": "veryfast"} if codec == "h264" else {}
    dataset = LeRobotDataset.create(
        REPO_ID,
        fps=FPS,
        root=out,
        features=_features(source),
        rgb_encoder=RGBEncoderConfig(vcodec=codec, g=2, crf=crf, **preset),
        streaming_encoding=True,
        # A full queue drops pictures without an error.
        encoder_queue_maxsize=100_000,
    )
    signals = np.load(Path(index_file).parent / SIGNALS_FILE)
    for row in range(len(signals)):
        dataset.add_frame(_frame(source, signals[row], row))
        if (row + 1) % source.rows_per_episode == 0:
            dataset.save_episode()
    dataset.finalize()
    return {}


def _features(source: SourceIndex) -> dict[str, Any]:
    names = ["height", "width", "channels"]
    vector = {"dtype": "float32", "shape": (STATE_WIDTH,), "names": None}
    picture = {"dtype": "video", "shape": tuple(source.shape[1:]), "names": names}
    signals = {"observation.state": dict(vector), "action": dict(vector)}
    return signals | {key: dict(picture) for key in KEYS}


def _frame(source: SourceIndex, signals: np.ndarray, row: int) -> dict[str, Any]:
    pictures = {f"observation.images.{c}": np.array(source.picture(c, row)) for c in CAMERAS}
    state, action = signals[:STATE_WIDTH], signals[STATE_WIDTH:]
    return {"observation.state": state, "action": action, "task": "benchmark", **pictures}


def convert(root: str, out: str) -> Reply:
    """Convert a LeRobot v3 dataset with lerobot-lancedb's own converter."""
    from lerobot_lancedb.convert import convert as convert_to_lance  # type: ignore[import-not-found]

    convert_to_lance(Path(out), root=Path(root))
    return {}


class Reader:
    """One peer with one dataset and one video backend; loaders are kept between rounds."""

    def open(self, peer: str, root: str, backend: str) -> Reply:
        """Say what to read; it is opened when first needed."""

        def make(windowed: bool) -> Any:  # noqa: ANN401
            return _dataset(peer, root, backend, windowed=windowed)

        self._make: Callable[[bool], Any] = make
        self._open: Callable[[bool], Any] = lru_cache(make)
        self._loader = lru_cache(self._new_loader)
        return {}

    def measure(self, scenario: str, batches: list[list[int]], workers: int) -> Reply:
        """Read batches of rows and return the seconds of one batch."""
        loader, order = self._loader(workers)
        order.batches = [[(scenario == "C", row) for row in batch] for batch in batches]
        num_pictures = 0
        with Stopwatch() as watch:
            for item in loader:
                num_pictures += _count(item)
        reply = watch.per(len(batches))
        return {**reply, "pictures": num_pictures}

    def describe(self) -> Reply:
        """Return shape and type of one sample's pictures."""
        item = self._open(False)[0]
        return {key: [list(item[key].shape), str(item[key].dtype)] for key in KEYS}

    def fidelity(self, folder: str, index_file: str) -> Reply:
        """Return the mean squared error of compared pictures, by camera, in order of rows."""
        source = SourceIndex.load(Path(folder), Path(index_file))
        errors: dict[str, list[float]] = {camera: [] for camera in CAMERAS}
        dataset = self._open(False)
        for row in fidelity_rows(len(dataset)):
            item = dataset[row]
            for camera, key in zip(CAMERAS, KEYS, strict=True):
                shown = item[key].permute(1, 2, 0).numpy()
                errors[camera].append(squared_error(shown, source.picture(camera, row)))
        return {"errors": errors}

    def open_seconds(self) -> Reply:
        """Open the dataset anew and return how long that takes, and what it holds."""
        start = time.perf_counter()
        rows = len(self._make(False))
        return {"wall_s": time.perf_counter() - start, "rows": rows}

    def _new_loader(self, workers: int) -> tuple[Any, _Order]:
        from torch.utils.data import DataLoader

        order = _Order()
        loader = DataLoader(
            _Both(self._open(False), self._open(True)),
            batch_sampler=order,
            num_workers=workers,
            collate_fn=_collate,
            multiprocessing_context="spawn" if workers else None,
            persistent_workers=workers > 0,
        )
        return loader, order


_Place = tuple[bool, int]
"""Whether a sample has windows, and its row."""


class _Both:
    """A dataset without and with windows as one, so that one pair of workers serves both.

    A batch is fetched as torch does it: in one call where the dataset has one.
    """

    def __init__(self, plain: Any, windowed: Any) -> None:  # noqa: ANN401
        self._datasets = (plain, windowed)

    def __getitems__(self, places: list[_Place]) -> Any:  # noqa: ANN401
        dataset, rows = self._datasets[places[0][0]], [row for _, row in places]
        if hasattr(dataset, "__getitems__"):
            return dataset.__getitems__(rows)
        return [dataset[row] for row in rows]


class _Order:
    """A batch sampler whose batches are set anew each round."""

    def __init__(self) -> None:
        self.batches: Sequence[list[_Place]] = ()

    def __iter__(self) -> Iterator[list[_Place]]:
        return iter(self.batches)

    def __len__(self) -> int:
        return len(self.batches)


def _collate(items: list[Any]) -> Any:  # noqa: ANN401 (what the peer makes of a sample)
    """Stack items; a single sample stays what the dataset returned, without a copy."""
    from torch.utils.data import default_collate

    return items[0] if len(items) == 1 else default_collate(items)


def _count(item: Any) -> int:  # noqa: ANN401
    """Return the pictures in a sample or batch, and prove that they are uint8."""
    assert all(str(item[key].dtype) == "torch.uint8" for key in KEYS)
    return sum(int(np.prod(item[key].shape[:-3])) for key in KEYS)


def _dataset(peer: str, root: str, backend: str, *, windowed: bool) -> Any:  # noqa: ANN401
    windows = {key: list(WINDOW_S) for key in KEYS} if windowed else None
    options: dict[str, Any] = {"root": root, "return_uint8": True, "delta_timestamps": windows}
    if peer == "lerobot_lancedb":
        from lerobot_lancedb import LanceDBDataset  # type: ignore[import-not-found]

        return LanceDBDataset(**options)
    from lerobot.datasets import LeRobotDataset

    return LeRobotDataset(REPO_ID, video_backend=backend, **options)


def daft_steps(root: str, episode: int, steps: int) -> Reply:
    """Read the first rows of an episode as Daft's dataframe with decoded pictures."""
    from daft.datasets import lerobot  # type: ignore[import-not-found]

    with Stopwatch() as watch:
        frames = lerobot.read(root, load_video_frames=True)
        frames = frames.where(frames["episode_index"] == episode).limit(steps)
        pictures = frames.select(*KEYS).to_pydict()
    assert all(len(pictures[key]) == steps for key in KEYS)
    return watch.per(steps)


def main() -> None:
    reader = Reader()
    handlers = (
        *(write, convert, daft_steps),
        *(reader.open, reader.measure, reader.describe, reader.open_seconds, reader.fidelity),
    )
    serve({handler.__name__: handler for handler in handlers})


if __name__ == "__main__":
    main()
