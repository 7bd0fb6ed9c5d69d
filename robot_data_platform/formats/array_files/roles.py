"""What each named value of an episode is: a signal, a camera's pictures, or a fact."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from robot_data_platform.core.recording import ACTION, STATE
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.array_files.episode_tree import Leaf
from robot_data_platform.formats.array_files.stored_array import StoredArray
from robot_data_platform.formats.hdf5_signals import MAX_WIDTH
from robot_data_platform.formats.names import column_name

ACTIONS = ("actions", "action")
"""Names of the array that becomes ``action``; its length is the episode's."""
STATES = ("observations", "observation", "obs", "state")
"""Names of the array that becomes ``observation_state``, where it is one array of numbers."""
OBSERVED = ("observations/", "observation/", "obs/")
"""What the names of several observed arrays start with."""
TIME = "timestamp_ns"
"""Name of the array that is the clock, where there is one."""
MAX_FACT_NUMBERS = 64
"""Numbers of an array without rows that are kept as text."""
_NUMBERS = frozenset("fiub")


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """The named values of an episode by what they are to us."""

    num_rows: int
    """As claimed by the action, or else the state."""
    clock: StoredArray | None
    signals: Mapping[str, StoredArray]
    pictures: Mapping[str, StoredArray]
    facts: Mapping[str, str]
    others: Mapping[str, str]
    """What is left out, and why."""


def roles_of(leaves: Mapping[str, Leaf], subject: str) -> Roles:
    """Return what each value is, by name, type and shape.

    Without a clock, what has one row more than there are actions was observed after the last one.

    Raises
    ------
    DataFaultError
        ``no-rows``: there is neither an action nor a state.
    """
    num_rows = _num_rows(leaves, subject)
    clock = number_array(leaves.get(TIME))
    lengths = {num_rows} if clock is not None else {num_rows, num_rows + 1}
    by_row = {
        name: array
        for name, array in ((name, number_array(leaf)) for name, leaf in leaves.items())
        if array is not None and array is not clock and array.shape[:1] in {(n,) for n in lengths}
    }
    pictures = {name: array for name, array in by_row.items() if _is_pictures(array)}
    signals = {n: a for n, a in by_row.items() if n not in pictures and _is_signal(a)}
    rest = leaves.keys() - signals.keys() - pictures.keys() - ({TIME} if clock else set())
    facts = {name: _fact(leaves[name], f"{subject} array {name!r}") for name in sorted(rest)}
    return Roles(
        num_rows=num_rows,
        clock=clock,
        signals=signals,
        pictures=pictures,
        facts={name: fact for name, fact in facts.items() if fact is not None},
        others={name: _described(leaves[name]) for name, fact in facts.items() if fact is None},
    )


def number_array(leaf: Leaf) -> StoredArray | None:
    """Return a value if it is an array of numbers or booleans."""
    if leaf is None or isinstance(leaf, str | int | float):
        return None
    return leaf if leaf.dtype.kind in _NUMBERS else None


def signal_name(name: str) -> str:
    """Return the signal name of an array.

    Examples
    --------
    >>> signal_name("actions"), signal_name("obs"), signal_name("obs/qpos"), signal_name("rewards")
    ('action', 'observation_state', 'observation_qpos', 'rewards')
    """
    if name in ACTIONS:
        return ACTION
    if name in STATES:
        return STATE
    observed = without_prefix(name)
    return column_name(name) if observed == name else f"observation_{column_name(observed)}"


def without_prefix(name: str) -> str:
    """Return the name of an observed array without what says that it is one."""
    for prefix in OBSERVED:
        if name.startswith(prefix):
            return name.removeprefix(prefix)
    return name


def _num_rows(leaves: Mapping[str, Leaf], subject: str) -> int:
    arrays = (number_array(leaves.get(name)) for name in (*ACTIONS, *STATES))
    for array in arrays:
        if array is not None and _is_signal(array):
            return array.shape[0]
    raise DataFaultError(
        f"{subject} has no rows: got {sorted(leaves)[:12]}, expected an array of numbers named one "
        f"of {[*ACTIONS, *STATES]}. Rename it, or drop the episode.",
        kind=ErrorKind.NO_ROWS,
    )


def _is_signal(array: StoredArray) -> bool:
    return len(array.shape) > 0 and 0 < math.prod(array.shape[1:]) <= MAX_WIDTH


def _is_pictures(array: StoredArray) -> bool:
    is_rgb = array.dtype == np.uint8 and len(array.shape) == 4 and array.shape[3] == 3
    return is_rgb or is_depth(array)


def is_depth(array: StoredArray) -> bool:
    """Return whether an array holds depth maps by row: (N, H, W) or (N, H, W, 1) of 16 bits."""
    is_map = len(array.shape) == 3 or (len(array.shape) == 4 and array.shape[3] == 1)
    is_16_bits = array.dtype.kind == "u" and array.dtype.itemsize == 2
    return is_16_bits and is_map and 0 not in array.shape[1:]


def _fact(leaf: Leaf, where: str) -> str | None:
    array = number_array(leaf)
    if array is not None and 0 < math.prod(array.shape) <= MAX_FACT_NUMBERS:
        return json.dumps(array.load(where).tolist())
    return str(leaf) if isinstance(leaf, str | float | int) else None


def _described(leaf: Leaf) -> str:
    if leaf is None or isinstance(leaf, str | int | float):
        return "it is no array of numbers"
    return f"got {leaf.dtype} {leaf.shape}, expected numbers by row, at most {MAX_WIDTH} in each"
