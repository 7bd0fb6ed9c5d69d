"""The contract of a file format: recognise a source, list its episodes, read one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from robot_data_platform.core.finding import Finding
from robot_data_platform.core.recording import EpisodeRef, Recording
from robot_data_platform.core.source import Source
from robot_data_platform.formats.profile import Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredCamera:
    """What a source's metadata claims of one camera; nothing here was measured."""

    codec: str | None = None
    """Codec as the metadata spells it (``av1``, ``h264``)."""
    width_px: int | None = None
    height_px: int | None = None
    fps: float | None = None
    """Pictures per second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeListing:
    """Every episode of a source that there is something to read of."""

    episodes: tuple[EpisodeRef, ...]
    """In source order; numbers in names sort as numbers."""
    findings: tuple[Finding, ...] = ()
    """Contradictions of the source as a whole; those of one episode come with its recording."""
    declared_cameras: Mapping[str, DeclaredCamera] = field(default_factory=dict)
    """By camera name, as in the recordings before the profile renames any."""


class Format(Protocol):
    """One way in which robots record episodes.

    An implementation keeps no state: any process may call ``read`` with a ``ref`` that another
    one listed, and gets the same recording.
    """

    @property
    def name(self) -> str:
        """Stable name, as ``--format`` takes it."""

    @property
    def marker(self) -> str:
        """What ``sniff`` looks for, for the message that no format fits."""

    def sniff(self, source: Source) -> bool:
        """Return whether the source is of this format, from names and magic bytes; cheap."""

    def list_episodes(self, source: Source, profile: Profile) -> EpisodeListing:
        """Return the episodes and the contradictions of the source, without reading rows.

        A broken episode is listed all the same, and ``read`` tells what is wrong with it; or a
        finding names it, where nothing of it is there to read.

        Raises
        ------
        DataFaultError
            The source as a whole can't be read: its central metadata is missing or broken.
        InvalidInputError
            ``invalid-profile``: the profile lacks something that this format needs.
        """

    def read(self, source: Source, ref: EpisodeRef, profile: Profile) -> Recording:
        """Return one listed episode: signals in memory, pictures read on demand.

        Raises
        ------
        DataFaultError
            The episode can't be read truthfully; the message names the file and the reason.
        InvalidInputError
            ``invalid-profile``: the profile lacks something that this format needs.
        """
