"""Episodes in a tree of dicts, lists and arrays, and the leaves of one of them by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.array_files.npz_files import NpzArray
from robot_data_platform.formats.array_files.pickled_values import EncodedText, PickledArray
from robot_data_platform.formats.array_files.stored_array import StoredArray, check_claim

Leaf = StoredArray | str | int | float | None
"""An array, or a single value; None = something else."""
MAX_DEPTH = 8
"""Parts that the name of a nested value may have."""
MAX_EPISODES = 100_000
"""Episodes of one file."""
MAX_LEAVES = 4096
"""Named values of one episode."""
MAX_TEXT = 1 << 16
"""Characters or bytes of a text that is kept."""
_INT64 = range(-(1 << 63), 1 << 63)


@dataclass(frozen=True, slots=True)
class ListedArray:
    """A list of equal arrays, or of numbers, as one array with a row for each."""

    entries: Sequence[PickledArray] | npt.NDArray[np.generic]

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """Type of the entries."""
        return self.entries.dtype if isinstance(self.entries, np.ndarray) else self.entries[0].dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of the list, and the shape of each entry."""
        inner = () if isinstance(self.entries, np.ndarray) else self.entries[0].shape
        return (len(self.entries), *inner)

    def load(self, where: str) -> npt.NDArray[np.generic]:
        """Return the whole array."""
        if isinstance(self.entries, np.ndarray):
            return self.entries
        check_claim(self.dtype, self.shape, where)
        return np.stack(list(self.rows(where)))

    def rows(self, where: str) -> Iterator[npt.NDArray[np.generic]]:
        """Yield the entries of the list."""
        for entry in self.entries:
            yield entry.load(where) if isinstance(entry, PickledArray) else entry


def episodes_of(value: object, where: str) -> list[dict[str, object]]:
    """Return the episodes that a value holds: a dict is one, a list of dicts has one in each.

    Raises
    ------
    DataFaultError
        ``unreadable-file``: it is neither.
    """
    found = _plain(value)
    episodes = found if isinstance(found, list | tuple) else [found]
    plain = [_plain(episode) for episode in episodes]
    dicts = [episode for episode in plain if isinstance(episode, dict)]
    if not dicts or len(dicts) < len(plain) or len(dicts) > MAX_EPISODES:
        kinds = sorted({type(episode).__name__ for episode in plain})
        raise DataFaultError(
            f"{where} holds no episodes: got {type(found).__name__} of {len(plain)} {kinds}, "
            f"expected a dict of arrays, or a list of at most {MAX_EPISODES} such dicts. Write it "
            "so, or name another format.",
            kind=ErrorKind.UNREADABLE_FILE,
        )
    return dicts


def leaves_of(episode: dict[str, object], where: str) -> dict[str, Leaf]:
    """Return the named values of an episode; names of nested dicts are joined by ``/``.

    Raises
    ------
    DataFaultError
        ``unreadable-file``: it is nested too deep, or has too many values.
        ``metadata-contradiction``: two values get the same name.
    """
    leaves: dict[str, Leaf] = {}
    for name, leaf in _walk(episode, "", 0):
        if len(leaves) == MAX_LEAVES or name.count("/") >= MAX_DEPTH:
            raise DataFaultError(
                f"{where} is too large a tree: got over {MAX_LEAVES} values, or over {MAX_DEPTH} "
                f"levels at {name!r:.80}, expected a flat dict. Write the episode so.",
                kind=ErrorKind.UNREADABLE_FILE,
            )
        if name in leaves:
            raise DataFaultError(
                f"{where} has two values of one name: got {name!r:.80} twice, expected it once. "
                "Rename one of them.",
                kind=ErrorKind.METADATA_CONTRADICTION,
            )
        leaves[name] = leaf
    return leaves


def _walk(value: object, name: str, depth: int) -> Iterator[tuple[str, Leaf]]:
    found = _plain(value)
    if isinstance(found, dict) and found and depth <= MAX_DEPTH:
        for key, inner in found.items():
            label = key.decode("latin-1") if isinstance(key, bytes) else str(key)
            yield from _walk(inner, f"{name}/{label}" if name else label, depth + 1)
    else:
        yield name, _leaf(found)


def _plain(value: object) -> object:
    """Return what arrays of Python values, and encoded texts, hold."""
    if isinstance(value, EncodedText):
        return value.text
    if isinstance(value, PickledArray):
        objects = value.objects()
        if objects is not None:
            return objects[0] if value.shape == () and len(objects) == 1 else objects
    return value


def _leaf(value: object) -> Leaf:
    match value:
        case NpzArray() if value.dtype.kind in "US" and value.shape == ():
            return (
                _text(value.load(value.where).item()) if value.dtype.itemsize <= MAX_TEXT else None
            )
        case PickledArray() | NpzArray() | float():
            return value
        case int() if value in _INT64:
            return value
        case str() | bytes():
            return _text(value)
        case list() | tuple() if value:
            return _listed(value)
    return None


def _text(value: str | bytes) -> str | None:
    if len(value) > MAX_TEXT:
        return None
    return value if isinstance(value, str) else value.decode("utf-8", "backslashreplace")


def _listed(values: Sequence[object]) -> ListedArray | None:
    arrays = [value for value in values if isinstance(value, PickledArray)]
    if len(arrays) == len(values):
        kinds = {(array.dtype, array.shape) for array in arrays}
        return ListedArray(arrays) if len(kinds) == 1 else None
    if all(isinstance(v, float) or (isinstance(v, int) and v in _INT64) for v in values):
        return ListedArray(np.array(values))
    return None
