"""All checks of one episode: every GOP is hashed and decoded once, then the rules judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from robot_data_platform.core.finding import Finding
from robot_data_platform.quality.judgement import judge
from robot_data_platform.quality.lag import picture_lag
from robot_data_platform.quality.measurements import EpisodeMeasurements
from robot_data_platform.quality.picture_judgement import driving_signal
from robot_data_platform.quality.row_measurements import measure_rows
from robot_data_platform.quality.stored_episode import StoredEpisode
from robot_data_platform.quality.stream_measurements import measure_stream
from robot_data_platform.quality.thresholds import THRESHOLDS, Thresholds
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.snapshot import Snapshot
from robot_data_platform.video.decode import GopDecoder


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeCheck:
    """Findings of one episode, and the costly measurements they rest on; picklable."""

    episode_index: int
    findings: tuple[Finding, ...]
    """Ordered by rule group, then camera or signal; the same for the same tables."""
    measured: EpisodeMeasurements


def snapshot_at(lake_root: str, dataset: str, versions: Mapping[str, int]) -> Snapshot:
    """Return a dataset at some versions of ``episodes``, ``frames`` and ``gops``.

    Raises
    ------
    NotFoundError
        ``dataset-not-found``, ``version-not-found``.
    """
    lake = Lake(lake_root)
    return Snapshot(
        dataset=dataset,
        episodes=lake.open(dataset, "episodes", versions["episodes"]),
        frames=lake.open(dataset, "frames", versions["frames"]),
        gops=lake.open(dataset, "gops", versions["gops"]),
        splits=None,
        release=None,
    )


def check_episode(
    snapshot: Snapshot,
    stored: StoredEpisode,
    limits: Thresholds = THRESHOLDS,
    known: EpisodeMeasurements | None = None,
) -> EpisodeCheck:
    """Measure an episode unless its measurements are known, and return what the rules find.

    Memory holds the episode's rows, a few blobs, one decoded GOP, and per camera half a second
    of reduced pictures.
    """
    measured = known if known is not None else measure_episode(snapshot, stored)
    return EpisodeCheck(
        episode_index=stored.episode_index,
        findings=tuple(judge(stored, measured, limits)),
        measured=measured,
    )


def measure_episode(snapshot: Snapshot, stored: StoredEpisode) -> EpisodeMeasurements:
    """Hash and decode every GOP of an episode, and fingerprint its rows; no threshold matters."""
    signals, decoder = stored.signals(), GopDecoder()
    streams = tuple(measure_stream(snapshot.gops, stream, decoder) for stream in stored.streams)
    driving, row_ns = driving_signal(signals), stored.timestamp_ns
    lags = [picture_lag(driving, row_ns, s.pictures.motion, s.pictures.pts_ns) for s in streams]
    return EpisodeMeasurements(
        rows=measure_rows(signals, row_ns), streams=streams, lags=tuple(lags)
    )


def fits(known: EpisodeMeasurements, stored: StoredEpisode) -> bool:
    """Return whether measurements are of the very blobs that an episode has."""
    measured = [[gop.sha256 for gop in stream.gops] for stream in known.streams]
    return measured == [[gop.sha256 for gop in stream.gops] for stream in stored.streams]
