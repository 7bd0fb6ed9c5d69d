"""Orders in which training reads: functions of seed, epoch, rank and world size, resumable.

A sampler yields positions in a dataset, so a torch ``DataLoader`` takes it as its ``sampler``, and
`RobotLanceDataset.iter_batches` as its order. It holds no order in memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.sampling import BlockOrder, WeightedOrder, permuted, rank_part
from robot_data_platform.errors import ErrorKind, InvalidInputError

if TYPE_CHECKING:
    from robot_data_platform.reader.dataset import RobotLanceDataset

Int64Array = npt.NDArray[np.int64]

STRIDE = 4096
"""Positions that are computed at a time while iterating."""

DEFAULT_OPEN_BLOCKS = 16
"""Blocks whose rows are mixed: with GOPs of 8, a batch of 32 has two rows of each."""


class SamplerState(TypedDict):
    """Where an order was left: plain numbers, for a checkpoint."""

    seed: int
    epoch: int
    position: int
    """Rows of this rank that were taken in this epoch."""
    rank: int
    world_size: int
    num_rows: int
    """Rows of this rank in an epoch; a state fits only data of the same size."""


class Sampler(ABC):
    """One rank's part of an order, epoch after epoch.

    The ranks' parts follow each other in the order, are disjoint, and cover it; they differ by one
    row at most, or are equal with ``even_ranks``, which leaves out up to ``world_size - 1`` rows of
    each epoch, as collective training needs it.
    """

    reuses_gops = False
    """Whether neighbouring batches share GOPs, so that decoded ones are worth keeping."""

    def __init__(
        self, size: int, *, seed: int, rank: int, world_size: int, even_ranks: bool
    ) -> None:
        self._seed, self._epoch, self._position = seed, 0, 0
        self._rank, self._world_size = rank, world_size
        self._start, self._stop = rank_part(size, rank, world_size, is_even=even_ranks)

    @abstractmethod
    def order(self, place: Int64Array, epoch: int) -> Int64Array:
        """Return the position at some rising places of an epoch's order over all ranks."""

    def __len__(self) -> int:
        return self._stop - self._start

    def __iter__(self) -> Iterator[int]:
        """Yield the epoch's positions from where `load_state_dict` put it, then turn the epoch."""
        epoch = self._epoch
        for start in range(self._position, len(self), STRIDE):
            yield from self.positions(start, start + STRIDE).tolist()
        if self._epoch == epoch:
            self.set_epoch(epoch + 1)

    @property
    def epoch(self) -> int:
        """The epoch that is read next, or is being read."""
        return self._epoch

    @property
    def position(self) -> int:
        """Rows of this rank that were taken in this epoch, as far as the sampler was told."""
        return self._position

    def positions(self, start: int, stop: int) -> Int64Array:
        """Return the positions that this rank reads from its ``start``-th row to ``stop``."""
        place = np.arange(self._start + start, min(self._start + stop, self._stop))
        return self.order(place, self._epoch)

    def set_epoch(self, epoch: int) -> None:
        """Start an epoch; the one that is being read goes on."""
        if epoch != self._epoch:
            self._epoch, self._position = epoch, 0

    def advance(self, num_rows: int) -> None:
        """Count rows as taken; at the epoch's end the next begins."""
        self._position += num_rows
        if self._position >= len(self):
            self.set_epoch(self._epoch + 1)

    def state_dict(self, num_taken: int | None = None) -> SamplerState:
        """Return where the order is.

        Parameters
        ----------
        num_taken : int, optional
            Rows of this rank that training took in this epoch. A ``DataLoader`` reads ahead, so
            only the training loop knows; `RobotLanceDataset.iter_batches` counts by itself.
        """
        return SamplerState(
            seed=self._seed,
            epoch=self._epoch,
            position=self._position if num_taken is None else num_taken,
            rank=self._rank,
            world_size=self._world_size,
            num_rows=len(self),
        )

    def load_state_dict(self, state: SamplerState) -> None:
        """Go on where a state was taken.

        Raises
        ------
        InvalidInputError
            ``invalid-argument``: the state is of another order, so it would repeat and lose rows.
        """
        own = self.state_dict()
        for name in ("seed", "rank", "world_size", "num_rows"):
            if state[name] != own[name]:
                raise _invalid(
                    f"Sampler state has {name}={state[name]}: expected {own[name]}, that of this "
                    "sampler. Make it with the same arguments and data as the one that was saved."
                )
        self._epoch, self._position = state["epoch"], state["position"]


class SequentialSampler(Sampler):
    """Every row in the order of the dataset; each rank a contiguous part."""

    reuses_gops = True

    def __init__(
        self,
        dataset: RobotLanceDataset,
        *,
        rank: int = 0,
        world_size: int = 1,
        even_ranks: bool = False,
    ) -> None:
        size = len(dataset)
        super().__init__(size, seed=0, rank=rank, world_size=world_size, even_ranks=even_ranks)

    def order(self, place: Int64Array, epoch: int) -> Int64Array:
        """Return the places themselves."""
        return place


