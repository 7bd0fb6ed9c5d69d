"""Where one episode of a LeRobot dataset lies, and how a dataset version says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from robot_data_platform.core.finding import Finding
from robot_data_platform.core.recording import EpisodeRef
from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.protocol import EpisodeListing

DATA_SUFFIX = ".parquet"
META_FOLDER = "meta/"


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoPlace:
    """The frames of an episode in one camera's files."""

    path: str
    """Relative path of the video."""
    first_frame: int
    """Number in the file of the episode's first frame."""
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodePlace:
    """Everything the metadata says of one episode."""

    episode_index: int
    num_rows_claimed: int | None
    tasks: tuple[str, ...]
    """Task texts that the episode's own metadata lists, in no stated order."""
    videos: Mapping[str, VideoPlace]
    """By feature key; cameras of which the dataset holds no file are left out."""
    metadata: Mapping[str, str] = field(default_factory=dict)
    """Fields that LeRobot doesn't define, as text."""
    findings: tuple[Finding, ...] = ()


class Layout(Protocol):
    """How one version of LeRobot's format lays out its episodes."""

    def list_episodes(self, source: Source, files: frozenset[str]) -> EpisodeListing:
        """Return the episodes that have data files, and what contradicts itself."""

    def place(self, source: Source, ref: EpisodeRef) -> EpisodePlace:
        """Return where an episode lies."""


def source_key(episode_index: int) -> str:
    """Return the stable key of an episode within its upload."""
    return f"episode_{episode_index:06d}"


def index_of(ref: EpisodeRef) -> int:
    """Return the episode's own number, which every listed episode has."""
    if ref.source_episode_index is None:
        raise DataFaultError(
            f"Episode {ref.source_key!r} has no number: got None, expected the episode_index that "
            "`list_episodes` returns. List the source again.",
            kind=ErrorKind.METADATA_CONTRADICTION,
        )
    return ref.source_episode_index


def data_files(ref: EpisodeRef) -> tuple[str, ...]:
    """Return the files that hold the episode's rows."""
    return tuple(f for f in ref.files if f.endswith(DATA_SUFFIX) and not f.startswith(META_FOLDER))


def meta_files(ref: EpisodeRef) -> tuple[str, ...]:
    """Return the metadata files that the episode is read from."""
    return tuple(f for f in ref.files if f.startswith(META_FOLDER))
