"""Npz archives: what their members claim, and their content when it is wanted."""

from __future__ import annotations

import lzma
import math
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.source import Source
from robot_data_platform.errors import RobotDataError
from robot_data_platform.formats.array_files.stored_array import (
    MAX_ROW_BYTES,
    check_claim,
    num_bytes,
    wrong_shape,
)
from robot_data_platform.formats.array_files.unpickler import MAX_PICKLE_BYTES, unpickled
from robot_data_platform.formats.data_files import data_path, unreadable

MAX_MEMBERS = 4096
"""Arrays of one archive."""
SUFFIX = ".npy"
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    tokenize.TokenError,
    OSError,
    EOFError,
    RuntimeError,
    ValueError,
    TypeError,
    SyntaxError,
    KeyError,
    OverflowError,
    MemoryError,
)
"""What reading a damaged archive or header ends in, by the documents of zipfile and NumPy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NpzArray:
    """A member of an archive, as its header describes it."""

    source: Source
    relative: str
    member: str
    dtype: np.dtype[np.generic]
    shape: tuple[int, ...]
    is_fortran: bool

    @property
    def where(self) -> str:
        """How messages name it."""
        return f"Array {self.member!r} of {self.relative!r} of {self.source.label!r}"

    @property
    def is_text(self) -> bool:
        """Whether it is a single text."""
        return self.dtype.kind in "US" and self.shape == ()

    def load(self, where: str) -> npt.NDArray[np.generic]:
        """Return the whole array.

        Raises
        ------
        DataFaultError
            ``shape-mismatch``: it claims to be absurdly large, or is shorter than it claims.
        """
        check_claim(self.dtype, self.shape, where)
        with self._opened() as content:
            flat = self._entries(content, math.prod(self.shape), where)
        return flat.reshape(self.shape, order="F" if self.is_fortran else "C")

    def rows(self, where: str) -> Iterator[npt.NDArray[np.generic]]:
        """Yield the entries along the first dimension, read one at a time."""
        inner = self.shape[1:]
        if num_bytes(self.dtype, inner) > MAX_ROW_BYTES:
            got = f"{self.dtype} {inner} in each row"
            raise wrong_shape(where, got, f"at most {MAX_ROW_BYTES} bytes")
        if self.is_fortran:
            yield from self.load(where)
            return
        with self._opened() as content:
            for _ in range(self.shape[0]):
                yield self._entries(content, math.prod(inner), where).reshape(inner)

    def python_values(self) -> object:
        """Return what an array of Python values holds, as the restricted unpickler reads it."""
        with self._opened() as content:
            data = content.read(MAX_PICKLE_BYTES + 1)
        if len(data) > MAX_PICKLE_BYTES:
            raise wrong_shape(self.where, "a larger pickle", f"at most {MAX_PICKLE_BYTES} bytes")
        return unpickled(data, self.where)

    @contextmanager
    def _opened(self) -> Iterator[IO[bytes]]:
        archive = open_npz(self.source, self.relative)
        with archive as members, members.open(self.member) as content:
            _header(content)
            yield content

    def _entries(self, content: IO[bytes], count: int, where: str) -> npt.NDArray[np.generic]:
        wanted = count * self.dtype.itemsize
        data = content.read(wanted)
        if len(data) != wanted:
            raise wrong_shape(where, f"{len(data)} bytes of a part of {wanted}", "all of them")
        return np.frombuffer(data, self.dtype) if wanted else np.empty(count, self.dtype)


@contextmanager
def open_npz(source: Source, relative: str) -> Iterator[zipfile.ZipFile]:
    """Open an archive; damage that shows while it is read is told by its name too.

    Raises
    ------
    DataFaultError
        ``missing-file``; ``unreadable-file``: no archive, truncated, or damaged.
    """
    path = data_path(source, relative)
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except RobotDataError:
        raise
    except _DAMAGE as err:
        got = f"got {type(err).__name__} {str(err)[:160]!r}, expected a whole npz archive"
        raise unreadable(source, relative, got) from err


def npz_arrays(source: Source, relative: str) -> dict[str, NpzArray]:
    """Return the arrays of an archive by name; only their headers are read.

    Raises
    ------
    DataFaultError
        ``unreadable-file``: it is damaged, has a member that is no array, or one name twice.
    """
    with open_npz(source, relative) as archive:
        names = archive.namelist()
        if len(set(names)) < len(names) or len(names) > MAX_MEMBERS:
            got = f"got {len(names)} members of {len(set(names))} names, expected each name once"
            raise unreadable(source, relative, f"{got} and at most {MAX_MEMBERS}")
        return {
            name.removesuffix(SUFFIX): _array(source, relative, archive, name) for name in names
        }


def _array(source: Source, relative: str, archive: zipfile.ZipFile, name: str) -> NpzArray:
    with archive.open(name) as content:
        shape, is_fortran, dtype = _header(content)
    return NpzArray(
        source=source,
        relative=relative,
        member=name,
        dtype=dtype,
        shape=shape,
        is_fortran=is_fortran,
    )


def _header(content: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[np.generic]]:
    version = np.lib.format.read_magic(content)
    readers = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    if version not in readers:
        raise ValueError(f"version {version}, expected one of {sorted(readers)}")
    with warnings.catch_warnings():
        # Python 2 wrote `10L` where a number belongs; NumPy reads that and warns of it.
        warnings.simplefilter("ignore", UserWarning)
        shape, is_fortran, dtype = readers[version](content)
    if any(size < 0 or size > 1 << 40 for size in shape):
        raise ValueError(f"an array of shape {shape}")
    return shape, is_fortran, dtype
