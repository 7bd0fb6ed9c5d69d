"""One episode folder of a raw log as a recording."""

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
from robot_data_platform.formats.rawlog.cameras import TimedCamera, read_camera
from robot_data_platform.formats.rawlog.events import Events, read_events
from robot_data_platform.formats.rawlog.folders import EPISODE_FILE, EpisodeFolder
from robot_data_platform.formats.rawlog.pictures import PictureCamera, no_camera, read_pictures
from robot_data_platform.formats.rawlog.signals import read_signal, signal_name
from robot_data_platform.formats.rawlog_keys import Rawlog
from robot_data_platform.formats.timing import check_rows

_OWN_KEYS = frozenset({"task", "robot", "episode_index"})


def read_folder(
    source: Source, ref: EpisodeRef, folder: EpisodeFolder, profile: Profile, subject: str
) -> Recording:
    """Return the episode in a folder; every stream keeps its own times.

    Raises
    ------
    DataFaultError
        ``missing-file``, ``unreadable-file``, ``time-not-increasing``, ``shape-mismatch``,
        ``no-rows``; ``metadata-contradiction``: two files for one signal or camera.
    """
    layout = profile.rawlog
    if not folder.signals or (folder.episode is None and layout is None):
        raise _incomplete(folder, subject)
    facts = read_json(source, folder.episode) if folder.episode is not None else {}
    signals = _signals(source, folder, layout, subject)
    timed = _cameras(source, folder, subject)
    pictured = _picture_cameras(source, folder, profile, subject)
    events = read_events(source, folder.events) if folder.events else Events()
    clocks = sorted({camera.clock for camera in timed})
    single = check_rows(max(len(signal.timestamp_ns) for signal in signals), subject)
    return Recording(
        ref=ref,
        signals=signals,
        cameras=(
            *(camera.stream for camera in timed if len(camera.stream.timestamp_ns)),
            *(camera.stream for camera in pictured if camera.stream is not None),
        ),
        task=_text(facts, "task", source, folder.episode),
        robot=_text(facts, "robot", source, folder.episode),
        instructions=events.instructions,
        sources=events.sources,
        findings=(
            *single,
            *_mixed_clocks(clocks, subject),
            *_empty_cameras(timed, subject),
            *_absent_cameras(folder, layout, subject),
            *(finding for camera in pictured for finding in camera.findings),
        ),
        metadata=_metadata(facts, clocks),
    )


def _metadata(facts: JsonObject, clocks: Sequence[str]) -> dict[str, str]:
    told = {key: json.dumps(value) for key, value in facts.items() if key not in _OWN_KEYS}
    return {**told, "clock": ", ".join(clocks)} if clocks else told


def _signals(
    source: Source, folder: EpisodeFolder, layout: Rawlog | None, subject: str
) -> tuple[Signal, ...]:
    for stem, paths in folder.signals.items():
        if len(paths) > 1:
            raise DataFaultError(
                f"{subject} has two files for signal {stem!r}: got {paths}, expected one. "
                "Remove the wrong one.",
                kind=ErrorKind.METADATA_CONTRADICTION,
                signal=stem,
            )
    if layout is None:
        names = unique_names(folder.signals, signal_name, subject)
        return tuple(
            read_signal(source, paths[0], names[stem]) for stem, paths in folder.signals.items()
        )
    absent = sorted(layout.signals.keys() - folder.signals.keys())
    if absent:
        raise _incomplete(folder, subject, f"{layout.signals[absent[0]].path} of {absent[0]!r}")
    return tuple(
        read_signal(source, folder.signals[name][0], name, layout.signals[name])
        for name in layout.signals
    )


def _cameras(source: Source, folder: EpisodeFolder, subject: str) -> tuple[TimedCamera, ...]:
    keys = sorted(folder.videos.keys() | folder.timestamps.keys())
    names = unique_names(keys, camera_name, subject)
    return tuple(
        read_camera(source, names[key], folder.videos.get(key), folder.timestamps.get(key), subject)
        for key in keys
    )


def _picture_cameras(
    source: Source, folder: EpisodeFolder, profile: Profile, subject: str
) -> tuple[PictureCamera, ...]:
    keys = [*sorted(folder.videos), *sorted(folder.pictures)]
    names = unique_names(keys, camera_name, subject)
    both = folder.videos.keys() & folder.pictures.keys()
    if both:
        raise DataFaultError(
            f"{subject} has a video and pictures of one camera: got both of {sorted(both)}, "
            "expected one of them. Remove the wrong one.",
            kind=ErrorKind.METADATA_CONTRADICTION,
            camera=min(both),
        )
    return tuple(
        read_pictures(source, names[key], paths, profile.channel_order(names[key]), subject)
        for key, paths in sorted(folder.pictures.items())
    )


def _absent_cameras(
    folder: EpisodeFolder, layout: Rawlog | None, subject: str
) -> Iterator[Finding]:
    for name, pattern in layout.cameras.items() if layout else ():
        if name not in folder.pictures:
            yield no_camera(name, f"no file fits {pattern!r}", subject)


def _text(facts: JsonObject, key: str, source: Source, relative: str | None) -> str | None:
    value = facts.get(key)
    if value is not None and not isinstance(value, str):
        got = f"got {key} {value!r:.80}, expected a text or null"
        raise unreadable(source, relative or EPISODE_FILE, got)
    return value


def _incomplete(folder: EpisodeFolder, subject: str, expected: str = "") -> DataFaultError:
    native = EPISODE_FILE if folder.episode is None else "signals/*.parquet or *.csv"
    missing = expected or native
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
            name = camera.stream.name
            yield no_camera(name, "got 0 times, expected one per shown frame", subject)
