"""The tables of a LeRobot dataset in Lance: rows by episode, and videos as blobs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.data_files import unreadable
from robot_data_platform.formats.lerobot.row_files import is_picture_column
from robot_data_platform.formats.parquet_files import checked
from robot_data_platform.storage.foreign_tables import ForeignTable, open_foreign_table

FRAMES, VIDEOS = "frames.lance", "videos.lance"
"""Folders of the rows and of the videos."""
PICTURE_ROWS, PLAIN_ROWS = 32, 8192
"""Rows in memory at a time, with pictures among the columns and without."""
BLOB_SUFFIX = ".blob"
"""Ends the names of files that hold nothing but larger blobs."""
_LAST_VERSION = (1 << 64) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class LanceTable:
    """One table of a source, read fragment by fragment."""

    source: Source
    name: str
    """Its folder."""
    table: ForeignTable
    manifest: str
    """Relative path in the source of the file that says what the table is made of."""
    files_by_fragment: dict[int, tuple[str, ...]]
    """Relative paths in the source of every file that a fragment is read from."""

    def num_rows(self, fragment: int) -> int:
        """Return how many rows a fragment has."""
        return next(f.num_rows for f in self.table.fragments if f.number == fragment)

    def rows(
        self, fragment: int, columns: Sequence[str], start: int, stop: int
    ) -> Iterator[pa.Table]:
        """Yield a stretch of a fragment's rows piece by piece, ``_rowid`` as the last column.

        Raises
        ------
        DataFaultError
            ``missing-file``, ``unreadable-file``: a file of the fragment is absent or damaged.
        """
        for relative in self.files_by_fragment[fragment]:
            if not relative.endswith(BLOB_SUFFIX):
                self.source.local_path(relative)
        has_pictures = any(is_picture_column(self.table.schema.field(c).type) for c in columns)
        step = PICTURE_ROWS if has_pictures else PLAIN_ROWS
        for batch in self.table.rows(fragment, columns, start, stop, step):
            try:
                yield checked(pa.Table.from_batches([batch]))
            except pa.ArrowException as err:
                raise unreadable(self.source, self.name, f"got {err}, expected rows") from err

    def copy_blob(self, column: str, fragment: int, row_id: int, target: Path) -> None:
        """Write the blob of a row to a file.

        Raises
        ------
        DataFaultError
            ``missing-file``, ``unreadable-file``: the blob is absent, damaged, or lies elsewhere.
        """
        for relative in self.files_by_fragment[fragment]:
            self.source.local_path(relative)
        self.table.copy_blob(column, row_id, target)


def open_lance(source: Source, name: str, columns: Sequence[str]) -> LanceTable:
    """Return a table of a source.

    Parameters
    ----------
    source : Source
        The dataset.
    name : str
        The table's folder.
    columns : sequence of str
        Columns that it must have.

    Raises
    ------
    DataFaultError
        ``missing-file``: there is no such folder. ``unreadable-file``: no whole Lance table, or
        one without the columns. ``unsafe-path``: files of it lie elsewhere.
    """
    own = [f for f in source.list_files() if f.startswith(f"{name}/")]
    if not own:
        raise _no_table(source, name)
    for relative in own:
        if not relative.startswith(f"{name}/data/"):
            source.local_path(relative)
    _check_plain(source, name)
    table = open_foreign_table(source.local_folder / name, f"Table {name!r} of {source.label!r}")
    absent = sorted(set(columns) - set(table.schema.names))
    if absent:
        got = f"got columns {table.schema.names}, expected {absent} among them"
        raise unreadable(source, name, got)
    return LanceTable(
        source=source,
        name=name,
        table=table,
        manifest=_manifest(own, name, table.version),
        files_by_fragment={
            fragment.number: tuple(
                path for file in fragment.files for path in _with_blobs(f"{name}/{file}", own)
            )
            for fragment in table.fragments
        },
    )


def _check_plain(source: Source, name: str) -> None:
    """Refuse what Lance would follow or wait for: it opens by itself whatever lies in a folder."""
    for path in (source.local_folder / name).rglob("*"):
        if not path.is_file() and (path.is_symlink() or not path.is_dir()):
            where = path.relative_to(source.local_folder).as_posix()
            raise unreadable(source, where, "got a link or a pipe, expected a file or a folder")


def _with_blobs(data_file: str, own: Sequence[str]) -> list[str]:
    """Return a data file and those beside it that hold its larger blobs."""
    folder = data_file.removesuffix(".lance") + "/"
    return [data_file, *(path for path in own if path.startswith(folder))]


def _manifest(own: Sequence[str], name: str, version: int) -> str:
    """Return which of a table's files states a version, under either of Lance's two names."""
    known = (f"{_LAST_VERSION - version:020d}", str(version))
    paths = [f"{name}/_versions/{stem}.manifest" for stem in known]
    return next((path for path in paths if path in own), paths[0])


def _no_table(source: Source, name: str) -> DataFaultError:
    return DataFaultError(
        f"Source {source.label!r} has no table {name!r}: got no file in that folder, expected a "
        "Lance table, as its metadata says. Upload it whole.",
        kind=ErrorKind.MISSING_FILE,
        path=name,
    )
