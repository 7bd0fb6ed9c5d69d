"""Listing of a LeRobot v3 dataset: what is declared against what the data files hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from robot_data_platform.core.finding import Finding
from robot_data_platform.core.recording import EpisodeRef
from robot_data_platform.formats.lerobot import contradictions
from robot_data_platform.formats.lerobot.data_scan import DataScan
from robot_data_platform.formats.lerobot.index_v3 import IndexV3
from robot_data_platform.formats.lerobot.info import INFO_FILE
from robot_data_platform.formats.lerobot.place import source_key
from robot_data_platform.formats.lerobot.store import Holdings
from robot_data_platform.formats.lerobot.tasks import TEXT_FILES
from robot_data_platform.formats.protocol import EpisodeListing


def list_v3(index: IndexV3, held: Holdings, files: frozenset[str]) -> EpisodeListing:
    """Return every declared episode that has rows, or a data file that should have them.

    Raises
    ------
    DataFaultError
        ``metadata-contradiction``: there are videos, and the template finds none of them.
    """
    referenced = {key: pointers.paths() for key, pointers in index.videos.items()}
    present = {key for key, paths in referenced.items() if paths & held.files_by_video.keys()}
    contradictions.check_template(index.info, held.files_by_video.keys(), present)
    common = tuple(f for f in (INFO_FILE, *TEXT_FILES) if f in files)
    meta = index.meta_files()
    return EpisodeListing(
        episodes=tuple(
            _ref(index, row, (*common, *meta[row], *data), present, held)
            for row, data in held.data_by_row.items()
            if data
        ),
        findings=(
            *_fault_findings(index, held.rows),
            *_contradictions(index, held),
            *contradictions.absent_cameras(index.info.features, present),
            *contradictions.unreferenced_videos(
                held.files_by_video.keys(), set().union(*referenced.values())
            ),
        ),
    )


def _ref(
    index: IndexV3, row: int, files: Sequence[str], present: set[str], held: Holdings
) -> EpisodeRef:
    videos = [path for key in present if (path := index.videos[key].path(row)) is not None]
    # A video that is missing is listed as it is: reading the episode then says so.
    video_files = [f for path in videos for f in held.files_by_video.get(path, (path,))]
    return EpisodeRef(
        source_key=source_key(index.number(row)),
        source_episode_index=index.number(row),
        files=tuple(sorted({*files, *video_files})),
        num_rows_claimed=int(index.table.num_rows[row]),
    )


def _fault_findings(index: IndexV3, scan: DataScan) -> Iterator[Finding]:
    for path, fault in index.faults.items():
        yield contradictions.unreadable_file(path, str(fault), [])
    for path, fault in scan.faults.items():
        rows = (row for row in index.rows() if index.data.path(row) == path)
        lost = {index.number(row) for row in rows} - scan.paths.keys()
        yield contradictions.unreadable_file(path, str(fault), lost)


def _contradictions(index: IndexV3, held: Holdings) -> Iterator[Finding]:
    table = index.table
    declared = {index.number(row) for row in held.data_by_row}
    lost = [row for row, files in held.data_by_row.items() if not files]
    yield from contradictions.wrong_totals(index.info, len(declared), int(table.num_rows.sum()))
    yield from contradictions.episodes_without_files(
        [index.number(row) for row in lost],
        len(declared),
        {index.data.path(row) or "a pointer to a data file" for row in lost},
    )
    yield from contradictions.undeclared_episodes(
        held.rows.num_rows.keys() - declared, "Without it their pictures can't be found: left out."
    )
    yield from contradictions.wrong_bounds(
        table.integers("dataset_from_index"),
        table.integers("dataset_to_index"),
        table.episode_index,
    )
    for key in index.videos:
        yield from contradictions.wrong_video_ends(
            key,
            table.episode_index,
            table.seconds(f"videos/{key}/to_timestamp")
            - table.seconds(f"videos/{key}/from_timestamp"),
            table.num_rows,
            index.info.fps,
        )
