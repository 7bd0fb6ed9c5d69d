"""Listing of a LeRobot v3 dataset: what is declared against what the data files hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from robot_data_platform.core.finding import Finding
from robot_data_platform.core.recording import EpisodeRef
from robot_data_platform.core.source import Source
from robot_data_platform.formats.lerobot import contradictions
from robot_data_platform.formats.lerobot.data_scan import DataScan, scan_data_files
from robot_data_platform.formats.lerobot.index_v3 import IndexV3
from robot_data_platform.formats.lerobot.info import INFO_FILE
from robot_data_platform.formats.lerobot.place import DATA_SUFFIX, META_FOLDER, source_key
from robot_data_platform.formats.lerobot.tasks import TASK_FILES
from robot_data_platform.formats.natural_order import natural_key
from robot_data_platform.formats.protocol import EpisodeListing


def list_v3(source: Source, index: IndexV3, files: frozenset[str]) -> EpisodeListing:
    """Return every declared episode that has rows, or a data file that should have them."""
    scan = scan_data_files(source, _data_candidates(index, files))
    rows = index.rows()
    data = {row: _data_paths(index, row, scan, files) for row in rows}
    referenced = {key: pointers.paths() for key, pointers in index.videos.items()}
    present = {key for key, paths in referenced.items() if paths & files}
    common = tuple(f for f in (INFO_FILE, *TASK_FILES) if f in files)
    meta = index.meta_files()
    return EpisodeListing(
        episodes=tuple(
            _ref(index, row, (*common, *meta[row], *data[row]), present)
            for row in rows
            if data[row]
        ),
        findings=(
            *_fault_findings(index, scan),
            *_contradictions(index, scan, data),
            *contradictions.absent_cameras(index.info.features, present),
            *contradictions.unreferenced_videos(files, set().union(*referenced.values())),
        ),
    )


def _data_candidates(index: IndexV3, files: frozenset[str]) -> list[str]:
    folder = index.info.data_path.folder
    rows = (f for f in files if f.startswith(folder) and f.endswith(DATA_SUFFIX))
    return sorted((f for f in rows if not f.startswith(META_FOLDER)), key=natural_key)


def _data_paths(index: IndexV3, row: int, scan: DataScan, files: frozenset[str]) -> tuple[str, ...]:
    # Where no rows were found, the file that should hold them is kept: reading it says why.
    expected = index.data.path(row)
    fallback = (expected,) if expected in files else ()
    return scan.paths.get(index.number(row), fallback)


def _ref(index: IndexV3, row: int, files: Sequence[str], present: set[str]) -> EpisodeRef:
    videos = [path for key in present if (path := index.videos[key].path(row)) is not None]
    return EpisodeRef(
        source_key=source_key(index.number(row)),
        source_episode_index=index.number(row),
        files=tuple(sorted({*files, *videos})),
        num_rows_claimed=int(index.table.num_rows[row]),
    )


def _fault_findings(index: IndexV3, scan: DataScan) -> Iterator[Finding]:
    for path, fault in index.faults.items():
        yield contradictions.unreadable_file(path, str(fault), [])
    for path, fault in scan.faults.items():
        rows = (row for row in index.rows() if index.data.path(row) == path)
        lost = {index.number(row) for row in rows} - scan.paths.keys()
        yield contradictions.unreadable_file(path, str(fault), lost)


def _contradictions(
    index: IndexV3, scan: DataScan, data: Mapping[int, Sequence[str]]
) -> Iterator[Finding]:
    table = index.table
    declared = {index.number(row) for row in data}
    lost = [row for row, paths in data.items() if not paths]
    yield from contradictions.wrong_totals(index.info, len(declared), int(table.num_rows.sum()))
    yield from contradictions.episodes_without_files(
        [index.number(row) for row in lost],
        len(declared),
        {index.data.path(row) or "a pointer to a data file" for row in lost},
    )
    yield from contradictions.undeclared_episodes(
        scan.num_rows.keys() - declared, "Without it their pictures can't be found: left out."
    )
    yield from contradictions.wrong_bounds(
        table.integers("dataset_from_index"),
        table.integers("dataset_to_index"),
        table.episode_index,
    )
