"""Which files hold the rows of a LeRobot v1 dataset."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.json_files import read_json
from robot_data_platform.formats.lerobot.row_source import ARROW_SUFFIX, schema_of_file
from robot_data_platform.formats.natural_order import natural_key

if TYPE_CHECKING:
    import pyarrow as pa

STREAM_FOLDER, PARQUET_FOLDER = "train/", "data/"
"""Where a dataset lies as `datasets` saves it to a disk, and as it lies on the Hub."""
STATE_FILE = f"{STREAM_FOLDER}state.json"
_CACHE_PREFIX = f"{STREAM_FOLDER}cache-"
"""Files that `datasets` leaves beside the rows when it transforms them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFiles:
    """The files of rows, in natural order."""

    present: tuple[str, ...]
    missing: tuple[str, ...]
    """Named in ``train/state.json``, but not there."""


def find_row_files(source: Source, files: Collection[str]) -> RowFiles:
    """Return the files that ``train/state.json`` names, or all that look like rows without it."""
    named = _named(source) if STATE_FILE in files else None
    if named is None:
        found = (f for f in files if _holds_rows(f))
        return RowFiles(present=tuple(sorted(found, key=natural_key)), missing=())
    ordered = sorted(named, key=natural_key)
    return RowFiles(
        present=tuple(f for f in ordered if f in files),
        missing=tuple(f for f in ordered if f not in files),
    )


def _named(source: Source) -> set[str] | None:
    try:
        state = read_json(source, STATE_FILE)
    except DataFaultError:
        return None  # the files themselves are enough
    stated = state.get("_data_files")
    entries = stated if isinstance(stated, list) else []
    names = [entry.get("filename") for entry in entries if isinstance(entry, dict)]
    return {f"{STREAM_FOLDER}{name}" for name in names if isinstance(name, str)} or None


def _holds_rows(path: str) -> bool:
    is_stream = path.startswith(STREAM_FOLDER) and path.endswith(ARROW_SUFFIX)
    is_parquet = path.startswith(PARQUET_FOLDER) and path.endswith(".parquet")
    return is_parquet or (is_stream and not path.startswith(_CACHE_PREFIX))


def schema_of_any(source: Source, files: Sequence[str]) -> pa.Schema:
    """Return the columns of the first file that can be read.

    Raises
    ------
    DataFaultError
        ``missing-file``: there are no files; or the fault of the last one, where none can be read.
    """
    fault = _no_rows(source)
    for relative in files:
        try:
            return schema_of_file(source, relative)
        except DataFaultError as err:
            fault = err
    raise fault


def _no_rows(source: Source) -> DataFaultError:
    return DataFaultError(
        f"Source {source.label!r} has no rows: got no file that is named "
        f"'{STREAM_FOLDER}*{ARROW_SUFFIX}' or '{PARQUET_FOLDER}*.parquet', expected at least one. "
        "Upload the dataset whole.",
        kind=ErrorKind.MISSING_FILE,
        path=STREAM_FOLDER,
    )
