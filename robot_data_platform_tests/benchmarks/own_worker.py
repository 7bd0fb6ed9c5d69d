"""Measures our reader, and its floor, in a process of its own.

Pictures are uint8 RGB, (3, H, W), as the peers return them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from robot_data_platform.reader import RobotLanceDataset
from robot_data_platform.reader.items import Item
from robot_data_platform.reader.samplers import GopBlockSampler, Sampler, ShuffleSampler
from robot_data_platform_tests.benchmarks.floor import Floor
from robot_data_platform_tests.benchmarks.protocol import Reply, Stopwatch, peak_bytes, serve
from robot_data_platform_tests.benchmarks.scale import CAMERAS, WINDOW_S

KEYS = tuple(f"observation.images.{camera}" for camera in CAMERAS)


class GivenOrder(Sampler):
    """Reads stated rows in a stated order, in the way of random or of sequential access."""

    def __init__(self, rows: npt.NDArray[np.int64], *, is_sequential: bool) -> None:
        self._rows = rows
        self.reuses_gops = is_sequential
        super().__init__(len(rows), seed=0, rank=0, world_size=1, even_ranks=False)

    def order(self, place: npt.NDArray[np.int64], epoch: int) -> npt.NDArray[np.int64]:
        """Return the rows at some places."""
        return self._rows[place]


class Reader:
    """Our reader on one lake; what it opened is kept between rounds."""

    def open(self, lake: str, dataset: str) -> Reply:
        """Say what to read; it is opened when first needed."""
        self._place = (lake, dataset)
        self._dataset: Callable[[bool], RobotLanceDataset] = lru_cache(self._new_dataset)
        self._floor = lru_cache(lambda: Floor(lake, dataset))
        return {}

    def measure(self, scenario: str, batches: list[list[int]], prefetch: int = 0) -> Reply:
        """Read batches of rows and return the seconds of one batch."""
        dataset = self._dataset(scenario == "C")
        num_pictures = 0
        with Stopwatch() as watch:
            for item in _items(dataset, scenario, batches, prefetch):
                num_pictures += _count(item)
        return {**watch.per(len(batches)), "pictures": num_pictures}

    def describe(self) -> Reply:
        """Return shape and type of one sample's pictures."""
        item = self._dataset(False)[0]
        return {key: [list(item[key].shape), str(item[key].dtype)] for key in KEYS}

    def open_seconds(self) -> Reply:
        """Open the dataset anew and return how long that takes, and what it holds."""
        start = time.perf_counter()
        rows = len(self._new_dataset(False))
        return {"wall_s": time.perf_counter() - start, "rows": rows}

    def floor(self, batches: list[list[int]]) -> Reply:
        """Decode and convert what random batches need, and nothing else."""
        floor = self._floor()
        work = floor.prepare(batches)
        with Stopwatch() as watch:
            num_pictures = floor.run(work)
        return {**watch.per(len(batches)), "pictures": num_pictures}

    def shuffle(self, order: str, epoch: int, rows: int, batch_size: int, prefetch: int) -> Reply:
        """Read rows of an epoch in one of our orders, as training does."""
        dataset = self._dataset(False)
        sampler = (GopBlockSampler if order == "block" else ShuffleSampler)(dataset)
        sampler.set_epoch(epoch)
        num_pictures = 0
        with Stopwatch() as watch:
            for batch in dataset.iter_batches(batch_size, sampler, prefetch):
                num_pictures += _count(batch)
                if num_pictures >= rows * len(KEYS):
                    break
        return {**watch.per(num_pictures), "pictures": num_pictures}

    def peak_memory(self) -> Reply:
        """Return the largest resident size that this process had so far."""
        return {"peak_bytes": peak_bytes()}

    def _new_dataset(self, windowed: bool) -> RobotLanceDataset:
        lake, dataset = self._place
        return RobotLanceDataset(
            lake,
            dataset,
            delta_timestamps=dict.fromkeys(KEYS, WINDOW_S) if windowed else None,
            channels_first=True,
        )


def _items(
    dataset: RobotLanceDataset, scenario: str, batches: list[list[int]], prefetch: int
) -> Iterator[Item]:
    """Yield the batches; samples without reading ahead are asked for one by one."""
    if scenario in "AC" and not prefetch:
        yield from (dataset[row] for (row,) in batches)
        return
    order = GivenOrder(np.concatenate(batches).astype(np.int64), is_sequential=scenario == "D")
    yield from dataset.iter_batches(len(batches[0]), order, prefetch)


def _count(item: Item) -> int:
    """Return the pictures in a sample or batch, and prove that they are uint8."""
    assert all(item[key].dtype == np.uint8 for key in KEYS)
    return sum(int(np.prod(item[key].shape[:-3])) for key in KEYS)


def main() -> None:
    reader = Reader()
    handlers = (
        *(reader.open, reader.measure, reader.describe, reader.open_seconds, reader.floor),
        *(reader.shuffle, reader.peak_memory),
    )
    serve({handler.__name__: handler for handler in handlers})


if __name__ == "__main__":
    main()
