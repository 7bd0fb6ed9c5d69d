"""Chunks of messages: decompressed within their declared size, and read again at random."""

from __future__ import annotations

import bz2
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Iterator
from typing import BinaryIO

import lz4.frame  # type: ignore[import-untyped]
import zstandard

from robot_data_platform.core.recording import Int64Array

MAX_RECORD_BYTES = 1 << 28
"""Most bytes of one record or chunk, packed or not; larger claims are refused unread. Recorders
write chunks of 1 to 4 MiB, and single pictures of tens of MiB at most."""
CACHED_CHUNKS = 2
"""Chunks kept while messages are read again: neighbours that overlap in time alternate."""
NO_CHUNK = -1
"""First number of the place of a message that lies in no chunk."""


class ChunkError(ValueError):
    """What is wrong with a chunk."""


def decompress(data: bytes, compression: str, size_bytes: int) -> bytes:
    """Return the content of a chunk.

    Parameters
    ----------
    data : bytes
        As stored.
    compression : {"", "none", "zstd", "lz4", "bz2"}
        How it is packed.
    size_bytes : int
        Size of the content, as declared.

    Raises
    ------
    ChunkError
        Another compression, damaged data, or content of another size.
    """
    if size_bytes > MAX_RECORD_BYTES:
        raise ChunkError(f"it declares {size_bytes} bytes, more than {MAX_RECORD_BYTES}")
    try:
        content = _unpack(data, compression, size_bytes)
    except (zstandard.ZstdError, RuntimeError, OSError, EOFError) as err:
        raise ChunkError(f"its {compression} data is damaged ({err})") from err
    if len(content) != size_bytes:
        raise ChunkError(f"it has {len(content)} bytes, not the declared {size_bytes}")
    return content


def _unpack(data: bytes, compression: str, size_bytes: int) -> bytes:
    match compression:
        case "" | "none":
            return data
        case "zstd":
            return unpack_zstd(data, size_bytes)
        case "lz4":
            return bytes(lz4.frame.LZ4FrameDecompressor().decompress(data, size_bytes + 1))
        case "bz2":
            return bz2.BZ2Decompressor().decompress(data, size_bytes + 1)
        case _:
            raise ChunkError(f"its compression {compression!r} is not known")


def unpack_zstd(data: bytes, max_bytes: int) -> bytes:
    """Return the content of a Zstandard frame of at most ``max_bytes``.

    Raises
    ------
    ChunkError
        It declares more.
    zstandard.ZstdError
        It is damaged, or larger than it declares.
    """
    # The decompressor takes whatever memory the frame declares.
    declared = zstandard.frame_content_size(data)
    if declared > max_bytes:
        raise ChunkError(f"it declares {declared} bytes, more than {max_bytes}")
    return zstandard.ZstdDecompressor().decompress(data, max_output_size=max(max_bytes, 1))


class ChunkedFile(ABC):
    """An open file of chunks, each of which holds messages.

    Parameters
    ----------
    file : BinaryIO
        The file, seekable; it starts with its magic bytes.
    name : str
        How losses name it.
    size_bytes : int
        Its size.
    """

    def __init__(self, file: BinaryIO, name: str, size_bytes: int) -> None:
        self._file = file
        self._name = name
        self._size_bytes = size_bytes

    def fetch(self, places: Int64Array) -> Iterator[bytes]:
        """Yield the payload at each place, unpacking a chunk once for neighbouring places.

        Parameters
        ----------
        places : ndarray of int64, shape (N, 3)
            Chunk or ``NO_CHUNK``, first byte, number of bytes.
        """
        kept: OrderedDict[int, bytes] = OrderedDict()
        for chunk, start, size in places.tolist():
            if chunk == NO_CHUNK:
                yield self._read_at(start, size)
                continue
            if chunk not in kept:
                while len(kept) >= CACHED_CHUNKS:
                    kept.popitem(last=False)
                kept[chunk] = self._load_chunk(chunk)
            kept.move_to_end(chunk)
            yield kept[chunk][start : start + size]

    def _read_at(self, start: int, size: int) -> bytes:
        self._file.seek(start)
        return self._file.read(size)

    @abstractmethod
    def _load_chunk(self, start: int) -> bytes:
        """Return the content of the chunk at a byte that ``messages`` gave as a place."""
