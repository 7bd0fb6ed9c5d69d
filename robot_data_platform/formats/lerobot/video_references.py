"""Rows of LeRobot v1 that name their frame themselves: a video and a time in it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.natural_order import shortened


def video_paths(references: pa.ChunkedArray) -> list[str]:
    """Return every path that some rows name, once, in their order.

    Parameters
    ----------
    references : ChunkedArray of struct<path: string, timestamp: float>, length N
        One camera's column.
    """
    paths = pc.unique(pc.struct_field(references, "path")).to_pylist()
    return [str(path) for path in paths if path is not None]


def referenced_frames(references: pa.ChunkedArray, fps: Fraction, where: str) -> tuple[str, int]:
    """Return the video of an episode, and its first frame there.

    Parameters
    ----------
    references : ChunkedArray of struct<path: string, timestamp: float>, length N
        One camera's column, in the order of the rows.
    fps : Fraction
        Frames per second.
    where : str
        Episode and column, for messages.

    Raises
    ------
    DataFaultError
        ``metadata-contradiction``: rows name several videos, or none. ``row-mismatch``: a row's
        frame does not follow the one before; the message names the row.
    """
    paths = pc.struct_field(references, "path")
    seconds = pc.struct_field(references, "timestamp")
    if len(pc.unique(paths)) != 1 or paths.null_count or seconds.null_count:
        raise _no_single_video(video_paths(references), where)
    frames = _frames(seconds.cast(pa.float64()).to_numpy(), fps)
    wrong = np.flatnonzero(frames != frames[0] + np.arange(len(frames)))
    if len(wrong) or frames[0] < 0:
        row = int(wrong[0]) if len(wrong) else 0
        raise DataFaultError(
            f"{where} names frames out of order: got frame {frames[row]:.0f} at row {row}, "
            f"expected frame {max(frames[0], 0) + row:.0f}. Correct the column's times.",
            kind=ErrorKind.ROW_MISMATCH,
            row=row,
        )
    return str(paths[0].as_py()), int(frames[0])


def _frames(seconds: npt.NDArray[np.float64], fps: Fraction) -> npt.NDArray[np.float64]:
    frames: npt.NDArray[np.float64] = np.rint(seconds * float(fps))
    return frames


def _no_single_video(paths: Sequence[str], where: str) -> DataFaultError:
    return DataFaultError(
        f"{where} does not name one video in all rows: got {len(paths)} ({shortened(paths, 3)}), "
        "expected 1 and no null. Write the episode's frames to one video.",
        kind=ErrorKind.METADATA_CONTRADICTION,
        num_videos=len(paths),
    )
