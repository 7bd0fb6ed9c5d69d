"""Rows of ``frames`` held in memory, where they fit: no request and no take for each batch."""

from __future__ import annotations

import threading

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from robot_data_platform.reader.columns import ColumnValues, TextValues, Values, column_values
from robot_data_platform.reader.frame_rows import FrameRows
from robot_data_platform.reader.row_index import chosen_parts
from robot_data_platform.reader.row_source import PictureRefs, Rows, picture_refs

Int64Array = npt.NDArray[np.int64]

REFERENCE_BYTES = 12
"""Memory of a picture's reference: an int64 and an int32."""
TEXT_BYTES = 4
"""Memory of a row's text: its number; rows share few texts."""


def num_bytes_held(rows: FrameRows) -> int:
    """Return about how much memory the rows take."""
    schema = rows.frames.schema
    of_columns = sum(_bytes_of(schema.field(name).type) for name in rows.columns)
    return len(rows.index) * (of_columns + REFERENCE_BYTES * len(rows.cameras))


class RamRows:
    """Columns and references of every row, read by one scan when the first row is asked for."""

    def __init__(self, rows: FrameRows) -> None:
        self._rows = rows
        self._held: Rows | None = None
        self._lock = threading.Lock()

    def take(self, position: Int64Array) -> Rows:
        """Return the rows at some positions, (M,).

        Raises
        ------
        DataFaultError
            ``row-mismatch``: the table's rows are not those that the index was made from, or a row
            refers to a picture of another episode.
        """
        with self._lock:
            if self._held is None:
                self._held = self._read()
        columns = {name: values.take(position) for name, values in self._held.columns.items()}
        refs = {camera: held.take(position) for camera, held in self._held.refs.items()}
        for camera, refs_of_camera in refs.items():
            self._rows.check_refs(camera, refs_of_camera, position)
        return Rows(columns=columns, refs=refs)

    def _read(self) -> Rows:
        rows, index = self._rows, self._rows.index
        columns = {name: _Held(len(index)) for name in rows.columns}
        refs = {camera: _HeldRefs(len(index)) for camera in rows.cameras}
        num_found = 0
        for table, position in chosen_parts(rows.frames, rows.names, rows.episodes, index.start):
            rows.verify(table, position)
            for name, held in columns.items():
                held.put(position, column_values(table[name]))
            for camera, held_refs in refs.items():
                held_refs.put(position, picture_refs(table, camera))
            num_found += int(np.count_nonzero(index.row_id[position] == table["_rowid"].to_numpy()))
        if num_found != len(index):
            raise rows.not_those_of_the_index(num_found)
        return Rows(
            columns={name: held.values() for name, held in columns.items()},
            refs={camera: held_refs.refs() for camera, held_refs in refs.items()},
        )


class _HeldRefs:
    def __init__(self, num_rows: int) -> None:
        self._refs = PictureRefs(
            gop_key=np.empty(num_rows, dtype=np.int64), frame=np.empty(num_rows, dtype=np.int32)
        )

    def put(self, position: Int64Array, refs: PictureRefs) -> None:
        self._refs.gop_key[position] = refs.gop_key
        self._refs.frame[position] = refs.frame

    def refs(self) -> PictureRefs:
        return self._refs


class _Held:
    """One column of all rows, filled a part at a time."""

    def __init__(self, num_rows: int) -> None:
        self._num_rows = num_rows
        self._arrays: dict[str, npt.NDArray[np.generic]] = {}
        self._code_by_text: dict[str, int] = {}

    def put(self, position: Int64Array, part: Values) -> None:
        if isinstance(part, TextValues):
            codes = [
                self._code_by_text.setdefault(text, len(self._code_by_text)) for text in part.texts
            ]
            self._put("code", position, np.array(codes, dtype=np.int32)[part.code])
            return
        self._put("values", position, part.values)
        if part.is_missing is not None:
            self._put("is_missing", position, part.is_missing)

    def _put(self, name: str, position: Int64Array, part: npt.NDArray[np.generic]) -> None:
        if name not in self._arrays:
            self._arrays[name] = np.empty((self._num_rows, *part.shape[1:]), dtype=part.dtype)
        self._arrays[name][position] = part

    def values(self) -> Values:
        if "code" in self._arrays:
            return TextValues(code=self._arrays["code"], texts=list(self._code_by_text))  # type: ignore[arg-type]
        return ColumnValues(
            values=self._arrays["values"],
            is_missing=self._arrays.get("is_missing"),  # type: ignore[arg-type]
        )


def _bytes_of(kind: pa.DataType) -> int:
    if pa.types.is_string(kind):
        return TEXT_BYTES
    if pa.types.is_fixed_size_list(kind):
        return int(kind.list_size) * _bytes_of(kind.value_type)
    has_mask = not pa.types.is_floating(kind)
    return max(1, int(kind.bit_width) // 8) + has_mask
