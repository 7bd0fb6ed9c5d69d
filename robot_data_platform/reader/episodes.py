"""Which episodes a reader sees, and the facts of each that reading needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from robot_data_platform.core.finding import STATUS_QUARANTINED
from robot_data_platform.errors import ErrorKind, NotFoundError
from robot_data_platform.reader.filters import RowFilter, filter_errors
from robot_data_platform.reader.place import Place
from robot_data_platform.storage.predicate import equals, in_range
from robot_data_platform.storage.snapshot import Snapshot
from robot_data_platform.storage.table import LakeTable

Int64Array = npt.NDArray[np.int64]

_SIDES = ("width", "height")
_COLUMNS = ("episode_id", "episode_index", "num_rows", "control_hz")


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureSize:
    """Size of one camera's pictures in some episodes."""

    camera: str
    width_px: int
    height_px: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeSet:
    """The chosen episodes, in ascending ``episode_index``; arrays of length E."""

    episode_index: Int64Array
    """(E,) physical key of each episode's rows."""
    episode_id: pa.StringArray
    """(E,) stable id of each."""
    num_rows: Int64Array
    """(E,) rows that ``episodes`` says each has."""
    rate_hz: npt.NDArray[np.float64]
    """(E,) measured row rate; NaN where an episode has too few rows to have one."""
    picture_sizes: tuple[PictureSize, ...]
    """Each camera with each size of picture that it has, sorted."""

    def __len__(self) -> int:
        return len(self.episode_index)

    def number_of(self, episode_index: Int64Array) -> Int64Array:
        """Return the position of each episode here, or -1 where it was not chosen.

        Fast where equal values stand together, as they do in rows of a table.
        """
        if not len(self) or not len(episode_index):
            return np.full(len(episode_index), -1, dtype=np.int64)
        first = np.flatnonzero(np.diff(episode_index, prepend=episode_index[0] - 1))
        runs = episode_index[first]
        number = np.minimum(np.searchsorted(self.episode_index, runs), len(self) - 1)
        number = np.where(self.episode_index[number] == runs, number, -1).astype(np.int64)
        return np.repeat(number, np.diff(first, append=len(episode_index)))

    def id_of(self, episode_index: int) -> str:
        """Return the stable id of a chosen episode."""
        number = int(self.number_of(np.array([episode_index]))[0])
        return str(self.episode_id[number].as_py())


def choose_episodes(
    snapshot: Snapshot,
    *,
    split: str | None,
    episodes: Iterable[str | int] | None,
    place: Place,
    chosen: RowFilter | None = None,
) -> EpisodeSet:
    """Return the episodes to read: of the release or dataset, of the split, of those named.

    Quarantined episodes are never read. A release holds the episodes that its assignment put in
    a split; without a release, a dataset holds every other episode.

    Parameters
    ----------
    episodes : iterable of str or int, optional
        ``episode_id`` or ``episode_index`` of each; None = all. Each is read once.
    chosen : RowFilter, optional
        Only episodes for which it holds, where it is one on ``episodes``.

    Raises
    ------
    NotFoundError
        ``split-not-found``: the message lists those there are. ``episode-not-found``.
    InvalidInputError
        ``invalid-argument``: Lance can't read the filter.
    """
    table = snapshot.episodes.read([*_COLUMNS, "status"])
    is_read = pc.not_equal(table["status"], STATUS_QUARANTINED)
    if snapshot.release is None:
        table = table.filter(is_read)
    else:
        assigned = _assigned(snapshot, split, place)
        is_assigned = np.isin(table["episode_index"].to_numpy(), assigned)
        table = table.filter(pc.and_(is_read, pa.array(is_assigned)))
        _check_assigned(snapshot, table, assigned, place)
    if episodes is not None:
        table = _only(table, list(episodes), place)
    if chosen is not None and chosen.on_episodes:
        with filter_errors(chosen.where, place):
            held = snapshot.episodes.read(["episode_index"], chosen.where)["episode_index"]
        table = table.filter(pc.is_in(table["episode_index"], value_set=held.combine_chunks()))
    return _episode_set(_in_order(table), snapshot.episodes)


def _in_order(table: pa.Table) -> pa.Table:
    """Return episodes in ascending ``episode_index``, as they nearly always are."""
    is_rising = (np.diff(table["episode_index"].to_numpy()) > 0).all()
    return table if is_rising else table.sort_by("episode_index")


def _assigned(snapshot: Snapshot, split: str | None, place: Place) -> Int64Array:
    """Return the episodes that a release puts in a split, or in any split, by their indices.

    Raises
    ------
    NotFoundError
        ``split-not-found``: the message lists the splits there are.
    """
    assert snapshot.splits is not None
    if split is None:
        rows = snapshot.splits.read(["episode_index"], _of_assignment(snapshot))
        return np.asarray(rows["episode_index"].to_numpy())
    rows = snapshot.splits.read(["episode_index", "split"], _of_assignment(snapshot))
    splits = sorted(rows["split"].unique().to_pylist())
    if split not in splits:
        raise NotFoundError(
            f"Split {split!r} is not in {place}: it has {splits}. Correct the name.",
            kind=ErrorKind.SPLIT_NOT_FOUND,
            split=split,
            expected=splits,
            **place.facts(),
        )
    return np.asarray(rows.filter(pc.equal(rows["split"], split))["episode_index"].to_numpy())


