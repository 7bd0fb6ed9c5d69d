"""The rows of one LeRobot episode, in the order of their ``frame_index``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import Int64Array
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.lerobot.info import Feature
from robot_data_platform.formats.lerobot.place import EpisodePlace
from robot_data_platform.formats.lerobot.row_files import is_picture_column
from robot_data_platform.formats.lerobot.row_source import RowSource
from robot_data_platform.formats.parquet_files import MAX_TABLE_BYTES
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


def read_episode_rows(
    source: RowSource, place: EpisodePlace, cameras: Sequence[Feature], subject: str
) -> EpisodeRows:
    """Return the rows of an episode, checked against what the metadata says.

    Parameters
    ----------
    source : RowSource
        Where the episode's rows lie.
    place : EpisodePlace
        What the metadata says of the episode.
    cameras : sequence of Feature
        Their columns, where they have any, are left out here.
    subject : str
        The episode, for messages.

    Raises
    ------
    DataFaultError
        ``no-rows``; ``metadata-contradiction``: another number of rows than declared;
        ``row-mismatch``: a ``frame_index`` is doubled, or missing while there are pictures;
        ``shape-mismatch``: a column has different types in two files, or the rows take absurd
        memory; ``unreadable-file``.
    """
    keys = {camera.key for camera in cameras}
    own = [field for field in source.fields if field.name not in keys]
    columns = [field.name for field in own if not is_picture_column(field.type)]
    pieces = _pieces(source, columns, subject)
    table = _joined(pieces, subject) if pieces else pa.table({})
    _check_count(table.num_rows, place, source.names, subject)
    findings = (*check_rows(table.num_rows, subject), *_left_out(own, subject))
    if FRAME not in table.column_names:
        numbers = np.arange(table.num_rows, dtype=np.int64)
        return EpisodeRows(table=table, frame_index=numbers, findings=findings)
    has_images = any(camera.dtype == "image" for camera in cameras)
    return _ordered(table, bool(place.videos), has_images, subject, findings)


def _pieces(source: RowSource, columns: Sequence[str], subject: str) -> list[pa.Table]:
    pieces, num_bytes = [], 0
    for name, piece in source.read(columns):
        pieces.append(piece)
        num_bytes += piece.nbytes
        if num_bytes > MAX_TABLE_BYTES:
            raise DataFaultError(
                f"{subject} takes absurd memory: got {num_bytes} bytes of rows up to {name!r}, "
                f"expected at most {MAX_TABLE_BYTES}. Record shorter episodes.",
                kind=ErrorKind.SHAPE_MISMATCH,
            )
    return pieces


def _joined(pieces: Sequence[pa.Table], subject: str) -> pa.Table:
    try:
        return pa.concat_tables(pieces, promote_options="permissive")
    except pa.ArrowException as err:
        raise DataFaultError(
            f"{subject} has a column of different types in its files: got {err}, expected one "
            "type. Write the files alike.",
            kind=ErrorKind.SHAPE_MISMATCH,
        ) from err


def _left_out(fields: Sequence[pa.Field], subject: str) -> list[Finding]:
    return [
        Finding(
            rule="columns_are_read",
            severity=Severity.INFO,
            message=f"{subject}: column {name!r} was left out: got bytes of no declared camera.",
            where=name,
        )
        for name in sorted(field.name for field in fields if is_picture_column(field.type))
    ]


def _check_count(num_rows: int, place: EpisodePlace, names: Sequence[str], subject: str) -> None:
    claimed = place.num_rows_claimed
    if claimed is not None and claimed != num_rows and (num_rows or claimed):
        raise DataFaultError(
            f"{subject} has another length than its metadata says: got {num_rows} rows with "
            f"episode_index {place.episode_index} in {list(names)}, expected {claimed}. "
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
