"""Episode folders of a raw log that a profile describes by patterns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from robot_data_platform.formats.natural_order import natural_key
from robot_data_platform.formats.profile import PROFILE_FILE
from robot_data_platform.formats.rawlog.folders import EpisodeFolder, sort_labels_in
from robot_data_platform.formats.rawlog_keys import Rawlog

WHOLE_SOURCE = "."
"""Pattern that says that the source is one episode."""


def stated_folders(files: Iterable[str], rawlog: Rawlog) -> tuple[list[EpisodeFolder], list[str]]:
    """Return the episode folders among some files, and the files that belong to none.

    A folder in which no signal, camera or ``episode.json`` lies is no episode.
    """
    episode = _pattern(rawlog.episodes)
    signals = {name: _pattern(signal.path) for name, signal in rawlog.signals.items()}
    cameras = {name: _pattern(path) for name, path in rawlog.cameras.items()}
    folders: dict[str, EpisodeFolder] = {}
    outside: list[str] = []
    for path in files:
        name, inside = _split(path, episode, rawlog.episodes)
        folder = folders.setdefault(name, EpisodeFolder(name=name)) if inside else None
        if folder is not None:
            _sort_in(folder, path, inside, signals, cameras)
        elif path != PROFILE_FILE:
            outside.append(path)
    found = [folder for folder in folders.values() if folder.files]
    outside += [path for folder in folders.values() if not folder.files for path in folder.others]
    return sorted(found, key=lambda folder: natural_key(folder.name)), outside


def _split(path: str, episode: re.Pattern[str], stated: str) -> tuple[str, str]:
    """Return the episode folder that a file is in, and its path there; nothing where it isn't."""
    if stated == WHOLE_SOURCE:
        return WHOLE_SOURCE, "" if path == PROFILE_FILE else path
    found = episode.match(path + "/")
    if found is None or not path[found.end() :].startswith("/"):
        return "", ""
    return found.group(), path[found.end() + 1 :]


def _sort_in(
    folder: EpisodeFolder,
    path: str,
    inside: str,
    signals: Mapping[str, re.Pattern[str]],
    cameras: Mapping[str, re.Pattern[str]],
) -> None:
    of_signals = [name for name, pattern in signals.items() if pattern.fullmatch(inside)]
    of_cameras = [name for name, pattern in cameras.items() if pattern.fullmatch(inside)]
    for name in of_signals:
        folder.signals.setdefault(name, []).append(path)
    for name in of_cameras:
        folder.pictures.setdefault(name, []).append(path)
    if not of_signals and not of_cameras and not sort_labels_in(folder, path, inside):
        folder.others.append(path)


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile("[^/]*".join(re.escape(part) for part in text.strip("/").split("*")))
