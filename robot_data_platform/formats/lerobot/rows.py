"""The rows of one LeRobot episode, in the order of their ``frame_index``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import Int64Array
from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.lerobot.place import EpisodePlace
from robot_data_platform.formats.lerobot.row_files import data_file, read_rows
from robot_data_platform.formats.timing import check_rows
from robot_data_platform.formats.vectors import to_int64, to_matrix

FRAME = "frame_index"
TIMESTAMP = "timestamp"
TASK = "task_index"


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeRows:
    """An episode's table without its pictures."""

    table: pa.Table
    frame_index: Int64Array
    """(N,) strictly increasing; row numbers where the source has no such column."""
    findings: tuple[Finding, ...]

    def seconds(self, subject: str) -> npt.NDArray[np.float64] | None:
        """Return (N,) the recorded ``timestamp``, or None where there is no such column."""
        if TIMESTAMP not in self.table.column_names:
            return None
        values = to_matrix(self.table[TIMESTAMP], f"{subject} column {TIMESTAMP!r}")
        return values[:, 0].astype(np.float64)

    def task_index(self, subject: str) -> Int64Array | None:
        """Return (N,) the recorded ``task_index``, or None where there is no such column."""
        if TASK not in self.table.column_names:
            return None
        return to_int64(self.table[TASK], f"{subject} column {TASK!r}")


def read_episode_rows(
    source: Source,
    files: Sequence[str],
    place: EpisodePlace,
    image_keys: Collection[str],
    subject: str,
) -> EpisodeRows:
    """Return the rows of an episode, checked against what the metadata says.

    Parameters
    ----------
    source : Source
        The dataset.
    files : sequence of str
        The data files that hold the episode's rows.
    place : EpisodePlace
        What the metadata says of the episode.
    image_keys : collection of str
        Columns that a camera reads, and that are left out here.
    subject : str
        The episode, for messages.

    Raises
    ------
    DataFaultError
        ``no-rows``; ``metadata-contradiction``: another number of rows than declared;
        ``row-mismatch``: a ``frame_index`` is doubled, or missing while there are pictures;
        ``unreadable-file``.
    """
    schemas = {relative: data_file(source, relative).schema for relative in files}
    pieces = [
        piece
        for relative, schema in schemas.items()
        for piece in read_rows(source, relative, place.episode_index, _table_columns(schema))
    ]
    table = pa.concat_tables(pieces, promote_options="permissive") if pieces else pa.table({})
    _check_count(table.num_rows, place, files, subject)
    left_out = _left_out(schemas.values(), image_keys, subject)
    findings = (*check_rows(table.num_rows, subject), *left_out)
    if FRAME not in table.column_names:
        numbers = np.arange(table.num_rows, dtype=np.int64)
        return EpisodeRows(table=table, frame_index=numbers, findings=findings)
    return _ordered(table, bool(place.videos), bool(image_keys), subject, findings)


def _table_columns(schema: pa.Schema) -> list[str]:
    return [field.name for field in schema if not is_picture_column(field.type)]


def is_picture_column(data_type: pa.DataType) -> bool:
    """Return whether a column holds encoded pictures."""
    return bool(
        pa.types.is_binary(data_type)
        or pa.types.is_large_binary(data_type)
        or (pa.types.is_struct(data_type) and data_type.get_field_index("bytes") >= 0)
    )


def _left_out(
    schemas: Iterable[pa.Schema], image_keys: Collection[str], subject: str
) -> list[Finding]:
    columns = {f.name for schema in schemas for f in schema if is_picture_column(f.type)}
    return [
        Finding(
            rule="columns_are_read",
            severity=Severity.INFO,
            message=f"{subject}: column {name!r} was left out: got bytes of no declared camera.",
            where=name,
        )
        for name in sorted(columns - set(image_keys))
    ]


def _check_count(num_rows: int, place: EpisodePlace, files: Sequence[str], subject: str) -> None:
    claimed = place.num_rows_claimed
    if claimed is not None and claimed != num_rows and (num_rows or claimed):
        raise DataFaultError(
            f"{subject} has another length than its metadata says: got {num_rows} rows with "
            f"episode_index {place.episode_index} in {list(files)}, expected {claimed}. "
            "Correct the metadata, or record the episode again.",
            kind=ErrorKind.METADATA_CONTRADICTION,
            num_rows=num_rows,
            num_rows_claimed=claimed,
        )


def _ordered(
    table: pa.Table, has_video: bool, has_images: bool, subject: str, findings: tuple[Finding, ...]
) -> EpisodeRows:
    frame_index = to_int64(table[FRAME], f"{subject} column {FRAME!r}")
    order = np.argsort(frame_index, kind="stable")
    in_order = np.array_equal(order, np.arange(len(order)))
    numbers = frame_index[order]
    gaps = np.diff(numbers)
    has_gap = bool((gaps > 1).any())
    if (gaps == 0).any() or (has_gap and has_video) or (has_images and not in_order):
        raise _unclear_order(frame_index, subject)
    return EpisodeRows(
        table=table if in_order else table.take(order),
        frame_index=numbers,
        findings=(
            *findings,
            *([] if in_order else [_warning("rows_in_order", f"{subject}: rows were sorted.")]),
            *([_missing_rows(numbers, subject)] if has_gap else []),
        ),
    )


def _unclear_order(frame_index: Int64Array, subject: str) -> DataFaultError:
    row = int(np.flatnonzero(np.diff(frame_index) != 1)[0]) + 1
    return DataFaultError(
        f"{subject} has rows whose pictures can't be told: got frame_index {frame_index[row]} "
        f"after {frame_index[row - 1]} at row {row}, expected it to grow by 1. Remove doubled "
        "rows; where rows were cut out, cut the video too.",
        kind=ErrorKind.ROW_MISMATCH,
        row=row,
    )


def _missing_rows(numbers: Int64Array, subject: str) -> Finding:
    missing = int(numbers[-1] - numbers[0] + 1 - len(numbers))
    return _warning(
        "rows_are_contiguous", f"{subject}: {missing} values of frame_index are missing."
    )


def _warning(rule: str, message: str) -> Finding:
    return Finding(rule=rule, severity=Severity.WARN, message=message, where=FRAME)
