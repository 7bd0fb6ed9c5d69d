"""All checks of one episode: every GOP is hashed and decoded once, then the rules judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from robot_data_platform.core.finding import Finding
from robot_data_platform.quality.judgement import judge
from robot_data_platform.quality.stored_episode import read_episode
from robot_data_platform.quality.stream_measurements import StreamMeasurements, measure_stream
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
    streams: tuple[StreamMeasurements, ...]


def check_episode_at(
    lake_root: str, dataset: str, versions: Mapping[str, int], episode_index: int
) -> EpisodeCheck:
    """Check one episode, given only where it is: for workers in other processes.

    Parameters
    ----------
    lake_root : str
        Root of the lake.
    dataset : str
        Dataset of the episode.
    versions : mapping of str to int
        Version of ``episodes``, ``frames`` and ``gops``.
    episode_index : int
        Index of an ingestion of the episode.

    Raises
    ------
    NotFoundError
        ``dataset-not-found``, ``version-not-found``, ``episode-not-found``.
    """
    lake = Lake(lake_root)
    snapshot = Snapshot(
        dataset=dataset,
        episodes=lake.open(dataset, "episodes", versions["episodes"]),
        frames=lake.open(dataset, "frames", versions["frames"]),
        gops=lake.open(dataset, "gops", versions["gops"]),
        splits=None,
        release=None,
    )
    return check_episode(snapshot, episode_index)


def check_episode(
    snapshot: Snapshot, episode_index: int, limits: Thresholds = THRESHOLDS
) -> EpisodeCheck:
    """Hash and decode every GOP of an episode, and return what the rules find.

    Memory holds the episode's rows, a few blobs, one decoded GOP, and per camera half a second
    of reduced pictures.

    Raises
    ------
    NotFoundError
        ``episode-not-found``.
    """
    stored = read_episode(snapshot, episode_index)
    decoder = GopDecoder()
    streams = tuple(
        measure_stream(snapshot.gops, stream, decoder, limits) for stream in stored.streams
    )
    return EpisodeCheck(
        episode_index=episode_index,
        findings=tuple(judge(stored, streams, limits)),
        streams=streams,
    )
