"""Much that was packed into little: zeros, and how containers hold them."""

from __future__ import annotations

import struct
import zlib
from functools import lru_cache

NUM_BYTES = 3 << 30
"""Of zeros: more than a process may hold in memory."""
PIECE = bytes(1 << 20)


@lru_cache(maxsize=1)
def deflated() -> bytes:
    """Return the zeros as a raw deflate stream: blocks that end on a byte can be repeated."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(PIECE) + packer.flush(zlib.Z_FULL_FLUSH)
    return block * (NUM_BYTES // len(PIECE)) + packer.flush()


@lru_cache(maxsize=1)
def zlib_stream() -> bytes:
    """Return the zeros as a zlib stream, with a checksum of its own choice."""
    return b"\x78\xda" + deflated() + struct.pack(">I", 1)


@lru_cache(maxsize=1)
def zstandard_frame() -> bytes:
    """Return the zeros as one zstandard frame that does not say its size."""
    import zstandard

    packer = zstandard.ZstdCompressor(level=1).compressobj()
    pieces = [packer.compress(PIECE) for _ in range(NUM_BYTES // len(PIECE))]
    return b"".join(pieces) + packer.flush()


@lru_cache(maxsize=1)
def lz4_frame() -> bytes:
    """Return the zeros as one lz4 frame that does not say its size."""
    import lz4.frame  # type: ignore[import-untyped]

    packer = lz4.frame.LZ4FrameCompressor(block_size=lz4.frame.BLOCKSIZE_MAX4MB)
    pieces = [packer.begin()]
    pieces += [packer.compress(PIECE) for _ in range(NUM_BYTES // len(PIECE))]
    return b"".join(pieces) + bytes(packer.flush())


@lru_cache(maxsize=1)
def png() -> bytes:
    """Return a PNG whose header says 30,000 by 30,000 pixels of 3 bytes, and holds them."""
    header = struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib_stream()), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_png_chunk(name, data) for name, data in chunks)


def _png_chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def zip_of(name: str, head: bytes) -> bytes:
    """Return a zip archive of one member: ``head``, then the zeros."""
    stored = zlib.compressobj(0, zlib.DEFLATED, -15)
    packed = stored.compress(head) + stored.flush(zlib.Z_FULL_FLUSH) + deflated()
    size = len(head) + NUM_BYTES
    sizes = struct.pack("<III", 0, len(packed), size)
    common = struct.pack("<HHHHH", 20, 0, 8, 0, 33) + sizes
    label = name.encode()
    local = b"PK\x03\x04" + common + struct.pack("<HH", len(label), 0) + label + packed
    tail = struct.pack("<HHHHHII", len(label), 0, 0, 0, 0, 0, 0)
    central = b"PK\x01\x02" + struct.pack("<H", 20) + common + tail + label
    end = struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local), 0)
    return local + central + b"PK\x05\x06" + end
