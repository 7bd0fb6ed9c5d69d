"""Which frames of a video that several episodes share belong to each of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import Int64Array
from robot_data_platform.errors import DataFaultError, ErrorKind


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedVideo:
    """The episodes in one video file, in the order of their frames."""

    path: str
    episode_index: Int64Array
    """(E,) each episode's own number."""
    num_rows: Int64Array
    """(E,) rows, hence frames, that each episode refers to."""
    first_by_time: Int64Array
    """(E,) first frame, from ``from_timestamp`` in whole frames."""
    first_by_absolute_time: Int64Array
    """(E,) the same with each ``from_timestamp`` rounded on its own: shows drift."""

    first_by_count: Int64Array
    """(E,) first frame where the episodes lie end to end with nothing between them."""
    is_consistent: bool
    """Whether times and counts agree everywhere in the file."""

    def is_last(self, episode_index: int) -> bool:
        """Return whether an episode has the last frames of the file that any episode has."""
        return int(self.episode_index[-1]) == episode_index


def share_video(
    path: str,
    episode_index: Int64Array,
    num_rows: Int64Array,
    from_timestamp_s: npt.NDArray[np.float64],
    fps: Fraction,
) -> SharedVideo:
    """Return the episodes of a video with their first frames as whole numbers.

    ``from_timestamp`` is a running sum of floats and drifts, so only the steps from one episode
    to the next are taken from it, each rounded to whole frames, and summed as integers.

    Parameters
    ----------
    path : str
        The video, for messages.
    episode_index, num_rows : ndarray of int64, shape (E,)
        In any order.
    from_timestamp_s : ndarray of float64, shape (E,)
        Where each episode starts, in seconds; in any order.
    fps : Fraction
        Frames per second.

    Returns
    -------
    SharedVideo
        In the order of the frames.

    References
    ----------
    huggingface/lerobot, issue 3177, "from_timestamp drifts".
    """
    order = np.lexsort((episode_index, from_timestamp_s))
    start_s = from_timestamp_s[order]
    steps = np.rint(np.diff(start_s) * float(fps)).astype(np.int64)
    absolute = np.rint(start_s * float(fps)).astype(np.int64)
    by_time = absolute[0] + np.concatenate([[0], np.cumsum(steps)]).astype(np.int64)
    by_count = absolute[0] + np.cumsum(num_rows[order]) - num_rows[order]
    return SharedVideo(
        path=path,
        episode_index=episode_index[order],
        num_rows=num_rows[order],
        first_by_time=by_time,
        first_by_absolute_time=absolute,
        first_by_count=by_count,
        is_consistent=np.array_equal(by_time, by_count),
    )


def first_frame(
    video: SharedVideo, episode_index: int, count_frames: Callable[[], int]
) -> tuple[int, tuple[Finding, ...]]:
    """Return an episode's first frame in a shared video, and what contradicts it.

    Where time and frame counts disagree somewhere in the file, the file decides: if the episodes'
    rows are exactly its frames, the counts are right; if it has others, the times are.

    Parameters
    ----------
    video : SharedVideo
        The file's episodes.
    episode_index : int
        One of them.
    count_frames : callable
        Counts the frames in the file; only called where the metadata contradicts itself.

    Returns
    -------
    first_frame : int
        0-based.
    findings : tuple of Finding
        Frames that no row refers to; starts that drifted.

    Raises
    ------
    DataFaultError
        ``metadata-contradiction``: by its times the episode overlaps a neighbour, and the counts
        don't fill the file either.
    """
    k = int(np.flatnonzero(video.episode_index == episode_index)[0])
    if video.is_consistent:
        return int(video.first_by_time[k]), _drift(video, k, int(video.first_by_time[k]))
    num_frames = count_frames()
    if video.first_by_time[0] == 0 and num_frames == video.num_rows.sum():
        first = int(video.first_by_count[k])
        return first, _drift(video, k, first)
    _check_no_overlap(video, k, num_frames)
    first = int(video.first_by_time[k])
    return first, (*_drift(video, k, first), *_unreferenced(video, k))


def _check_no_overlap(video: SharedVideo, k: int, num_frames: int) -> None:
    ends = video.first_by_time + video.num_rows
    for a, b in ((k - 1, k), (k, k + 1)):
        if a >= 0 and b < len(ends) and ends[a] > video.first_by_time[b]:
            raise DataFaultError(
                f"Episode {video.episode_index[k]} has unknown frames in {video.path!r}: got "
                f"episode {video.episode_index[a]} up to frame {ends[a]} and episode "
                f"{video.episode_index[b]} from frame {video.first_by_time[b]} by their "
                f"from_timestamp, expected no overlap ({video.num_rows.sum()} rows in all, "
                f"{num_frames} frames in the file). Correct the episodes' metadata.",
                kind=ErrorKind.METADATA_CONTRADICTION,
                episode_index=int(video.episode_index[k]),
                path=video.path,
            )


def _drift(video: SharedVideo, k: int, first: int) -> tuple[Finding, ...]:
    off = int(video.first_by_absolute_time[k]) - first
    if off == 0:
        return ()
    drift = Finding(
        rule="video_start_matches_frame_count",
        severity=Severity.WARN,
        message=(
            f"from_timestamp of episode {video.episode_index[k]} points {off} frames away in "
            f"{video.path!r}: got frame {first + off}, expected {first} by whole frame counts, "
            "which was used."
        ),
        where=video.path,
        value=off,
        threshold=0,
        unit="frames",
    )
    return (drift,)


def _unreferenced(video: SharedVideo, k: int) -> tuple[Finding, ...]:
    if k + 1 == len(video.num_rows):
        return ()
    extra = int(video.first_by_time[k + 1] - video.first_by_time[k] - video.num_rows[k])
    if extra == 0:
        return ()
    # Frames of episodes that were taken out of the metadata are no fault of this one.
    is_next = int(video.episode_index[k + 1]) == int(video.episode_index[k]) + 1
    finding = Finding(
        rule="video_frames_are_referenced",
        severity=Severity.WARN if is_next else Severity.INFO,
        message=(
            f"{extra} frames of {video.path!r} between episodes {video.episode_index[k]} and "
            f"{video.episode_index[k + 1]} belong to no row: got {video.num_rows[k] + extra} "
            f"frames for {video.num_rows[k]} rows. They were left out."
        ),
        where=video.path,
        value=extra,
        threshold=0,
        unit="frames",
    )
    return (finding,)
