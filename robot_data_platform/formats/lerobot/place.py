"""Where one episode of a LeRobot dataset lies, and how a dataset version says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from robot_data_platform.core.finding import Finding
from robot_data_platform.core.recording import EpisodeRef
from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.lerobot.row_source import RowSource
from robot_data_platform.formats.protocol import EpisodeListing

DATA_SUFFIX = ".parquet"
VIDEO_SUFFIX = ".mp4"
ROW_SUFFIXES = (DATA_SUFFIX, ".arrow")
"""Files of rows; Arrow streams are version 1's."""
META_FOLDER = "meta/"
META_FOLDERS = (META_FOLDER, "meta_data/")
"""Folders of metadata; the second is version 1's."""
_MANIFEST_SUFFIX = ".manifest"


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoPlace:
    """The frames of an episode in one camera's files."""

    path: str
    """Relative path of the video, as the template gives it."""
    first_frame: int
    """Number in the file of the episode's first frame."""
    is_last: bool
    """Whether no other episode has frames after these in the file."""
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

    def rows(self, source: Source, ref: EpisodeRef) -> RowSource:
        """Return an episode's rows."""

    def local_video(self, source: Source, path: str) -> str:
        """Return a local path of the video at ``VideoPlace.path``."""


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
    rows = (f for f in ref.files if f.endswith(ROW_SUFFIXES))
    return tuple(f for f in rows if not f.startswith(META_FOLDER))


def meta_files(ref: EpisodeRef) -> tuple[str, ...]:
    """Return the files that say what the dataset is made of, as far as the episode needs it."""
    return tuple(f for f in ref.files if f.startswith(META_FOLDERS) or f.endswith(_MANIFEST_SUFFIX))
