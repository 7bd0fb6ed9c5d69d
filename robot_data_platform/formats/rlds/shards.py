"""Shards of RLDS datasets: which files there are, and which the metadata declares."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError
from robot_data_platform.formats.json_files import JsonObject, read_json
from robot_data_platform.formats.natural_order import natural_key
from robot_data_platform.formats.rlds.features import FEATURES_FILE

INFO_FILE = "dataset_info.json"
MAX_SHARDS = 1 << 16
"""Shards of one split that are looked for; more are no claim to believe."""
_SHARD = re.compile(r"(?:.*/)?([^/]+)\.tfrecord(?:-\d{5}-of-\d{5})?")
_NUMBERED = re.compile(r"(.+\.tfrecord)-\d{5}-of-(\d{5})")
_TEMPLATE = "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}"
"""How TFDS names a shard unless ``filepathTemplate`` says otherwise."""


@dataclass(slots=True, kw_only=True)
class DatasetFolder:
    """The files of one version of one dataset."""

    path: str
    shards: list[str] = field(default_factory=list)
    """Relative to the source, in natural order."""
    metadata: list[str] = field(default_factory=list)
    """``dataset_info.json`` and ``features.json``, where they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What metadata, or the names of other shards, claim of a shard."""

    split: str
    num_episodes: int | None
    """None = not stated."""


def dataset_folders(files: Sequence[str]) -> list[DatasetFolder]:
    """Return the folders that hold tfrecord files, in natural order."""
    shards = [path for path in files if _SHARD.fullmatch(path)]
    folders: dict[str, DatasetFolder] = {}
    for path in sorted(shards, key=natural_key):
        parent = str(PurePosixPath(path).parent)
        folders.setdefault(parent, DatasetFolder(path=parent)).shards.append(path)
    for parent, folder in folders.items():
        beside = (str(PurePosixPath(parent, name)) for name in (INFO_FILE, FEATURES_FILE))
        folder.metadata = sorted(set(beside) & set(files))
    return sorted(folders.values(), key=lambda folder: natural_key(folder.path))


def split_of(shard: str) -> str:
    """Return the split in a shard's name: ``train`` of ``bridge-train.tfrecord-00000-of-00001``."""
    found = _SHARD.fullmatch(shard)
    return found.group(1).rpartition("-")[2] if found else ""


def declared_shards(
    source: Source, folder: DatasetFolder
) -> tuple[dict[str, Declared], tuple[Finding, ...]]:
    """Return every shard that should be there, by path, and what of the metadata is unreadable.

    Where ``dataset_info.json`` says nothing, the shards' own names do.
    """
    info, unreadable = _info(source, folder)
    declared = _declared(info, folder) or {
        sibling: Declared(split=split_of(shard), num_episodes=None)
        for shard in folder.shards
        for sibling in _siblings(shard)
    }
    return declared, unreadable


def _info(source: Source, folder: DatasetFolder) -> tuple[JsonObject, tuple[Finding, ...]]:
    path = str(PurePosixPath(folder.path, INFO_FILE))
    if path not in folder.metadata:
        return {}, ()
    try:
        return read_json(source, path), ()
    except DataFaultError as fault:
        text = f"{fault} The shards were read as their names say."
        finding = Finding(
            rule="metadata_is_readable", severity=Severity.FAIL, message=text, where=path
        )
        return {}, (finding,)


def _declared(info: JsonObject, folder: DatasetFolder) -> dict[str, Declared]:
    splits = info.get("splits")
    declared: dict[str, Declared] = {}
    for split in splits if isinstance(splits, list) else []:
        if isinstance(split, dict):
            declared |= dict(_split(split, str(info.get("name")), folder.path))
    return declared


def _split(split: JsonObject, dataset: str, folder: str) -> Iterator[tuple[str, Declared]]:
    lengths = split.get("shardLengths")
    names = {"DATASET": dataset, "SPLIT": str(split.get("name")), "FILEFORMAT": "tfrecord"}
    template = str(split.get("filepathTemplate") or _TEMPLATE)
    counts = lengths[:MAX_SHARDS] if isinstance(lengths, list) else []
    for number, length in enumerate(counts):
        place = f"{number:05d}-of-{len(counts):05d}"
        name = template.replace("{SHARD_X_OF_Y}", place)
        for key, value in names.items():
            name = name.replace(f"{{{key}}}", value)
        num_episodes = int(length) if str(length).isdecimal() else None
        path = str(PurePosixPath(folder, name))
        yield path, Declared(split=names["SPLIT"], num_episodes=num_episodes)


def _siblings(shard: str) -> list[str]:
    """Return the shards that ``x-00001-of-00003`` says there are."""
    found = _NUMBERED.fullmatch(shard)
    if found is None:
        return [shard]
    stem, total = found.groups()
    return [f"{stem}-{number:05d}-of-{total}" for number in range(int(total))]
