"""What decoding a GOP needs besides its bytes, for all GOPs of a stream at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from robot_data_platform.core.gop import PacketIndex, StreamFormat
from robot_data_platform.core.gop_rows import packets_of_gops

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True, slots=True, kw_only=True)
class GopEntry:
    """What decoding one GOP needs besides its bytes."""

    number: int
    """Position in the `GopIndex`."""
    row_id: int
    """Lance's stable row id in ``gops``."""
    num_frames: int
    packets: PacketIndex
    form: StreamFormat
    sha256: str
    """Hex digest of the blob."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamEntries:
    """The G GOPs of one camera stream of one episode, P packets in all, as flat arrays."""

    first: int
    """Position in the `GopIndex` of its first GOP."""
    row_id: npt.NDArray[np.uint64]
    """(G,) row id of each GOP."""
    num_frames: npt.NDArray[np.int32]
    """(G,) frames of each."""
    sha256: pa.StringArray
    """(G,) digest of each."""
    start: npt.NDArray[np.int64]
    """(G + 1,) where each GOP's packets start in ``packets``, and P."""
    packets: PacketIndex
    """The packets of all GOPs, (P,) each, one GOP after the other."""
    form: StreamFormat

    @property
    def num_bytes(self) -> int:
        """Memory that the arrays take."""
        packets = self.packets
        arrays: tuple[npt.NDArray[np.generic], ...] = (
            *(self.row_id, self.num_frames, self.start),
            *(packets.size_bytes, packets.display_index, packets.is_reference, packets.is_key),
        )
        return sum(array.nbytes for array in arrays) + int(self.sha256.nbytes)

    def entry(self, number: int) -> GopEntry:
        """Return the GOP at a position of the `GopIndex`."""
        at = number - self.first
        part, packets = slice(self.start[at], self.start[at + 1]), self.packets
        return GopEntry(
            number=number,
            row_id=int(self.row_id[at]),
            num_frames=int(self.num_frames[at]),
            packets=PacketIndex(
                size_bytes=packets.size_bytes[part],
                display_index=packets.display_index[part],
                is_reference=packets.is_reference[part],
                is_key=packets.is_key[part],
            ),
            form=self.form,
            sha256=str(self.sha256[at].as_py()),
        )


def stream_entries(
    first: int, row_id: npt.NDArray[np.uint64], rows: pa.Table, form: StreamFormat
) -> StreamEntries:
    """Return the entries of one stream, in memory of their own.

    Parameters
    ----------
    first : int
        Position in the index of the stream's first GOP.
    row_id : ndarray of uint64, shape (G,)
        Row id of each of its GOPs.
    rows : pyarrow.Table
        Packets, number of frames and digest of each, in the same order.
    form : StreamFormat
        How the stream is coded.
    """
    packets, start = packets_of_gops(rows)
    return StreamEntries(
        first=first,
        row_id=row_id,
        num_frames=rows["num_frames"].to_numpy().copy(),
        sha256=pa.array(rows["sha256"].to_pylist(), pa.string()),
        start=start,
        packets=packets,
        form=form,
    )
