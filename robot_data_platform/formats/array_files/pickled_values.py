"""What the allowed globals of a pickle become here: descriptions, not NumPy's own objects.

A pickle says ``ndarray`` and how to fill it. NumPy's functions would take whatever sizes it
claims, so none of them is called: the claims are kept, and checked once the array is wanted.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import cast

import numpy as np
import numpy.typing as npt

from robot_data_platform.formats.array_files.stored_array import (
    MAX_DIMENSIONS,
    MAX_ENTRIES,
    check_claim,
    num_bytes,
    wrong_shape,
)

_NUMBERS = re.compile(r"[<>|=]?(b1|[iu][1248]|f[248])")
_OBJECTS = re.compile(r"\|?O8?")
_ORDERS = frozenset("<>|=")


class PickleClaimError(ValueError):
    """A pickle describes something that is no plain array; the text says what."""


class Reserved:
    """Stands for ``numpy.ndarray``, which is named in pickles but never made here."""

    __slots__ = ()

    def __setstate__(self, state: object) -> None:
        """Refuse to be filled."""
        raise PickleClaimError("a value for a class of NumPy")


class PickledType:
    """A ``numpy.dtype`` as a pickle describes it."""

    __slots__ = ("_code", "_order")

    def __init__(self, code: object, *_: object) -> None:
        self._code = code if isinstance(code, str) else ""
        self._order = ""

    def __setstate__(self, state: object) -> None:
        """Keep the byte order, and nothing else: fields and shapes are no plain numbers."""
        order = state[1] if isinstance(state, tuple) and len(state) > 1 else ""
        self._order = order if isinstance(order, str) and order in _ORDERS else ""

    @property
    def is_object(self) -> bool:
        """Whether entries are Python values."""
        return _OBJECTS.fullmatch(self._code) is not None

    def number_type(self) -> np.dtype[np.generic] | None:
        """Return the type of plain numbers or booleans; None where it is another."""
        found = _NUMBERS.fullmatch(self._code)
        return np.dtype(self._order + found.group(1)) if found else None


class EncodedText:
    """Bytes that an old protocol writes as text in Latin-1."""

    __slots__ = ("_text",)

    def __init__(self, text: object, encoding: object = "") -> None:
        if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
            raise PickleClaimError("a value that is no text in Latin-1")
        self._text = text

    def __setstate__(self, state: object) -> None:
        """Refuse to be filled."""
        raise PickleClaimError("a value for a text")

    @property
    def text(self) -> str:
        """One character per byte."""
        return self._text


class PickledArray:
    """A ``numpy.ndarray`` as a pickle describes it."""

    __slots__ = ("_content", "_is_fortran", "_shape", "_type")

    def __init__(self) -> None:
        self._shape: tuple[int, ...] = ()
        self._type: PickledType | None = None
        self._is_fortran = False
        self._content: object = b""

    def __setstate__(self, state: object) -> None:
        """Keep (version, shape, type, is Fortran order, content) as they are."""
        parts = state if isinstance(state, tuple) else ()
        if len(parts) != 5:
            raise PickleClaimError(f"an array of {len(parts)} parts")
        self.fill(parts[1], parts[2], bool(parts[3]), parts[4])

    def fill(self, shape: object, kind: object, is_fortran: bool, content: object) -> None:
        """Keep what the array claims to be."""
        sizes = shape if isinstance(shape, tuple) else (-1,)
        if len(sizes) > MAX_DIMENSIONS or any(type(n) is not int or n < 0 for n in sizes):
            raise PickleClaimError("an array whose shape is no few whole numbers")
        if math.prod(max(n, 1) for n in sizes) > MAX_ENTRIES:
            raise PickleClaimError(f"an array of shape {sizes}")
        self._shape = cast("tuple[int, ...]", sizes)
        self._type = kind if isinstance(kind, PickledType) else None
        self._is_fortran, self._content = is_fortran, content

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """Type of the entries; objects where they are no plain numbers."""
        number_type = self._type.number_type() if self._type else None
        return np.dtype(object) if number_type is None else number_type

    @property
    def shape(self) -> tuple[int, ...]:
        """Claimed length of each dimension."""
        return self._shape

    def objects(self) -> list[object] | None:
        """Return the entries of an array of Python values; None where it holds other things."""
        is_object = self._type is not None and self._type.is_object
        return self._content if is_object and isinstance(self._content, list) else None

    def load(self, where: str) -> npt.NDArray[np.generic]:
        """Return the array; no larger than the pickle's own bytes."""
        check_claim(self.dtype, self.shape, where)
        content, expected = self._bytes(where), num_bytes(self.dtype, self.shape)
        if self.dtype.hasobject or len(content) != expected:
            got = f"{len(content)} bytes for {self.dtype} {self.shape}"
            raise wrong_shape(where, got, f"{expected} bytes of plain numbers")
        array = np.frombuffer(content, self.dtype) if expected else np.empty(0, self.dtype)
        return array.reshape(self.shape, order="F" if self._is_fortran else "C")

    def rows(self, where: str) -> Iterator[npt.NDArray[np.generic]]:
        """Yield the entries along the first dimension."""
        yield from self.load(where)

    def _bytes(self, where: str) -> bytes | bytearray:
        content = self._content.text if isinstance(self._content, EncodedText) else self._content
        if isinstance(content, str):  # Python 2 wrote bytes as text too
            try:
                return content.encode("latin-1")
            except UnicodeEncodeError as err:
                raise wrong_shape(where, "text", "bytes as Latin-1") from err
        return content if isinstance(content, bytes | bytearray) else b""


def new_array(kind: object, shape: object, _code: object) -> PickledArray:
    """Stand in for ``_reconstruct``, which makes the empty array that the state then fills."""
    if not isinstance(kind, StandIn) or kind.made is not Reserved or shape != (0,):
        raise PickleClaimError("an array that is no plain one")
    return PickledArray()


def filled_array(content: object, kind: object, shape: object, order: object) -> PickledArray:
    """Stand in for ``_frombuffer``, with which protocol 5 makes arrays."""
    array = PickledArray()
    array.fill(shape, kind, order == "F", content)
    return array


def new_scalar(kind: object, content: object = b"") -> PickledArray:
    """Stand in for ``scalar``: an array of no dimension."""
    array = PickledArray()
    array.fill((), kind, False, content)
    return array


class StandIn:
    """One of the above, as a pickle gets hold of it: to be called, and never changed."""

    __slots__ = ("made",)

    def __init__(self, made: Callable[..., object]) -> None:
        self.made = made

    def __call__(self, *arguments: object) -> object:
        """Return what stands in for the call's result."""
        return self.made(*arguments)

    def __setstate__(self, state: object) -> None:
        """Refuse to be filled."""
        raise PickleClaimError("a value for a function of NumPy")
