"""Depth maps: grey pictures of more than 8 bits, whose samples are never converted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import av
import numpy as np
import numpy.typing as npt

from robot_data_platform.core.recording import DepthPicture
from robot_data_platform.video.planes import pad_to, plane_view

if TYPE_CHECKING:
    from robot_data_platform.core.gop import PacketIndex, StreamFormat
    from robot_data_platform.video.decode import Bytes, Frames, GopDecoder

DEPTH_PIX_FMT = "gray16le"
"""How depth maps are stored that are no copies of their source."""


def depth_view(frame: av.VideoFrame) -> DepthPicture:
    """Return a depth frame as (H, W) uint16, sample values as coded, with what pads it.

    It shares the frame's memory, as `plane_view` says, unless the bytes have to be swapped.
    """
    order = ">u2" if frame.format.name.endswith("be") else "<u2"
    samples = plane_view(frame, bytes_per_pixel=2).view(order)
    return samples.astype(np.uint16, copy=False)


def depth_frame(depth: DepthPicture) -> av.VideoFrame:
    """Return a depth map, (H, W) uint16, as a frame of even size, padded as colour is."""
    rows, columns = depth.shape
    frame = av.VideoFrame(columns + columns % 2, rows + rows % 2, DEPTH_PIX_FMT)
    pad_to(plane_view(frame, bytes_per_pixel=2).view("<u2"), depth)
    return frame


def decode_depth(
    decoder: GopDecoder, packets: PacketIndex, data: Bytes, frames: Frames, fmt: StreamFormat
) -> DepthPicture:
    """Return some depth maps of a GOP in the order asked for, repeats included.

    Parameters
    ----------
    decoder : GopDecoder
        Kept by the caller.
    packets, data, frames, fmt
        As in ``GopDecoder.decode``; ``fmt`` is one of depth maps.

    Returns
    -------
    ndarray of uint16, shape (n, H, W)
        Sample values as coded.
    """
    decoded = decoder.decode(packets, data, frames, fmt)
    out = np.empty((len(frames), fmt.height_px, fmt.width_px), np.uint16)
    for at, frame in enumerate(frames.tolist()):
        out[at] = depth_view(decoded[frame])[: fmt.height_px, : fmt.width_px]
    return out


def nearest(depth: DepthPicture, size: tuple[int, int]) -> DepthPicture:
    """Return a depth map in another size: each pixel is the one at its centre, never a mean.

    A mean of two distances lies where nothing is, and one of a distance and "not measured" is
    wrong altogether.

    Parameters
    ----------
    depth : ndarray of uint16, shape (H, W)
        A depth map.
    size : tuple of int
        Height and width of the result.
    """
    rows, columns = (_centres(*lengths) for lengths in zip(depth.shape, size, strict=True))
    return depth[rows[:, None], columns]


def _centres(length: int, new_length: int) -> npt.NDArray[np.int64]:
    """Return which of ``length`` samples lies at the centre of each of ``new_length``."""
    return (2 * np.arange(new_length) + 1) * length // (2 * new_length)
