"""Known formats: the built-in ones and those of installed packages; which one a source is."""

from __future__ import annotations

from collections import Counter
from importlib.metadata import entry_points
from pathlib import PurePosixPath
from typing import cast

from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, ErrorKind, InvalidInputError
from robot_data_platform.formats.aloha_hdf5 import AlohaHdf5Format
from robot_data_platform.formats.array_files import NpzFormat, PickleFormat
from robot_data_platform.formats.droid import DroidFormat
from robot_data_platform.formats.lerobot import LeRobotFormat
from robot_data_platform.formats.natural_order import shortened
from robot_data_platform.formats.protocol import Format
from robot_data_platform.formats.rawlog import RawlogFormat
from robot_data_platform.formats.rlds import RldsFormat
from robot_data_platform.formats.robomimic_hdf5 import RobomimicHdf5Format
from robot_data_platform.formats.ros import McapFormat, Rosbag1Format, Rosbag2Format

ENTRY_POINT_GROUP = "robot_data_platform.formats"
"""Group of package entry points; each names a class that is called without arguments."""

BUILT_IN = (
    LeRobotFormat,
    AlohaHdf5Format,
    RobomimicHdf5Format,
    DroidFormat,
    RawlogFormat,
    RldsFormat,
    NpzFormat,
    PickleFormat,
    McapFormat,
    Rosbag2Format,
    Rosbag1Format,
)
"""Formats of this package, in the order in which messages list them."""


def known_formats() -> dict[str, Format]:
    """Return every format by name, built-in ones first.

    Raises
    ------
    InvalidInputError
        ``already-exists``: an installed package uses the name of another format.
    """
    formats: dict[str, Format] = {}
    third_party = (entry.load()() for entry in entry_points(group=ENTRY_POINT_GROUP))
    for item in (*(built_in() for built_in in BUILT_IN), *third_party):
        if item.name in formats:
            raise InvalidInputError(
                f"Format {item.name!r} is there twice: got it from {type(item).__module__!r} and "
                f"{type(formats[item.name]).__module__!r}, expected one. Uninstall one of them.",
                kind=ErrorKind.ALREADY_EXISTS,
                format=item.name,
            )
        formats[item.name] = cast("Format", item)
    return formats


def detect_format(source: Source, hint: str | None = None) -> Format:
    """Return the format of a source: the one named by ``hint``, or the only one that fits.

    Raises
    ------
    DataFaultError
        ``empty-source``: it holds no files. ``unknown-format``: none fits, or several do.
    InvalidInputError
        ``invalid-argument``: no format has the name in ``hint``.
    """
    formats = known_formats()
    files = source.list_files()
    if not files:
        raise DataFaultError(
            f"Source {source.label!r} is empty: got 0 files, expected recorded episodes. Check "
            "the path.",
            kind=ErrorKind.EMPTY_SOURCE,
        )
    if hint is not None:
        return _named(hint, formats)
    fitting = [item for item in formats.values() if item.sniff(source)]
    if len(fitting) == 1:
        return fitting[0]
    raise _ambiguous(source, fitting) if fitting else _unknown(source, formats, files)


def _named(name: str, formats: dict[str, Format]) -> Format:
    if name not in formats:
        raise InvalidInputError(
            f"Format {name!r} is not known: expected one of {sorted(formats)}. Correct the name, "
            "or install the package that reads it.",
            kind=ErrorKind.INVALID_ARGUMENT,
            format=name,
        )
    return formats[name]


def _ambiguous(source: Source, fitting: list[Format]) -> DataFaultError:
    names = [item.name for item in fitting]
    return DataFaultError(
        f"Source {source.label!r} can be read in several formats: got signs of "
        f"{' and '.join(names)}, expected those of one. Name the format, or upload them apart.",
        kind=ErrorKind.UNKNOWN_FORMAT,
        formats=names,
    )


def _unknown(source: Source, formats: dict[str, Format], files: tuple[str, ...]) -> DataFaultError:
    looked_for = "; ".join(f"{item.name}: {item.marker}" for item in formats.values())
    return DataFaultError(
        f"Source {source.label!r} is in no known format: got {len(files)} files "
        f"({_kinds(files)}; such as {shortened(files, 3)}), expected one of: {looked_for}. Name "
        "the format, or install the package that reads it.",
        kind=ErrorKind.UNKNOWN_FORMAT,
        num_files=len(files),
    )


def _kinds(files: tuple[str, ...]) -> str:
    counts = Counter(PurePosixPath(path).suffix or "no suffix" for path in files)
    return ", ".join(f"{count} {suffix}" for suffix, count in counts.most_common(5))
