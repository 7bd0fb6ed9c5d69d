"""Which episodes each data file really holds, whatever the metadata says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError
from robot_data_platform.formats.lerobot.row_source import count_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class DataScan:
    """Rows found by value."""

    paths: Mapping[int, tuple[str, ...]]
    """By episode: the files that hold rows of it, in order."""
    num_rows: Mapping[int, int]
    """By episode: rows found in all of them."""
    faults: Mapping[str, DataFaultError]
    """By path: why a file can't be read."""


def scan_data_files(source: Source, files: Iterable[str]) -> DataScan:
    """Return the episodes of every data file, from statistics and key columns alone."""
    paths: dict[int, tuple[str, ...]] = {}
    num_rows: dict[int, int] = {}
    faults: dict[str, DataFaultError] = {}
    for relative in files:
        only_here = (relative,)
        try:
            counts = count_rows(source, relative)
        except DataFaultError as fault:
            faults[relative] = fault
            continue
        for episode, count in counts.items():
            earlier = paths.get(episode)
            paths[episode] = (*earlier, relative) if earlier else only_here
            num_rows[episode] = num_rows.get(episode, 0) + count
    return DataScan(paths=paths, num_rows=num_rows, faults=faults)
