"""An epoch of a dataset in batches, read ahead."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.reader.batch import ReadBatch, read_batch
from robot_data_platform.reader.buffers import Lease
from robot_data_platform.reader.gop_cache import DEFAULT_BYTES, GopCache
from robot_data_platform.reader.items import Item, to_output
from robot_data_platform.reader.prefetch import read_ahead
from robot_data_platform.reader.samplers import Sampler
from robot_data_platform.reader.view import View, ring_buffers

Int64Array = npt.NDArray[np.int64]


def iter_epoch(
    view: View, sampler: Sampler, batch_size: int, prefetch: int, *, drop_last: bool
) -> Iterator[Item]:
    """Yield the batches of an epoch, as `RobotLanceDataset.iter_batches` says."""
    if batch_size < 1 or prefetch < 0:
        raise InvalidInputError(
            f"batch_size={batch_size} with prefetch={prefetch} reads nothing: expected 1 or more "
            "rows, and 0 or more batches ahead.",
            kind=ErrorKind.INVALID_ARGUMENT,
        )
    return _batches(view, sampler, batch_size, prefetch, drop_last=drop_last)


def _batches(
    view: View, sampler: Sampler, batch_size: int, prefetch: int, *, drop_last: bool
) -> Iterator[Item]:
    buffers = ring_buffers(prefetch + 2) if view.spec.zero_copy else view.buffers
    cache = _cache(view, sampler)

    def read(order: tuple[Int64Array, Lease]) -> tuple[int, ReadBatch]:
        item, lease = order
        return len(item), read_batch(view, item, lease, cache)

    orders = ((item, buffers.lease()) for item in _parts(sampler, batch_size, drop_last=drop_last))
    for num_rows, batch in read_ahead(read, orders, prefetch):
        sampler.advance(num_rows)
        if batch.num_items:
            yield to_output(batch.values, view.spec.output)


def _parts(sampler: Sampler, batch_size: int, *, drop_last: bool) -> Iterator[Int64Array]:
    stop = len(sampler) - (len(sampler) - sampler.position) % batch_size * drop_last
    for start in range(sampler.position, stop, batch_size):
        yield sampler.positions(start, min(start + batch_size, stop))


def _cache(view: View, sampler: Sampler) -> GopCache | None:
    if view.spec.gop_cache_bytes is None and sampler.reuses_gops:
        return GopCache(DEFAULT_BYTES, view.form)
    return view.cache