class ShuffleSampler(Sampler):
    """An exact global shuffle: every row once an epoch, all orders of rows alike, in O(1) memory.

    Parameters
    ----------
    dataset : RobotLanceDataset or sequence of them
        What is read; several, as ``torch.utils.data.ConcatDataset`` puts them together.
    seed : int
        Chooses the orders.
    rank, world_size : int
        Which of how many processes this is.
    even_ranks : bool
        As `Sampler` says.
    weights : mapping of str to float, or sequence of float, optional
        How often a row occurs in an epoch: by ``episode_id`` (1 where not named), or one number for
        each dataset. 0 leaves out, 0.5 takes half of the rows, another half each epoch, 2 takes
        each twice.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: a weight is negative or not finite, names no episode, or nothing is
        left.
    """

    def __init__(
        self,
        dataset: RobotLanceDataset | Sequence[RobotLanceDataset],
        *,
        seed: int = 0,
        rank: int = 0,
        world_size: int = 1,
        even_ranks: bool = False,
        weights: Mapping[str, float] | Sequence[float] | None = None,
    ) -> None:
        datasets = list(dataset) if isinstance(dataset, Sequence) else [dataset]
        self._size = sum(map(len, datasets))
        self._weighted = None if weights is None else _weighted(datasets, weights)
        size = self._size if self._weighted is None else self._weighted.num_samples
        super().__init__(size, seed=seed, rank=rank, world_size=world_size, even_ranks=even_ranks)

    def order(self, place: Int64Array, epoch: int) -> Int64Array:
        """Return the position at some places of an epoch's order."""
        if self._weighted is not None:
            return self._weighted.rows(place, self._seed, epoch)
        return permuted(place, self._size, self._seed, epoch)


class GopBlockSampler(Sampler):
    """A shuffle that decodes each GOP about once: a few blocks of rows are open at a time.

    Episodes are cut in blocks of the rows that share a GOP. The blocks are shuffled and taken
    ``num_open_blocks`` at a time, whose rows are mixed. Every row occurs once an epoch. Batches are
    less mixed than with `ShuffleSampler`: rows of ``num_open_blocks`` places of the dataset.

    Decoded pictures of the open blocks are kept while they are read: ``num_open_blocks`` x
    ``block_rows`` pictures of each camera at 1.5 bytes a pixel, 180 MB with the defaults, GOPs of
    16 and three cameras of 640x480; with a smaller ``image_size``, at 3 bytes a pixel of that.

    Parameters
    ----------
    dataset : RobotLanceDataset
        What is read.
    seed, rank, world_size, even_ranks
        As `ShuffleSampler`.
    num_open_blocks : int
        Blocks whose rows are mixed.
    block_rows : int, optional
        Rows of a block; None = the most rows that share a GOP in the first episode.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: a number is below 1.
    """

    reuses_gops = True

    def __init__(
        self,
        dataset: RobotLanceDataset,
        *,
        seed: int = 0,
        rank: int = 0,
        world_size: int = 1,
        even_ranks: bool = False,
        num_open_blocks: int = DEFAULT_OPEN_BLOCKS,
        block_rows: int | None = None,
    ) -> None:
        block_rows = dataset.rows_per_gop() if block_rows is None else block_rows
        if num_open_blocks < 1 or block_rows < 1:
            raise _invalid(
                f"num_open_blocks={num_open_blocks} and block_rows={block_rows} read nothing: "
                "expected 1 or more of each."
            )
        self._blocks = BlockOrder(dataset.episode_starts, block_rows, num_open_blocks)
        size = len(dataset)
        super().__init__(size, seed=seed, rank=rank, world_size=world_size, even_ranks=even_ranks)

    def order(self, place: Int64Array, epoch: int) -> Int64Array:
        """Return the position at some places of an epoch's order."""
        return self._blocks.rows(place, self._seed, epoch)


def _weighted(
    datasets: Sequence[RobotLanceDataset], weights: Mapping[str, float] | Sequence[float]
) -> WeightedOrder:
    sizes = np.cumsum([0, *map(len, datasets)])
    parts = [d.episode_starts[1:] + at for d, at in zip(datasets, sizes, strict=False)]
    start = np.concatenate([[0], *parts]).astype(np.int64)
    weight = np.array(_weight_of_episodes(datasets, weights), dtype=np.float64)
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise _invalid(f"weights={weights} can't be used: expected finite numbers of 0 or more.")
    num_samples = round(float(np.sum(np.diff(start) * weight)))
    if not num_samples:
        raise _invalid(f"weights={weights} leave no row: expected one above 0.")
    return WeightedOrder(start, weight, num_samples)


def _weight_of_episodes(
    datasets: Sequence[RobotLanceDataset], weights: Mapping[str, float] | Sequence[float]
) -> list[float]:
    ids = [dataset.episode_ids for dataset in datasets]
    if isinstance(weights, Mapping):
        known = {episode for names in ids for episode in names}
        if unknown := sorted(set(weights) - known):
            raise _invalid(
                f"weights name episodes {unknown[:5]} that are not read: expected some of "
                f"{len(known)} episodes, like {sorted(known)[:3]}."
            )
        return [weights.get(episode, 1.0) for names in ids for episode in names]
    if len(weights) != len(datasets):
        raise _invalid(
            f"weights has {len(weights)} numbers for {len(datasets)} datasets: expected one each."
        )
    return [weight for weight, names in zip(weights, ids, strict=True) for _ in names]


def _invalid(message: str) -> InvalidInputError:
    return InvalidInputError(message, kind=ErrorKind.INVALID_ARGUMENT)
