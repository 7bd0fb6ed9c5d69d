"""The rawlog format behind the ``Format`` protocol."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from robot_data_platform.core.recording import EpisodeRef, Recording
from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError
from robot_data_platform.formats.json_files import read_json
from robot_data_platform.formats.natural_order import last_number
from robot_data_platform.formats.profile import Profile
from robot_data_platform.formats.protocol import EpisodeListing
from robot_data_platform.formats.rawlog.episode import read_folder
from robot_data_platform.formats.rawlog.folders import (
    EPISODE_FILE,
    EpisodeFolder,
    episode_folders,
)
from robot_data_platform.formats.rawlog.stated_folders import stated_folders
from robot_data_platform.formats.statements import apply_profile
from robot_data_platform.formats.unread_files import unread_files


class RawlogFormat:
    """One folder per episode: below ``episodes/``, or where the profile says."""

    name = "rawlog"
    marker = f"episodes/<name>/{EPISODE_FILE}, or episodes/<name>/signals/*.parquet or *.csv"

    def sniff(self, source: Source) -> bool:
        """Return whether a folder below ``episodes/`` has a file of the layout, by names alone."""
        folders = episode_folders(source.list_files())
        return any(folder.episode is not None or folder.signals for folder in folders)

    def list_episodes(self, source: Source, profile: Profile) -> EpisodeListing:
        """Return one episode per folder, in the natural order of their names."""
        folders, outside = _folders(source.list_files(), profile)
        unknown = [*outside, *(path for folder in folders for path in folder.others)]
        return EpisodeListing(
            episodes=tuple(_ref(source, folder) for folder in folders if folder.files),
            findings=tuple(unread_files(unknown, "which the layout does not know")),
        )

    def read(self, source: Source, ref: EpisodeRef, profile: Profile) -> Recording:
        """Return one folder's episode, as ``read_folder`` does."""
        subject = f"Episode {ref.source_key!r} of {source.label!r}"
        ((folder,), _) = _folders(ref.files, profile)
        return apply_profile(read_folder(source, ref, folder, profile, subject), profile)


def _folders(files: Iterable[str], profile: Profile) -> tuple[list[EpisodeFolder], list[str]]:
    """Return the episode folders, and files outside that a stated layout doesn't know."""
    if profile.rawlog is not None:
        return stated_folders(files, profile.rawlog)
    return episode_folders(files), []


def _ref(source: Source, folder: EpisodeFolder) -> EpisodeRef:
    return EpisodeRef(
        source_key=folder.name,
        source_episode_index=_index(source, folder),
        files=folder.files,
    )


def _index(source: Source, folder: EpisodeFolder) -> int | None:
    if folder.episode is None:
        return last_number(PurePosixPath(folder.name).name)
    try:
        index = read_json(source, folder.episode).get("episode_index")
    except DataFaultError:
        return None  # reading the episode says what is wrong with it
    return index if type(index) is int else None
