"""What a camera looks like: a small mean picture and a sharpness, from a few of its pictures.

One picture is taken of each of `SAMPLES` GOPs, evenly spread over the stream: the first one, which
a decoder gives from a single packet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.recording import Picture

SAMPLES = 16
"""Pictures of a stream that are looked at."""
THUMBNAIL_PX = (12, 16)
"""Height and width of the small picture."""
_LINE_STEP = 8
"""Lines from one whose sharpness is measured to the next."""
_FAR_PX = 8
"""Distance over which a blurred edge still rises."""

Thumbnail = npt.NDArray[np.uint8]
"""(12, 16, 3) RGB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamLook:
    """What a stream's sampled pictures look like."""

    thumbnail: Thumbnail | None
    """Median of the small pictures; None = nothing was sampled (depth maps, damaged GOPs)."""
    sharpness: float
    """Median over the pictures of `sharpness`; NaN = not measured."""
    num_sampled: int


def sampled_gops(num_gops: int) -> frozenset[int]:
    """Return the places of the GOPs of which a picture is looked at."""
    count = min(SAMPLES, num_gops)
    return frozenset(np.linspace(0, num_gops - 1, count).round().astype(int).tolist())


@dataclass(slots=True)
class LookMeter:
    """Collects what the sampled pictures look like."""

    _thumbnails: list[Thumbnail] = field(default_factory=list)
    _sharpness: list[float] = field(default_factory=list)

    def add(self, picture: Picture) -> None:
        """Look at one picture, (H, W, 3) uint8 RGB."""
        self._thumbnails.append(thumbnail(picture))
        self._sharpness.append(sharpness(picture[:, :, 1]))

    def look(self) -> StreamLook:
        """Return what all pictures so far come to."""
        return StreamLook(
            thumbnail=_median(self._thumbnails),
            sharpness=float(np.median(self._sharpness)) if self._sharpness else float("nan"),
            num_sampled=len(self._thumbnails),
        )


def _median(thumbnails: Sequence[Thumbnail]) -> Thumbnail | None:
    if not thumbnails:
        return None
    return np.asarray(np.rint(np.median(np.stack(thumbnails), axis=0)), dtype=np.uint8)


def thumbnail(picture: Picture) -> Thumbnail:
    """Return a picture as 12 x 16 means of its parts; small pictures are repeated first."""
    height, width = THUMBNAIL_PX
    repeats = [-(-side // size) for side, size in zip(THUMBNAIL_PX, picture.shape, strict=False)]
    shown = picture.repeat(repeats[0], axis=0).repeat(repeats[1], axis=1)
    down, across = shown.shape[0] // height, shown.shape[1] // width
    lines = shown[: down * height, : across * width].reshape(height, down, -1)
    columns = lines.sum(axis=1, dtype=np.uint32).reshape(height, width, across, 3)
    means = columns.sum(axis=2) / (down * across)
    return np.asarray(np.rint(means), dtype=np.uint8)


def sharpness(grey: Picture) -> float:
    """Return how steep edges are: 1/8 of a sharp step, 1/64 of a slope wider than 8 pixels.

    It is the mean squared difference of neighbours over that of pixels 8 apart, along every eighth
    row and column, the lower of the two: a camera in motion blurs one of them only. NaN of a
    picture without any edge.

    Parameters
    ----------
    grey : ndarray of uint8, shape (H, W)
    """
    lines = (grey[::_LINE_STEP], grey[:, ::_LINE_STEP].T)
    return float(min(_steepness(np.ascontiguousarray(line)) for line in lines))


def _steepness(lines: Picture) -> float:
    wide = lines.astype(np.float32)
    if wide.shape[1] <= _FAR_PX:
        return float("nan")
    near = np.square(wide[:, 1:] - wide[:, :-1]).mean()
    far = np.square(wide[:, _FAR_PX:] - wide[:, :-_FAR_PX]).mean()
    return float(near / far) if far > 0 else float("nan")
