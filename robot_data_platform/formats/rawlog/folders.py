"""Episode folders of a rawlog source: which file is what."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from robot_data_platform.formats.natural_order import natural_key

_EPISODE = re.compile(r"episodes/([^/]+)/(.+)")
_SIGNAL = re.compile(r"signals/([^/]+)\.(?:parquet|csv)")
_VIDEO = re.compile(r"cameras/([^/]+)\.mp4")
_TIMES = re.compile(r"cameras/([^/]+)\.timestamps\.json")
_PICTURE = re.compile(r"cameras/([^/]+)/-?\d+\.(?:jpe?g|png)")
EPISODE_FILE = "episode.json"
EVENTS_FILE = "events.json"


@dataclass(slots=True, kw_only=True)
class EpisodeFolder:
    """The files of one episode, as paths relative to the source."""

    name: str
    episode: str | None = None
    events: str | None = None
    signals: dict[str, list[str]] = field(default_factory=dict)
    """By file name without suffix; more than one where parquet and csv lie side by side."""
    videos: dict[str, str] = field(default_factory=dict)
    """By camera."""
    timestamps: dict[str, str] = field(default_factory=dict)
    """By camera."""
    pictures: dict[str, list[str]] = field(default_factory=dict)
    """By camera."""
    others: list[str] = field(default_factory=list)
    """Files that the layout doesn't know."""

    @property
    def files(self) -> tuple[str, ...]:
        """Every file that the episode is read from, sorted."""
        singles = [path for path in (self.episode, self.events) if path is not None]
        lists = (*self.signals.values(), *self.pictures.values())
        several = [path for paths in lists for path in paths]
        videos = [*self.videos.values(), *self.timestamps.values()]
        return tuple(sorted({*singles, *several, *videos}))


def episode_folders(files: Iterable[str]) -> list[EpisodeFolder]:
    """Return the episode folders among some files, in natural order of their names."""
    folders: dict[str, EpisodeFolder] = {}
    for path in files:
        found = _EPISODE.fullmatch(path)
        if found:
            name, inside = found.groups()
            _sort_in(folders.setdefault(name, EpisodeFolder(name=name)), path, inside)
    return sorted(folders.values(), key=lambda folder: natural_key(folder.name))


def sort_labels_in(folder: EpisodeFolder, path: str, inside: str) -> bool:
    """Return whether a file is the episode's own json or its events, after putting it there."""
    if inside == EPISODE_FILE:
        folder.episode = path
    elif inside == EVENTS_FILE:
        folder.events = path
    else:
        return False
    return True


def _sort_in(folder: EpisodeFolder, path: str, inside: str) -> None:
    if sort_labels_in(folder, path, inside):
        return
    if signal := _SIGNAL.fullmatch(inside):
        folder.signals.setdefault(signal.group(1), []).append(path)
    elif video := _VIDEO.fullmatch(inside):
        folder.videos[video.group(1)] = path
    elif times := _TIMES.fullmatch(inside):
        folder.timestamps[times.group(1)] = path
    elif picture := _PICTURE.fullmatch(inside):
        folder.pictures.setdefault(picture.group(1), []).append(path)
    else:
        folder.others.append(path)
