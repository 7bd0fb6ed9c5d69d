"""The containers of robot messages behind the ``Format`` protocol."""

from __future__ import annotations

from robot_data_platform.core.recording import EpisodeRef, Recording
from robot_data_platform.core.source import Source
from robot_data_platform.formats.profile import Profile
from robot_data_platform.formats.protocol import EpisodeListing
from robot_data_platform.formats.ros.bag_metadata import METADATA_FILE, ROOT_KEY, is_bag_metadata
from robot_data_platform.formats.ros.listing import list_recordings
from robot_data_platform.formats.ros.recording import read_recording
from robot_data_platform.formats.ros.recording_files import BAGS, MCAP, SQLITE
from robot_data_platform.formats.statements import apply_profile


class _Messages:
    """What the three formats share: an episode is one recording, in one file or several."""

    suffixes: tuple[str, ...]
    """Ends of the names of files that hold messages."""

    def list_episodes(self, source: Source, profile: Profile) -> EpisodeListing:
        """Return one episode per recording, in natural order; only ``metadata.yaml`` is opened."""
        return list_recordings(source, self.suffixes)

    def read(self, source: Source, ref: EpisodeRef, profile: Profile) -> Recording:
        """Return one recording's episode; every topic keeps its own times.

        Raises
        ------
        DataFaultError
            ``missing-file``, ``unreadable-file``, ``no-rows``, ``shape-mismatch``,
            ``metadata-contradiction``, ``time-not-increasing``, ``video-unreadable``.
        InvalidInputError
            ``invalid-profile``: the profile makes something of a topic that it is not.
        """
        return apply_profile(read_recording(source, ref, profile), profile)


class Rosbag2Format(_Messages):
    """ROS 2 recordings: SQLite or MCAP files, with ``metadata.yaml`` or without."""

    name = "rosbag2"
    marker = f"{METADATA_FILE} with {ROOT_KEY}, or *{SQLITE}"
    suffixes = (SQLITE, MCAP)

    def sniff(self, source: Source) -> bool:
        """Return whether there is a SQLite file, or metadata of a recording."""
        files = source.list_files()
        return any(f.endswith(SQLITE) or is_bag_metadata(source, f) for f in files)


class McapFormat(_Messages):
    """MCAP files: messages of ROS 2, ROS 1, protobuf and JSON."""

    name = "mcap"
    marker = f"*{MCAP}, without what marks rosbag2"
    suffixes = (MCAP,)

    def sniff(self, source: Source) -> bool:
        """Return whether there is an MCAP file that is no part of a rosbag2 recording."""
        has_mcap = any(path.endswith(MCAP) for path in source.list_files())
        return has_mcap and not Rosbag2Format().sniff(source)


class Rosbag1Format(_Messages):
    """ROS 1 bags, also those that a killed recorder left behind."""

    name = "rosbag1"
    marker = " or ".join(f"*{suffix}" for suffix in BAGS)
    suffixes = BAGS

    def sniff(self, source: Source) -> bool:
        """Return whether there is a file with a bag's name."""
        return any(path.endswith(BAGS) for path in source.list_files())
