"""Decode single frames of GOPs from as few packets as possible."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import av
import numpy as np
import numpy.typing as npt
from av.video.codeccontext import VideoCodecContext
from av.video.reformatter import VideoReformatter

from robot_data_platform.core.gop import PacketIndex, StreamFormat, needed_packets
from robot_data_platform.core.recording import Picture
from robot_data_platform.errors import DataFaultError, ErrorKind, InvalidInputError
from robot_data_platform.video.colour import ColourTags, tags_of, to_rgb24
from robot_data_platform.video.planes import luma, rgb_view

if TYPE_CHECKING:
    from av.stream import Stream

Bytes = bytes | bytearray | memoryview
Frames = npt.NDArray[np.int64]

DECODER_BY_CODEC = {"av1": "libdav1d"}
"""FFmpeg's own ``av1`` decoder works on hardware only."""

MAX_CODECS = 8
"""Open decoders that one ``GopDecoder`` keeps: one per camera of a robot, as a rule."""


@dataclass(frozen=True, slots=True)
class _Codec:
    """A decoder and a colour converter for one kind of stream; both are costly to make."""

    context: VideoCodecContext
    tags: ColourTags
    converter: VideoReformatter


class GopDecoder:
    """Decodes frames of GOPs of any stream; reuses its decoders. One per thread."""

    def __init__(self) -> None:
        self._codecs: dict[StreamFormat, _Codec] = {}

    def decode(
        self, packets: PacketIndex, data: Bytes, frames: Frames, fmt: StreamFormat
    ) -> dict[int, av.VideoFrame]:
        """Return some frames of a GOP, decoded from the fewest packets that give them.

        Parameters
        ----------
        packets : PacketIndex
            The GOP's packets.
        data : bytes-like
            The GOP's blob.
        frames : ndarray of int64, shape (n,)
            Wanted frames, as positions in the GOP's presentation order; any order, repeats allowed.
        fmt : StreamFormat
            Format of the GOP's stream.

        Returns
        -------
        dict of int to VideoFrame
            Each wanted frame once; the decoder itself says which is which, by presentation time.

        Raises
        ------
        DataFaultError
            ``gop-damaged``: the blob has another size than its packets, or a frame is missing,
            damaged or of another size.
        InvalidInputError
            ``index-out-of-range``: a frame is not in the GOP.
        """
        return dict(self.each(packets, data, frames, fmt))

    def each(
        self, packets: PacketIndex, data: Bytes, frames: Frames, fmt: StreamFormat
    ) -> Iterator[tuple[int, av.VideoFrame]]:
        """Yield the same frames as ``decode`` with their positions, each as soon as it is there.

        A frame that is used at once is still in the processor's cache. Faults show while it runs.
        """
        _check_request(packets, data, frames)
        wanted = set(frames.tolist())
        if not wanted:
            return
        for frame in self._feed(packets, data, needed_packets(packets, frames), fmt):
            if frame.pts is not None and frame.pts in wanted:
                _check_frame(frame, fmt)
                wanted.remove(frame.pts)
                yield frame.pts, frame
        if wanted:
            raise _damaged(f"no frames {sorted(wanted)} from the decoder", "every wanted frame")

    def decode_rgb(
        self,
        packets: PacketIndex,
        data: Bytes,
        frames: Frames,
        fmt: StreamFormat,
        out: Picture | None = None,
    ) -> Picture:
        """Return some frames of a GOP as RGB, in the order asked for, repeats included.

        Parameters
        ----------
        packets, data, frames, fmt
            As in ``decode``.
        out : ndarray of uint8, shape (n, H, W, 3), optional
            Array to write to.

        Returns
        -------
        ndarray of uint8, shape (n, H, W, 3)
            ``out``, or a new array.
        """
        decoded = self.decode(packets, data, frames, fmt)
        if out is None:
            out = np.empty((len(frames), fmt.height_px, fmt.width_px, 3), np.uint8)
        first_at: dict[int, int] = {}
        for at, frame in enumerate(frames.tolist()):
            if first_at.setdefault(frame, at) == at:
                self.to_rgb(decoded[frame], fmt, out[at])
            else:
                out[at] = out[first_at[frame]]
        return out

    def decode_luma(
        self, packets: PacketIndex, data: Bytes, frames: Frames, fmt: StreamFormat
    ) -> Picture:
        """Return the luma of some frames in the order asked for, (n, H, W) uint8, as coded."""
        decoded = self.decode(packets, data, frames, fmt)
        planes = [luma(decoded[frame]) for frame in frames.tolist()]
        out = np.empty((len(planes), fmt.height_px, fmt.width_px), np.uint8)
        for at, plane in enumerate(planes):
            out[at] = plane[: fmt.height_px, : fmt.width_px]
        return out

    def to_rgb(
        self, frame: av.VideoFrame, fmt: StreamFormat, out: Picture | None = None
    ) -> Picture:
        """Return a decoded frame as RGB without its padding.

        Untagged streams are taken as BT.601 in limited range, as FFmpeg does.

        Parameters
        ----------
        frame : VideoFrame
            From ``decode``.
        fmt : StreamFormat
            Format of its stream.
        out : ndarray of uint8, shape (H, W, 3), optional
            Array to write to.

        Returns
        -------
        ndarray of uint8, shape (H, W, 3)
            ``out``, or a new array.
        """
        codec = self._codec(fmt)
        shown = rgb_view(to_rgb24(frame, codec.tags, codec.converter))
        shown = shown[: fmt.height_px, : fmt.width_px]
        if out is None:
            return shown.copy()
        out[...] = shown
        return out

    def verify_gop(self, packets: PacketIndex, data: Bytes, fmt: StreamFormat) -> int:
        """Decode a whole GOP and return its number of frames.

        Raises
        ------
        DataFaultError
            ``gop-damaged``: a frame is missing, damaged, of another size, or comes out at another
            place than the packet index says.
        """
        everything = np.arange(len(packets.display_index), dtype=np.int64)
        _check_request(packets, data, everything)
        shown = []
        for frame in self._feed(packets, data, np.ones(len(everything), np.bool_), fmt):
            _check_frame(frame, fmt)
            shown.append(frame.pts)
        if shown != everything.tolist():
            raise _damaged(f"frames {shown} in this order", f"0 to {len(everything) - 1}")
        return len(shown)

    def _feed(
        self, packets: PacketIndex, data: Bytes, needed: npt.NDArray[np.bool_], fmt: StreamFormat
    ) -> Iterator[av.VideoFrame]:
        context = self._codec(fmt).context
        # First, not last: whatever became of the GOP before, nothing of it is left.
        context.flush_buffers()
        context.reorder_depth = max(context.reorder_depth, _reorder_depth(packets, fmt))
        try:
            for packet in _packets(packets, data, needed):
                yield from context.decode(packet)
            yield from context.decode(None)
        except av.FFmpegError as err:
            self._codecs.pop(fmt, None)
            raise _damaged(f"FFmpeg's {err.strerror!r}", "a decodable blob") from err

    def _codec(self, fmt: StreamFormat) -> _Codec:
        codec = self._codecs.pop(fmt, None) or _open_codec(fmt)
        self._codecs[fmt] = codec
        if len(self._codecs) > MAX_CODECS:
            del self._codecs[next(iter(self._codecs))]
        return codec


