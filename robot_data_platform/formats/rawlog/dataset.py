"""The rawlog format behind the ``Format`` protocol."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import EpisodeRef, Recording, Signal
from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.data_files import unreadable
from robot_data_platform.formats.json_files import JsonObject, read_json
from robot_data_platform.formats.names import camera_name, unique_names
from robot_data_platform.formats.natural_order import shortened
from robot_data_platform.formats.profile import Profile
from robot_data_platform.formats.protocol import EpisodeListing
from robot_data_platform.formats.rawlog.cameras import TimedCamera, read_camera
from robot_data_platform.formats.rawlog.events import Events, read_events
from robot_data_platform.formats.rawlog.folders import (
    EPISODE_FILE,
    EpisodeFolder,
    episode_folders,
)
from robot_data_platform.formats.rawlog.signals import read_signal, signal_name
from robot_data_platform.formats.statements import apply_profile
from robot_data_platform.formats.timing import check_rows

_OWN_KEYS = frozenset({"task", "robot", "episode_index"})


class RawlogFormat:
    """One folder per episode below ``episodes/``."""

    name = "rawlog"
    marker = f"episodes/<name>/{EPISODE_FILE}, or episodes/<name>/signals/*.parquet or *.csv"

    def sniff(self, source: Source) -> bool:
        """Return whether a folder below ``episodes/`` has a file of the layout, by names alone."""
        folders = episode_folders(source.list_files())
        return any(folder.episode is not None or folder.signals for folder in folders)

    def list_episodes(self, source: Source, profile: Profile) -> EpisodeListing:
        """Return one episode per folder, in the natural order of their names."""
        folders = episode_folders(source.list_files())
        return EpisodeListing(
            episodes=tuple(_ref(source, folder) for folder in folders if folder.files),
            findings=tuple(_unknown_files(folders)),
        )

    def read(self, source: Source, ref: EpisodeRef, profile: Profile) -> Recording:
        """Return one folder's episode; every stream keeps its own times.

        Raises
        ------
        DataFaultError
            ``missing-file``, ``unreadable-file``, ``time-not-increasing``, ``shape-mismatch``,
            ``no-rows``; ``metadata-contradiction``: two files for one signal.
        """
        subject = f"Episode {ref.source_key!r} of {source.label!r}"
        (folder,) = episode_folders(ref.files)
        return apply_profile(_read(source, ref, folder, subject), profile)


def _ref(source: Source, folder: EpisodeFolder) -> EpisodeRef:
    return EpisodeRef(
        source_key=folder.name,
        source_episode_index=_index(source, folder),
        files=folder.files,
    )


def _index(source: Source, folder: EpisodeFolder) -> int | None:
    if folder.episode is None:
        return None
    try:
        index = read_json(source, folder.episode).get("episode_index")
    except DataFaultError:
        return None  # reading the episode says what is wrong with it
    return index if type(index) is int else None


def _unknown_files(folders: Sequence[EpisodeFolder]) -> Iterator[Finding]:
    unknown = [path for folder in folders for path in folder.others]
    if unknown:
        yield Finding(
            rule="files_are_read",
            severity=Severity.INFO,
            message=f"{len(unknown)} files were left out: got {shortened(unknown, 3)}, which the "
            "layout does not know.",
            value=len(unknown),
            unit="files",
        )


def _read(source: Source, ref: EpisodeRef, folder: EpisodeFolder, subject: str) -> Recording:
    if folder.episode is None or not folder.signals:
        raise _incomplete(folder, subject)
    facts = read_json(source, folder.episode)
    signals = _signals(source, folder, subject)
    timed = _cameras(source, folder, subject)
    cameras = [camera for camera in timed if len(camera.stream.timestamp_ns)]
    events = read_events(source, folder.events) if folder.events else Events()
    clocks = sorted({camera.clock for camera in timed})
    single = check_rows(max(len(signal.timestamp_ns) for signal in signals), subject)
    return Recording(
        ref=ref,
        signals=signals,
        cameras=tuple(camera.stream for camera in cameras),
        task=_text(facts, "task", source, folder.episode),
        robot=_text(facts, "robot", source, folder.episode),
        instructions=events.instructions,
        sources=events.sources,
        findings=(*single, *_mixed_clocks(clocks, subject), *_empty_cameras(timed, subject)),
        metadata={
            **{key: json.dumps(value) for key, value in facts.items() if key not in _OWN_KEYS},
            **({"clock": ", ".join(clocks)} if clocks else {}),
        },
    )


def _signals(source: Source, folder: EpisodeFolder, subject: str) -> tuple[Signal, ...]:
    names = unique_names(folder.signals, signal_name, subject)
    for stem, paths in folder.signals.items():
        if len(paths) > 1:
            raise DataFaultError(
                f"{subject} has two files for signal {stem!r}: got {paths}, expected one. "
                "Remove the wrong one.",
                kind=ErrorKind.METADATA_CONTRADICTION,
                signal=stem,
            )
    return tuple(
        read_signal(source, paths[0], names[stem]) for stem, paths in folder.signals.items()
    )


def _cameras(source: Source, folder: EpisodeFolder, subject: str) -> tuple[TimedCamera, ...]:
    keys = sorted(folder.videos.keys() | folder.timestamps.keys())
    names = unique_names(keys, camera_name, subject)
    return tuple(
        read_camera(source, names[key], folder.videos.get(key), folder.timestamps.get(key), subject)
        for key in keys
    )


def _text(facts: JsonObject, key: str, source: Source, relative: str) -> str | None:
    value = facts.get(key)
    if value is not None and not isinstance(value, str):
        got = f"got {key} {value!r:.80}, expected a text or null"
        raise unreadable(source, relative, got)
    return value


def _incomplete(folder: EpisodeFolder, subject: str) -> DataFaultError:
    missing = EPISODE_FILE if folder.episode is None else "signals/*.parquet or *.csv"
    return DataFaultError(
        f"{subject} is incomplete: got {shortened(folder.files, 3)}, expected {missing} too. "
        "Upload the folder whole.",
        kind=ErrorKind.MISSING_FILE,
        path=missing,
    )


def _mixed_clocks(clocks: Sequence[str], subject: str) -> Iterator[Finding]:
    if len(clocks) > 1:
        yield Finding(
            rule="cameras_share_a_clock",
            severity=Severity.WARN,
            message=f"{subject}: cameras name different clocks: got {clocks}, expected the one of "
            "the signals. Times were compared as they are.",
            where="cameras",
            value=len(clocks),
            threshold=1,
            unit="clocks",
        )


def _empty_cameras(cameras: Sequence[TimedCamera], subject: str) -> Iterator[Finding]:
    for camera in cameras:
        if not len(camera.stream.timestamp_ns):
            yield Finding(
                rule="camera_is_recorded",
                severity=Severity.WARN,
                message=f"{subject}: camera {camera.stream.name!r} was left out: got 0 times, "
                "expected one per shown frame.",
                where=f"camera={camera.stream.name}",
                value=0,
                unit="frames",
            )