def _of_assignment(snapshot: Snapshot) -> str:
    assert snapshot.release is not None
    return equals("assignment_id", snapshot.release["assignment_id"])


def _check_assigned(
    snapshot: Snapshot, table: pa.Table, assigned: Int64Array, place: Place
) -> None:
    """Refuse a release of which some episode is not there to read."""
    if len(table) == len(assigned):
        return
    assert snapshot.splits is not None
    lost = np.setdiff1d(assigned, table["episode_index"].to_numpy())
    rows = snapshot.splits.read(["episode_index", "episode_id"], _of_assignment(snapshot))
    is_lost = pc.is_in(rows["episode_index"], value_set=pa.array(lost))
    raise _not_found(rows.filter(is_lost)["episode_id"].to_pylist(), table, place)


def _only(table: pa.Table, named: Sequence[str | int], place: Place) -> pa.Table:
    ids = [name for name in named if isinstance(name, str)]
    indices = [int(name) for name in named if not isinstance(name, str)]
    lost: list[str | int] = [
        *sorted(set(ids).difference(table["episode_id"].to_pylist())),
        *sorted(set(indices).difference(table["episode_index"].to_pylist())),
    ]
    if lost:
        raise _not_found(lost, table, place)
    is_named = pc.is_in(table["episode_id"], value_set=pa.array(ids, pa.string()))
    is_listed = pc.is_in(table["episode_index"], value_set=pa.array(indices, pa.int64()))
    return table.filter(pc.or_(is_named, is_listed))


def _not_found(lost: Sequence[str | int], table: pa.Table, place: Place) -> NotFoundError:
    held = table["episode_id"][:5].to_pylist()
    return NotFoundError(
        f"Episodes {list(lost[:5])} ({len(lost)} in all) can't be read from {place}: got names "
        f"that are unknown, quarantined or of another split, expected some of its "
        f"{table.num_rows} episodes, like {held}. Look at `rdp episodes`.",
        kind=ErrorKind.EPISODE_NOT_FOUND,
        episodes=list(lost[:5]),
        **place.facts(),
    )


def _episode_set(table: pa.Table, episodes: LakeTable) -> EpisodeSet:
    episode_index = table["episode_index"].to_numpy()
    return EpisodeSet(
        episode_index=episode_index,
        episode_id=table["episode_id"].combine_chunks(),
        num_rows=table["num_rows"].to_numpy(),
        rate_hz=pc.cast(table["control_hz"], pa.float64()).to_numpy(),
        picture_sizes=_picture_sizes(episodes, episode_index),
    )


def _picture_sizes(episodes: LakeTable, episode_index: Int64Array) -> tuple[PictureSize, ...]:
    """Return the sizes of the pictures of some episodes, whose indices rise."""
    if not len(episode_index):
        return ()
    first, stop = int(episode_index[0]), int(episode_index[-1]) + 1
    is_most = 2 * (stop - first) > episodes.count_rows()
    where = None if is_most else in_range("episode_index", first, stop)
    rows = episodes.read(["episode_index", "cameras"], where)
    at = np.searchsorted(episode_index, rows["episode_index"].to_numpy())
    at = np.minimum(at, len(episode_index) - 1)
    is_chosen = episode_index[at] == rows["episode_index"].to_numpy()
    sizes = _different(rows["cameras"].combine_chunks(), is_chosen)
    return tuple(sorted(sizes, key=lambda size: (size.camera, size.width_px, size.height_px)))


def _different(cameras: pa.ListArray, is_chosen: npt.NDArray[np.bool_]) -> Iterator[PictureSize]:
    facts = pc.list_flatten(cameras)
    names = pc.struct_field(facts, "name").dictionary_encode()
    of_episode = pc.list_parent_indices(cameras).to_numpy()
    numbers = (
        names.indices,
        *(pc.fill_null(pc.struct_field(facts, f"{side}_px"), 0) for side in _SIDES),
    )
    code, width, height = (
        part.to_numpy(zero_copy_only=False)[is_chosen[of_episode]] for part in numbers
    )
    # As one number for each, in which different ones are found much faster than in columns.
    key = code.astype(np.int64) << 40 | width.astype(np.int64) << 20 | height
    for at in np.unique(key, return_index=True)[1].tolist():
        camera = str(names.dictionary[int(code[at])])
        yield PictureSize(camera=camera, width_px=int(width[at]), height_px=int(height[at]))
