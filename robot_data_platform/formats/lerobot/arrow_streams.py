"""Arrow streams of LeRobot v1, mapped into memory: rows are read where they lie in the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from robot_data_platform.core.source import Source
from robot_data_platform.formats.arrow_names import column_names
from robot_data_platform.formats.data_files import data_path, unreadable
from robot_data_platform.formats.file_memo import FileMemo
from robot_data_platform.formats.lerobot.row_files import EPISODE, CutRows, cut_rows

_mapped: FileMemo[CutRows] = FileMemo(max_entries=2)


def mapped_stream(source: Source, relative: str) -> CutRows:
    """Return all rows of an Arrow stream file, none of which is copied.

    Raises
    ------
    DataFaultError
        ``missing-file``; ``unreadable-file``: truncated or damaged, or without a column
        ``episode_index``; ``shape-mismatch``: an ``episode_index`` is no whole number.
    """
    return _mapped.get(source, (relative,), lambda: _map(source, relative))


def _map(source: Source, relative: str) -> CutRows:
    path = data_path(source, relative)
    try:
        with pa.memory_map(str(path)) as file, pa.ipc.open_stream(file) as stream:
            table = stream.read_all()
        names = column_names(table.schema)
        if EPISODE not in names or len(set(names)) < len(names):
            got = f"got columns {names}, expected {EPISODE} among them and each name once"
            raise unreadable(source, relative, got)
        return cut_rows(table, relative)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as err:
        raise unreadable(source, relative, f"got {err}, expected a whole Arrow stream") from err


def stream_rows(
    source: Source, relative: str, episode_index: int, columns: Sequence[str]
) -> Iterator[pa.Table]:
    """Yield an episode's rows of an Arrow stream file, in file order.

    Raises
    ------
    DataFaultError
        As ``mapped_stream``.
    """
    rows = mapped_stream(source, relative).rows_of(episode_index)
    yield rows.select([name for name in rows.column_names if name in {*columns, EPISODE}])
