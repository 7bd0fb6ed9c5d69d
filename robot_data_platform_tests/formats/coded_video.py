"""Videos and pictures that carry their own number, written and read with PyAV alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import av
import numpy as np
import numpy.typing as npt
from av.video.stream import VideoStream

WIDTH_PX, HEIGHT_PX = 64, 48
BITS = 16
_COLUMNS = 8
_BLOCK_WIDTH = WIDTH_PX // _COLUMNS
_BLOCK_HEIGHT = HEIGHT_PX // (BITS // _COLUMNS)


def coded_picture(code: int) -> npt.NDArray[np.uint8]:
    """Return a picture of 16 black or white blocks that spell ``code``; (48, 64, 3) RGB."""
    bits = [(code >> bit) & 1 for bit in range(BITS)]
    blocks = np.array(bits, dtype=np.uint8).reshape(-1, _COLUMNS) * 255
    gray = blocks.repeat(_BLOCK_HEIGHT, axis=0).repeat(_BLOCK_WIDTH, axis=1)
    return np.repeat(gray[:, :, None], 3, axis=2)


def code_of(picture: npt.NDArray[np.uint8]) -> int:
    """Return the number that a picture spells."""
    centres = picture[_BLOCK_HEIGHT // 2 :: _BLOCK_HEIGHT, _BLOCK_WIDTH // 2 :: _BLOCK_WIDTH, 0]
    return sum(int(value > 127) << bit for bit, value in enumerate(centres.reshape(-1)))


def write_video(path: Path, codes: Iterable[int], fps: int = 30, codec: str = "libx264") -> None:
    """Write an mp4 of coded pictures."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=fps)
        assert isinstance(stream, VideoStream)
        stream.width, stream.height, stream.pix_fmt = WIDTH_PX, HEIGHT_PX, "yuv420p"
        if codec == "libx264":
            stream.options = {"preset": "ultrafast", "crf": "18", "g": "2", "bf": "0"}
        for code in codes:
            frame = av.VideoFrame.from_ndarray(coded_picture(code), format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode())


def video_codes(path: str | Path, first: int, count: int) -> Sequence[int]:
    """Return the numbers that some frames of a video show, decoded from its start."""
    with av.open(str(path)) as container:
        pictures = (frame.to_ndarray(format="rgb24") for frame in container.decode(video=0))
        codes = [code_of(picture.astype(np.uint8, copy=False)) for picture in pictures]
    return codes[first : first + count]
