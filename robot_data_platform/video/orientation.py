"""Display orientation: how a picture must be turned before it is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import av
    from av.sidedata.sidedata import SideDataContainer

Sample = TypeVar("Sample", bound=np.generic)


@dataclass(frozen=True, slots=True, kw_only=True)
class Orientation:
    """One of the eight ways to show a picture: transpose first, then mirror."""

    is_transposed: bool = False
    is_flipped_vertically: bool = False
    is_flipped_horizontally: bool = False

    @property
    def is_upright(self) -> bool:
        """Whether the picture is shown as it is coded."""
        return self == Orientation()

    def apply(self, plane: npt.NDArray[Sample]) -> npt.NDArray[Sample]:
        """Return a view of a plane, (H, W) or (H, W, C), as it must be shown."""
        if self.is_transposed:
            plane = plane.swapaxes(0, 1)
        rows = -1 if self.is_flipped_vertically else 1
        columns = -1 if self.is_flipped_horizontally else 1
        return plane[::rows, ::columns]


def orientation_of(frame: av.VideoFrame) -> Orientation | None:
    """Return how a decoded frame must be turned; None where it is no quarter turn or mirror.

    References
    ----------
    FFmpeg, ``libavutil/display.h``: a point (p, q) of the coded picture is shown at
    (a p + c q, b p + d q), where the matrix is ``a b u c d v x y w`` in 16.16 fixed point.
    """
    # PyAV's types know one kind of side data only.
    side_data = cast("SideDataContainer", frame.side_data)
    if "DISPLAYMATRIX" not in side_data:
        return Orientation()
    matrix = np.frombuffer(bytes(side_data["DISPLAYMATRIX"]), np.int32)
    a, b, _, c, d = np.sign(matrix[:5]).tolist()
    match (a, b, c, d):
        case (_, 0, 0, _) if a and d:
            return Orientation(is_flipped_vertically=d < 0, is_flipped_horizontally=a < 0)
        case (0, _, _, 0) if b and c:
            return Orientation(
                is_transposed=True, is_flipped_vertically=b < 0, is_flipped_horizontally=c < 0
            )
        case _:
            return None
