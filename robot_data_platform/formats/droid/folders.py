"""Episode folders of a DROID source: which file is what."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from robot_data_platform.formats.natural_order import natural_key

TRAJECTORY = "trajectory.h5"
_SIGN = re.compile(r"(?:(.+)/)?(?:trajectory\.h5|recordings/(?:MP4|SVO)/[^/]+)")
_METADATA = re.compile(r"metadata_[^/]*\.json")
_VIDEO = re.compile(r"recordings/MP4/([^/]+)\.mp4")


@dataclass(slots=True, kw_only=True)
class EpisodeFolder:
    """The files of one episode, as paths relative to the source."""

    path: str
    """The folder; empty for the source itself."""
    trajectory: str | None = None
    metadata: list[str] = field(default_factory=list)
    videos: dict[str, str] = field(default_factory=dict)
    """By file name without suffix: ``<serial>``, ``<serial>-stereo``."""
    others: list[str] = field(default_factory=list)
    """Files that are not read: SVO recordings, time stamps of videos, ..."""

    @property
    def key(self) -> str:
        """Path that the episode's trajectory has, or should have."""
        return f"{self.path}/{TRAJECTORY}" if self.path else TRAJECTORY

    @property
    def files(self) -> tuple[str, ...]:
        """Every file that the episode is read from, sorted."""
        trajectory = [] if self.trajectory is None else [self.trajectory]
        return tuple(sorted([*trajectory, *self.metadata, *self.videos.values()]))


def episode_folders(files: Iterable[str]) -> tuple[list[EpisodeFolder], list[str]]:
    """Return the episode folders among some files, in natural order, and the files in none.

    A folder counts by its trajectory, or by recordings that have lost theirs.
    """
    paths = list(files)
    folders = {
        found.group(1) or "": EpisodeFolder(path=found.group(1) or "")
        for path in paths
        if (found := _SIGN.fullmatch(path))
    }
    outside = [path for path in paths if not _sorted_in(folders, path)]
    return sorted(folders.values(), key=lambda folder: natural_key(folder.path)), outside


def _sorted_in(folders: dict[str, EpisodeFolder], path: str) -> bool:
    """Put a file into the innermost episode folder around it; False where there is none."""
    for parent in PurePosixPath(path).parents:
        name = "" if str(parent) == "." else str(parent)
        if name in folders:
            _sort_in(folders[name], path, path.removeprefix(name).removeprefix("/"))
            return True
    return False


def _sort_in(folder: EpisodeFolder, path: str, inside: str) -> None:
    if inside == TRAJECTORY:
        folder.trajectory = path
    elif _METADATA.fullmatch(inside):
        folder.metadata.append(path)
    elif video := _VIDEO.fullmatch(inside):
        folder.videos[video.group(1)] = path
    else:
        folder.others.append(path)
