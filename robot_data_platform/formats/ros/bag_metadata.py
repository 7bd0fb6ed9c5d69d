"""``metadata.yaml`` of a rosbag2 recording: which files it has, and what they should hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import cast

from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, ErrorKind, InvalidInputError
from robot_data_platform.formats.data_files import data_path, unreadable
from robot_data_platform.formats.yaml_lines import YamlError, load_yaml

METADATA_FILE = "metadata.yaml"
ROOT_KEY = "rosbag2_bagfile_information"
MAX_METADATA_BYTES = 1 << 24
_HEAD_BYTES = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class BagMetadata:
    """What a recording says of itself; nothing here was counted."""

    files: tuple[str, ...]
    """Names of its files, which lie beside it, in order."""
    is_packed: bool = False
    """Whether each message is packed with Zstandard."""
    num_messages: Counter[str] = field(default_factory=Counter)
    """By topic."""
    ros_distro: str | None = None


def is_bag_metadata(source: Source, relative: str) -> bool:
    """Return whether a file is the metadata of a rosbag2 recording, by its name and first bytes."""
    if PurePosixPath(relative).name != METADATA_FILE:
        return False
    try:
        path = source.local_path(relative)
    except InvalidInputError:
        return False  # a link that leads out of the source is no part of it
    with path.open("rb") as file:
        return ROOT_KEY.encode() in file.read(_HEAD_BYTES)


def read_metadata(source: Source, relative: str) -> BagMetadata:
    """Return what a recording says of itself.

    Raises
    ------
    DataFaultError
        ``missing-file``; ``unreadable-file``: no YAML of that kind, or its files are packed as a
        whole.
    """
    path = data_path(source, relative)
    if path.stat().st_size > MAX_METADATA_BYTES:
        got = f"got {path.stat().st_size} bytes, expected at most {MAX_METADATA_BYTES}"
        raise unreadable(source, relative, got)
    try:
        content, _ = load_yaml(path.read_text(encoding="utf-8-sig"))
        return _parsed(_mapping(_mapping(content)[ROOT_KEY]), source, relative)
    except (YamlError, UnicodeDecodeError, KeyError, TypeError, ValueError) as err:
        got = f"got {err!r:.200}, expected the metadata that rosbag2 writes"
        raise unreadable(source, relative, got) from err


def _parsed(facts: Mapping[str, object], source: Source, relative: str) -> BagMetadata:
    mode = str(facts.get("compression_mode") or "none").lower()
    packing = str(facts.get("compression_format") or "")
    if mode not in ("none", "message") or (mode == "message" and packing != "zstd"):
        raise DataFaultError(
            f"Recording {relative!r} of {source.label!r} is packed in a way that is not read: got "
            f"compression mode {mode!r} with {packing!r}, expected none, or 'message' with 'zstd'. "
            "Unpack its files (`unzstd`, or `ros2 bag convert`) and upload it again.",
            kind=ErrorKind.UNREADABLE_FILE,
            path=relative,
        )
    counts: Counter[str] = Counter()
    for entry in _list(facts["topics_with_message_count"]):
        topic = _mapping(_mapping(entry)["topic_metadata"])
        counts[str(topic["name"])] += int(str(_mapping(entry)["message_count"]))
    distro = facts.get("ros_distro")
    return BagMetadata(
        files=tuple(PurePosixPath(str(p)).name for p in _list(facts["relative_file_paths"])),
        is_packed=mode == "message",
        num_messages=counts,
        ros_distro=None if distro is None else str(distro),
    )


def _mapping(value: object) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise TypeError(f"{value!r:.80} where a mapping should be")
    return cast("Mapping[str, object]", value)


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError(f"{value!r:.80} where a list should be")
    return cast("list[object]", value)
