"""A pickle's program, looked at before it is run: what it would take, not what it makes.

Python's unpickler believes what a program claims: the length of a text, the place of a memo
entry. And a key that is no text may be made such that hashing it never ends. Both are refused
by following the program with nothing but marks on the stack.
"""

from __future__ import annotations

import io
import pickletools

from robot_data_platform.formats.array_files.pickled_values import PickleClaimError

MAX_OPERATIONS = 2_000_000
"""Steps of a program; a list of numbers takes one for each."""
_KEYS = frozenset(
    {
        "BINBYTES",
        "BINBYTES8",
        "BINSTRING",
        "BINUNICODE",
        "BINUNICODE8",
        "SHORT_BINBYTES",
        "SHORT_BINSTRING",
        "SHORT_BINUNICODE",
        "STRING",
        "UNICODE",
    }
)
"""Operations whose result may be a key: text and bytes hash once, with a seed of this process."""
_REMEMBER = frozenset({"PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"})
_RECALL = frozenset({"GET", "BINGET", "LONG_BINGET"})
_SETS = frozenset({"ADDITEMS", "EMPTY_SET", "FROZENSET"})
_DICTS = frozenset({"DICT", "SETITEM", "SETITEMS"})
_MARK = pickletools.markobject


class _Stack:
    """The unpickler's stack, with ``True`` for what may be a key, and None for a mark."""

    def __init__(self, num_bytes: int) -> None:
        self._items: list[bool | None] = []
        self._memo: dict[int, bool] = {}
        self._end = num_bytes

    def take(self, operation: pickletools.OpcodeInfo) -> list[bool | None]:
        """Return what an operation takes from the stack, from the lowest to the top."""
        before = operation.stack_before
        taken: list[bool | None] = []
        count = len(before)
        if _MARK in before or (operation.name == "POP" and self._items[-1:] == [None]):
            while self._items and self._items[-1] is not None:
                taken.append(self._items.pop())
            del self._items[-1:]
            count = before.index(_MARK) if _MARK in before else 0
        taken += [self._items.pop() for _ in range(min(count, len(self._items)))]
        return taken[::-1]

    def put(self, operation: pickletools.OpcodeInfo, argument: object) -> None:
        """Put down what an operation leaves, and remember it where it says so."""
        name = operation.name
        if name == "MARK":
            self._items.append(None)
        elif name in _REMEMBER:
            self._remember(len(self._memo) if name == "MEMOIZE" else int(str(argument)))
        elif name in _RECALL:
            self._items.append(self._memo.get(int(str(argument)), False))
        else:
            self._items += [name in _KEYS] * len(operation.stack_after)

    def _remember(self, place: int) -> None:
        # Python's unpickler makes room for every place up to this one.
        if place > self._end:
            raise PickleClaimError(f"memo entry {place} in {self._end} bytes")
        self._memo[place] = bool(self._items and self._items[-1])


def check_program(data: bytes) -> None:
    """Refuse a pickle that would take memory or time which its own bytes don't account for.

    Raises
    ------
    PickleClaimError
        A memo entry lies beyond its end, a dict has a key that is no text, it makes a set, or it
        has over ``MAX_OPERATIONS`` steps.
    ValueError
        It is cut off, or no pickle.
    """
    stack = _Stack(len(data))
    for number, (operation, argument, _) in enumerate(pickletools.genops(io.BytesIO(data))):
        taken = [] if operation.name == "MEMOIZE" else stack.take(operation)
        if operation.name in _SETS or number == MAX_OPERATIONS:
            raise PickleClaimError(f"{operation.name} at step {number}")
        if operation.name in _DICTS and not _has_keys(operation, taken):
            raise PickleClaimError(f"a dict with a key that is no text at step {number}")
        stack.put(operation, argument)


def _has_keys(operation: pickletools.OpcodeInfo, taken: list[bool | None]) -> bool:
    pairs = taken if operation.name == "DICT" else taken[1:]
    return all(pairs[::2])
