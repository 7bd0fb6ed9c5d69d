"""Which files make a recording: what metadata says, or else what names say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import EpisodeRef
from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError
from robot_data_platform.formats.natural_order import last_number, natural_key, shortened
from robot_data_platform.formats.protocol import EpisodeListing
from robot_data_platform.formats.ros.bag_metadata import (
    METADATA_FILE,
    is_bag_metadata,
    read_metadata,
)
from robot_data_platform.formats.unread_files import files_besides, unread_files

_PART = re.compile(r"(?P<stem>.+)_(?P<number>\d+)(?P<suffix>(\.bag)?\.[a-z0-9]+)")
_DATE = re.compile(r"\d{4}[-_]\d{2}[-_]\d{2}[-_]\d{2}[-_]\d{2}[-_]\d{2}$")
"""End of the names that recorders make up: ``rosbag2_2025_12_05-12_59_22``."""
_WAL = "-wal"
"""End of the name of SQLite's log beside a file that was not closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """The files of one recording."""

    key: str
    files: tuple[str, ...]


def list_recordings(source: Source, suffixes: tuple[str, ...]) -> EpisodeListing:
    """Return the recordings of a source, in natural order.

    Parameters
    ----------
    source : Source
        Where they lie.
    suffixes : tuple of str
        Ends of the names of files that hold messages.
    """
    files = source.list_files()
    parts = [path for path in files if path.endswith(suffixes)]
    described = [path for path in files if is_bag_metadata(source, path)]
    groups = [_described(source, path, parts) for path in described]
    taken = {path for group in groups for path in group.files}
    others = _by_name([path for path in parts if path not in taken])
    groups += others
    logs = tuple(suffix + _WAL for suffix in suffixes)
    others_of_source = files_besides(source, {*taken, *parts})
    unknown = [path for path in others_of_source if not path.endswith(logs)]
    return EpisodeListing(
        episodes=tuple(_ref(group) for group in sorted(groups, key=lambda g: natural_key(g.key))),
        findings=(
            *_put_together(others),
            *_incomplete(others),
            *_undeclared(others, described),
            *unread_files(unknown, "which are no recordings of messages"),
        ),
    )


def _described(source: Source, metadata: str, parts: Sequence[str]) -> _Group:
    folder = PurePosixPath(metadata).parent
    try:
        names = read_metadata(source, metadata).files
    except DataFaultError:  # reading the episode says what is wrong with it
        names = tuple(PurePosixPath(p).name for p in parts if PurePosixPath(p).parent == folder)
    there = [str(folder / name) for name in names if str(folder / name) in parts]
    first = PurePosixPath(names[0] if names else metadata)
    key = str(folder) if folder.parts else _stem(first.name)
    return _Group(key=key, files=(metadata, *there))


def _by_name(parts: Sequence[str]) -> list[_Group]:
    """Group files that a recorder cut from one recording; any other is a recording of its own."""
    candidates: dict[tuple[str, str], list[str]] = {}
    for path in parts:
        found = _PART.fullmatch(path)
        key = (found["stem"], found["suffix"]) if found and _is_cut(found["stem"]) else (path, "")
        candidates.setdefault(key, []).append(path)
    groups: list[_Group] = []
    for (stem, _), paths in candidates.items():
        ordered = sorted(paths, key=natural_key)
        is_recording = len(ordered) > 1
        names = [(stem, tuple(ordered))] if is_recording else [(path, (path,)) for path in ordered]
        groups += [_Group(key=key, files=files) for key, files in names]
    return groups


def _is_cut(stem: str) -> bool:
    """Return whether ``<stem>_0``, ``<stem>_1`` are parts of a recording, not recordings.

    They are where a recorder named them: after their folder, or after the time of their start.
    """
    path = PurePosixPath(stem)
    return path.parent.name == path.name or bool(_DATE.search(path.name))


def _stem(name: str) -> str:
    found = _PART.fullmatch(name)
    return found["stem"] if found else PurePosixPath(name).stem


def _ref(group: _Group) -> EpisodeRef:
    name = PurePosixPath(group.key).name
    is_dated = _DATE.search(_stem(name)) is not None
    return EpisodeRef(
        source_key=group.key,
        source_episode_index=None if is_dated else last_number(PurePosixPath(name).stem),
        files=group.files,
    )


def _put_together(groups: Sequence[_Group]) -> Iterator[Finding]:
    cut = [group.key for group in groups if len(group.files) > 1]
    if cut:
        yield Finding(
            rule="parts_are_declared",
            severity=Severity.INFO,
            message=(
                f"{len(cut)} recordings were put together by the names of their parts: "
                f"{shortened(cut, 3)}. No `{METADATA_FILE}` names them."
            ),
            value=len(cut),
            unit="recordings",
        )


def _incomplete(groups: Sequence[_Group]) -> Iterator[Finding]:
    absent: list[str] = []
    for group in groups:
        numbers = {last_number(PurePosixPath(path).stem) or 0 for path in group.files}
        gaps = set(range(max(numbers) + 1)) - numbers if len(group.files) > 1 else ()
        absent += [f"{group.key}_{number}" for number in sorted(gaps)]
    if absent:
        yield Finding(
            rule="parts_are_complete",
            severity=Severity.WARN,
            message=(
                f"{len(absent)} parts of recordings are missing: {shortened(absent, 3)}, expected "
                "one file for each number. What they held is missing in the episodes."
            ),
            value=len(absent),
            threshold=0,
            unit="files",
        )


def _undeclared(groups: Sequence[_Group], described: Sequence[str]) -> Iterator[Finding]:
    folders = {str(PurePosixPath(path).parent) for path in described}
    stray = [f for g in groups for f in g.files if str(PurePosixPath(f).parent) in folders]
    if stray:
        yield Finding(
            rule="files_are_declared",
            severity=Severity.WARN,
            message=(
                f"{len(stray)} files lie beside a `{METADATA_FILE}` that does not name them: "
                f"{shortened(stray, 3)}. They were read as recordings of their own."
            ),
            value=len(stray),
            unit="files",
        )