def _open_codec(fmt: StreamFormat) -> _Codec:
    context = av.CodecContext.create(DECODER_BY_CODEC.get(fmt.codec, fmt.codec), "r")
    assert isinstance(context, VideoCodecContext)
    context.thread_count = 1
    if fmt.extradata:
        context.extradata = fmt.extradata
    if fmt.codec == "ffv1":
        # Its own header says nothing of the size, and the decoder cuts slices before any packet.
        context.width, context.height = fmt.coded_width_px, fmt.coded_height_px
    return _Codec(context=context, tags=tags_of(fmt), converter=VideoReformatter())


def _packets(
    packets: PacketIndex, data: Bytes, needed: npt.NDArray[np.bool_]
) -> Iterator[av.Packet[Stream]]:
    view, start = memoryview(data), 0
    facts = (packets.size_bytes, packets.display_index, needed)
    for size, frame, is_needed in zip(*(fact.tolist() for fact in facts), strict=True):
        if is_needed:
            # Packet(size) is zero-padded behind its end, as decoders demand; Packet(bytes) is not.
            packet = av.Packet(size)
            packet.update(bytes(view[start : start + size]))
            packet.pts = frame
            yield packet
        start += size


def _reorder_depth(packets: PacketIndex, fmt: StreamFormat) -> int:
    """Return how many frames a decoder must hold back to show them in order.

    Streams that were copied may not say it in their header, and H.264 decoders then drop frames
    until they have found out.
    """
    if fmt.profile != "copy":
        return 0
    order = packets.display_index
    is_late = order[:, None] > order[None, :]
    return int(np.triu(is_late, 1).sum(axis=0).max())


def _check_request(packets: PacketIndex, data: Bytes, frames: Frames) -> None:
    num_bytes, num_frames = sum(packets.size_bytes.tolist()), len(packets.display_index)
    if len(data) != num_bytes:
        raise _damaged(f"{len(data)} bytes", f"{num_bytes}, the sum of its packets")
    outside = [frame for frame in frames.tolist() if not 0 <= frame < num_frames]
    if outside:
        raise InvalidInputError(
            f"Frame index is out of the GOP's range: got {outside[0]}, "
            f"expected 0 to {num_frames - 1}. Take frame_index_in_gop from the frames table.",
            kind=ErrorKind.INDEX_OUT_OF_RANGE,
            num_frames=num_frames,
        )


def _check_frame(frame: av.VideoFrame, fmt: StreamFormat) -> None:
    if (frame.width, frame.height) != (fmt.coded_width_px, fmt.coded_height_px):
        raise _damaged(
            f"frame {frame.pts} of {frame.width}x{frame.height} pixels",
            f"{fmt.coded_width_px}x{fmt.coded_height_px}",
        )
    if fmt.is_depth and frame.format.name != fmt.pix_fmt:
        raise _damaged(f"frame {frame.pts} of {frame.format.name}", fmt.pix_fmt)
    if frame.is_corrupt:
        raise _damaged(f"frame {frame.pts} with decoding errors", "none")


def _damaged(got: str, expected: str) -> DataFaultError:
    return DataFaultError(
        f"GOP is damaged: got {got}, expected {expected}. Compare its sha256, and ingest the "
        "episode again if it differs.",
        kind=ErrorKind.GOP_DAMAGED,
    )
