"""What every format reader yields for one episode, whatever the file format was."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.calibration import CameraCalibration
from robot_data_platform.core.finding import Finding

Int64Array = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float32] | npt.NDArray[np.float64]
Picture = npt.NDArray[np.uint8]
DepthPicture = npt.NDArray[np.uint16]
AnyPicture = Picture | DepthPicture

STATE = "observation_state"
"""Name of the signal that holds the robot's measured state."""
ACTION = "action"
"""Name of the signal that holds the commanded action."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeRef:
    """Where one episode lies in a source, without having read it."""

    source_key: str
    """Stable, unique within the upload (``episode_000029``, ``demo_10.hdf5``)."""
    source_episode_index: int | None = None
    """The source's own episode number, where it has one."""
    files: tuple[str, ...] = ()
    """Relative paths of every file the episode is read from, sorted."""
    num_rows_claimed: int | None = None
    """Rows that the source's metadata promises; nothing here was counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """One vector signal at its own rate."""

    name: str
    """Column name in ``frames``: ``observation_state``, ``action``, ``observation_<name>``."""
    timestamp_ns: Int64Array
    """(N,) int64, ns of ``clock``, as recorded."""
    values: FloatArray
    """(N, D) float32, or float64 where the source has it (rows store float32)."""
    names: tuple[str, ...] | None = None
    """D names of the dimensions, or None where the source names none."""
    unit: str | None = None
    """Unit of all values (``rad``, ``percent`` ...); None = not stated, or see ``units``."""
    units: tuple[str | None, ...] | None = None
    """D units where they differ; None = all are of ``unit``."""
    limits: tuple[tuple[float, float] | None, ...] | None = None
    """D lowest and highest values that the source declares, in the unit; None = not declared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoSegment:
    """Consecutive shown frames of a video file."""

    path: str
    """Local path of the file."""
    first_frame: int
    """First wanted frame, 0-based, counted over shown frames in presentation order."""
    num_frames: int
    """Frames that the episode refers to."""
    is_last: bool = False
    """Whether no other episode refers to frames after these: what is left of the file then
    belongs to no row. False where that is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureSequence:
    """Pictures that are not a video: JPEG rows, PNG files, raw arrays."""

    num_frames: int
    read: Callable[[], Iterator[AnyPicture]]
    """Yields ``num_frames`` pictures in order, one at a time: each (H, W, 3) uint8 RGB, or
    (H, W) uint16 of depth."""
    is_depth: bool = False
    """Whether they are depth maps; 0 = not measured, as depth cameras have it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CameraStream:
    """One camera's pictures with the time of each."""

    name: str
    """Camera name, ``[a-z0-9_]+`` (``top``, ``left_wrist``)."""
    timestamp_ns: Int64Array
    """(F,) int64 ns, when each picture was taken, on the clock of the signals."""
    pictures: VideoSegment | PictureSequence
    calibration: CameraCalibration | None = None
    """What the data says of lens and place; None = nothing."""
    depth_unit_m: float | None = None
    """Metres per unit of depth maps; None = not stated, or no depth maps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A label that holds for ``start_ns <= t < end_ns``."""

    start_ns: int
    end_ns: int
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One episode, lazily: signals are in memory, pictures are read on demand."""

    ref: EpisodeRef
    signals: tuple[Signal, ...]
    cameras: tuple[CameraStream, ...]
    task: str | None
    robot: str | None
    instructions: tuple[Interval, ...] = ()
    """Language instruction by time; empty = the task text holds throughout."""
    sources: tuple[Interval, ...] = ()
    """Who drove: ``human``, ``policy`` or ``intervention`` by time; empty = not stated."""
    findings: tuple[Finding, ...] = ()
    """Contradictions seen while reading."""
    metadata: Mapping[str, str] = field(default_factory=dict)
    """Whatever else the source says of the episode, as text."""
