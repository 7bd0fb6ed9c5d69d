"""What the shards of an RLDS dataset contradict: its metadata, each other, or their own framing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError
from robot_data_platform.formats.natural_order import natural_key, shortened
from robot_data_platform.formats.rlds.records import record_index
from robot_data_platform.formats.rlds.shards import (
    INFO_FILE,
    DatasetFolder,
    Declared,
    declared_shards,
)


def folder_findings(source: Source, folder: DatasetFolder) -> Iterator[Finding]:
    """Yield where a folder's files contradict each other or its metadata."""
    declared, unreadable = declared_shards(source, folder)
    yield from unreadable
    yield from _missing(folder, declared)
    yield from _undeclared(folder, declared)
    for shard in folder.shards:
        claim = declared.get(shard)
        yield from _shard_findings(source, shard, claim.num_episodes if claim else None)


def _missing(folder: DatasetFolder, declared: Mapping[str, Declared]) -> Iterator[Finding]:
    absent = sorted(declared.keys() - set(folder.shards), key=natural_key)
    if not absent:
        return
    counts = [claim.num_episodes for claim in declared.values()]
    lost = [declared[path].num_episodes for path in absent]
    total = sum(count or 0 for count in counts)
    num_lost = sum(count or 0 for count in lost)
    what = f"{num_lost} of {total} declared episodes" if total else "Episodes of declared shards"
    yield Finding(
        rule="declared_episodes_have_files",
        severity=Severity.WARN,
        message=f"{what} have no files: {len(absent)} of {len(declared)} shards are not there "
        f"({shortened(absent, 3)}). They are left out.",
        where=folder.path,
        value=num_lost if total else None,
        threshold=0,
        unit="episodes",
    )


def _undeclared(folder: DatasetFolder, declared: Mapping[str, Declared]) -> Iterator[Finding]:
    unknown = [shard for shard in folder.shards if shard not in declared]
    if unknown:
        yield Finding(
            rule="episodes_are_declared",
            severity=Severity.WARN,
            message=f"{len(unknown)} shards are not declared: got {shortened(unknown, 3)}, "
            f"expected those of {INFO_FILE!r} alone. They are read.",
            where=folder.path,
            value=len(unknown),
            threshold=0,
            unit="shards",
        )


def _shard_findings(source: Source, shard: str, declared: int | None) -> Iterator[Finding]:
    damage, num_records = shard_damage(source, shard)
    if damage is not None:
        of = "" if declared is None else f" of {declared}"
        yield Finding(
            rule="data_files_are_readable",
            severity=Severity.FAIL,
            message=f"Shard {shard!r} is damaged: {damage}. {num_records}{of} episodes before it "
            "are read; what follows is lost. Upload it again.",
            where=shard,
            value=None if declared is None else max(declared - num_records, 0),
            unit="episodes",
        )
    elif declared not in (None, num_records):
        yield Finding(
            rule="total_episodes_as_declared",
            severity=Severity.WARN,
            message=f"Shard {shard!r} has another number of episodes than declared: got "
            f"{num_records}, expected {declared}. Those that are there are read.",
            where=shard,
            value=num_records,
            threshold=declared,
            unit="episodes",
        )


def shard_damage(source: Source, shard: str) -> tuple[str | None, int]:
    """Return why a shard can't be read to its end (None = it can), and the records before that."""
    try:
        index = record_index(source, shard)
    except DataFaultError as fault:
        return str(fault), 0
    return index.damage, len(index.bounds)
