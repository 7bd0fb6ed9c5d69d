"""What ``inspect`` says of a source: plain values, ready for ``dataclasses.asdict`` and JSON."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_data_platform.core.finding import Finding
from robot_data_platform.core.recording import Int64Array
from robot_data_platform.core.time_base import NS_PER_S


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockReport:
    """How one stream's times run."""

    num_samples: int
    start_ns: int
    end_ns: int
    """Time of the last sample."""
    rate_hz: float | None
    """Mean rate; None for a single sample."""
    jitter_ms: float | None
    """Largest deviation of a step from the median step; None for a single sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalReport:
    """One signal of one episode."""

    name: str
    width: int
    """Dimensions."""
    names: tuple[str, ...] | None
    unit: str | None
    """Of all dimensions; None = not stated, or see ``units``."""
    units: tuple[str | None, ...] | None
    """Of each dimension, where they differ."""
    clock: ClockReport


@dataclass(frozen=True, slots=True, kw_only=True)
class CameraReport:
    """One camera of one episode; sizes and codec are measured, and None for still pictures."""

    name: str
    clock: ClockReport
    codec: str | None = None
    width_px: int | None = None
    height_px: int | None = None
    pix_fmt: str | None = None
    is_depth: bool = False
    """Whether its pictures are depth maps."""
    header_fps: float | None = None
    """Rate that the video's own header states."""
    first_frame: int = 0
    """The episode's first frame in the file."""
    num_frames_in_file: int | None = None
    """Frames shown by the whole file, which episodes may share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeReport:
    """One episode, or why it can't be ingested."""

    source_key: str
    source_episode_index: int | None
    task: str | None = None
    num_rows: int = 0
    """Rows of the fastest signal, which is the row clock."""
    seconds: float = 0.0
    """From the first row to the last."""
    signals: tuple[SignalReport, ...] = ()
    cameras: tuple[CameraReport, ...] = ()
    findings: tuple[Finding, ...] = ()
    refused_kind: str | None = None
    """Error kind where the episode can't be ingested; None = it can."""
    refused_reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceReport:
    """A source at a look, without ingesting it."""

    source: str
    format: str
    episodes: tuple[EpisodeReport, ...]
    findings: tuple[Finding, ...]
    """Contradictions of the source as a whole; each episode has its own besides."""

    @property
    def refused(self) -> tuple[EpisodeReport, ...]:
        """The episodes that can't be ingested."""
        return tuple(e for e in self.episodes if e.refused_kind is not None)


def clock_report(timestamp_ns: Int64Array) -> ClockReport:
    """Return what a column of times shows; ``timestamp_ns`` has shape (N,), N >= 1."""
    steps = np.diff(timestamp_ns)
    span_ns = int(timestamp_ns[-1] - timestamp_ns[0])
    is_single = len(steps) == 0
    return ClockReport(
        num_samples=len(timestamp_ns),
        start_ns=int(timestamp_ns[0]),
        end_ns=int(timestamp_ns[-1]),
        rate_hz=None if is_single else len(steps) * NS_PER_S / span_ns,
        jitter_ms=None if is_single else float(np.abs(steps - np.median(steps)).max()) / 1e6,
    )
