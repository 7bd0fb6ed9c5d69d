"""The DROID format behind the ``Format`` protocol."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from robot_data_platform.core.recording import EpisodeRef, Recording, Signal
from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.data_files import unreadable
from robot_data_platform.formats.droid.cameras import read_cameras
from robot_data_platform.formats.droid.clock import row_times
from robot_data_platform.formats.droid.contents import (
    ACTION_PATH,
    STATE_PATH,
    UNITS,
    left_out_facts,
    moving_cameras,
    sort_contents,
)
from robot_data_platform.formats.droid.declared import read_declared
from robot_data_platform.formats.droid.folders import (
    TRAJECTORY,
    EpisodeFolder,
    episode_folders,
)
from robot_data_platform.formats.hdf5_files import open_hdf5
from robot_data_platform.formats.hdf5_members import datasets_below, names_dataset
from robot_data_platform.formats.hdf5_process import has_layout, read_apart
from robot_data_platform.formats.hdf5_signals import check_signals, is_vector, read_signals
from robot_data_platform.formats.natural_order import shortened
from robot_data_platform.formats.profile import PROFILE_FILE, Profile
from robot_data_platform.formats.protocol import EpisodeListing
from robot_data_platform.formats.statements import apply_profile
from robot_data_platform.formats.timing import check_rows
from robot_data_platform.formats.unread_files import unread_files

if TYPE_CHECKING:
    import h5py


class DroidFormat:
    """Folders with ``trajectory.h5``, ``recordings/MP4/<serial>.mp4``, ``metadata_*.json``."""

    name = "droid"
    marker = f"{TRAJECTORY} with /{STATE_PATH} and /{ACTION_PATH}"

    def sniff(self, source: Source) -> bool:
        """Return whether one of the first trajectories has the layout's two datasets."""
        folders, _ = episode_folders(source.list_files())
        paths = [folder.trajectory for folder in folders if folder.trajectory is not None]
        return has_layout(source, paths, _is_droid)

    def list_episodes(self, source: Source, profile: Profile) -> EpisodeListing:
        """Return one episode per folder, in natural order; one without trajectory is broken."""
        folders, outside = episode_folders(source.list_files())
        others = [path for folder in folders for path in folder.others] + outside
        unread = [path for path in others if path != PROFILE_FILE]
        return EpisodeListing(
            episodes=tuple(EpisodeRef(source_key=f.key, files=f.files) for f in folders),
            findings=tuple(unread_files(unread, "which are no part of an episode")),
        )

    def read(self, source: Source, ref: EpisodeRef, profile: Profile) -> Recording:
        """Return one folder's episode; rows lie at the times at which the state was read.

        Raises
        ------
        DataFaultError
            ``missing-file``, ``unreadable-file``, ``no-rows``, ``time-not-increasing``;
            ``row-mismatch``: datasets of the robot of different lengths; ``unsafe-path``;
            ``metadata-contradiction``: two descriptions, or two cameras of one name.
        InvalidInputError
            ``invalid-profile``: the file has no times, and the profile states no rate.
        """
        subject = f"Episode {ref.source_key!r} of {source.label!r}"
        folder = _folder(ref, subject)
        trajectory_first = sorted(ref.files, key=lambda path: path != ref.source_key)
        return read_apart(source, trajectory_first, _read_folder, ref, folder, profile)


def _read_folder(
    source: Source, ref: EpisodeRef, folder: EpisodeFolder, profile: Profile
) -> Recording:
    with open_hdf5(source, ref.source_key) as file:
        return apply_profile(_read(source, ref, folder, file, profile), profile)


def _is_droid(file: h5py.File) -> bool:
    return names_dataset(file, STATE_PATH) and names_dataset(file, ACTION_PATH)


def _folder(ref: EpisodeRef, subject: str) -> EpisodeFolder:
    folders = [folder for folder in episode_folders(ref.files)[0] if folder.key == ref.source_key]
    if not folders or folders[0].trajectory is None:
        raise DataFaultError(
            f"{subject} has lost its rows: got {shortened(ref.files, 3) or 'no file'}, expected "
            f"{TRAJECTORY!r} too. Upload the folder whole.",
            kind=ErrorKind.MISSING_FILE,
            path=ref.source_key,
        )
    return folders[0]


def _read(
    source: Source, ref: EpisodeRef, folder: EpisodeFolder, file: h5py.File, profile: Profile
) -> Recording:
    subject = f"Episode {ref.source_key!r} of {source.label!r}"
    found = dict(sorted(datasets_below(file, subject)))
    num_rows = _num_rows(source, ref, found)
    single = check_rows(num_rows, subject)
    contents = sort_contents(found, num_rows, subject)
    check_signals(contents.signals, num_rows, subject)
    rows = row_times(file, num_rows, profile, subject)
    declared = read_declared(source, folder, file, num_rows, subject)
    cameras = read_cameras(source, folder, file, declared, rows, subject)
    signals = contents.signals | moving_cameras(found, cameras.views)
    used = {path for view in cameras.views.values() for path in view.paths}
    clocks = {rows.clock, *(v for k, v in cameras.metadata.items() if k.startswith("clock/"))}
    used |= {clock.partition(" (")[0] for clock in clocks}
    return Recording(
        ref=ref,
        signals=tuple(_with_unit(signal) for signal in read_signals(signals, rows.timestamp_ns)),
        cameras=tuple(cameras.streams),
        task=declared.task,
        robot=declared.robot,
        findings=(
            *single,
            *rows.findings,
            *declared.findings,
            *cameras.findings,
            *contents.findings,
            *left_out_facts(found, used, subject),
        ),
        metadata={
            **declared.metadata,
            **cameras.metadata,
            "clock": rows.clock,
            "observation_state": STATE_PATH,
            "action": ACTION_PATH,
            "gripper_convention": "zero_is_open",
        },
    )


def _num_rows(source: Source, ref: EpisodeRef, found: dict[str, h5py.Dataset]) -> int:
    for path in (STATE_PATH, ACTION_PATH):
        if path not in found or not is_vector(found[path]):
            got = f"got {sorted(found)!s:.200}, expected numbers in '/{path}'"
            raise unreadable(source, ref.source_key, got)
    return len(found[STATE_PATH])


def _with_unit(signal: Signal) -> Signal:
    return replace(signal, unit=UNITS.get(signal.name))
