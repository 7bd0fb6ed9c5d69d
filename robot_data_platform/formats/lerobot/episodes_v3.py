"""LeRobot v3.0: many episodes per file, found by the value of ``episode_index``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import EpisodeRef
from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.lerobot import contradictions
from robot_data_platform.formats.lerobot.data_scan import DataScan, scan_data_files
from robot_data_platform.formats.lerobot.episode_table import ABSENT, read_episode_table
from robot_data_platform.formats.lerobot.file_pointers import data_pointers, video_pointers
from robot_data_platform.formats.lerobot.info import INFO_FILE, Info
from robot_data_platform.formats.lerobot.place import (
    DATA_SUFFIX,
    META_FOLDER,
    EpisodePlace,
    VideoPlace,
    data_files,
    index_of,
    source_key,
)
from robot_data_platform.formats.lerobot.shared_video import first_frame, share_video
from robot_data_platform.formats.lerobot.tasks import TASK_FILES
from robot_data_platform.formats.natural_order import natural_key
from robot_data_platform.formats.protocol import EpisodeListing
from robot_data_platform.video.probe import probe_video

EPISODES_FOLDER = "meta/episodes/"


class EpisodesV3:
    """The episodes of ``meta/episodes``, with their rows and pictures located by value."""

    def __init__(self, source: Source, info: Info, files: Iterable[str]) -> None:
        own = (f for f in files if f.startswith(EPISODES_FOLDER) and f.endswith(DATA_SUFFIX))
        self._info = info
        self._table, self._faults = read_episode_table(source, sorted(own, key=natural_key))
        if not self._table.files:
            raise next(iter(self._faults.values()), _no_metadata(source))
        self._data = data_pointers(self._table, info.data_path)
        template = info.video_path
        keys = [f.key for f in info.features if f.dtype == "video" and template]
        self._videos = (
            {key: video_pointers(self._table, template, key) for key in keys} if template else {}
        )

    def list_episodes(self, source: Source, files: frozenset[str]) -> EpisodeListing:
        """Return every declared episode that has rows, or a data file that should have them."""
        scan = scan_data_files(source, self._data_candidates(files))
        referenced = {key: pointers.paths() for key, pointers in self._videos.items()}
        present = {key for key, paths in referenced.items() if paths & files}
        data = {row: self._data_paths(row, scan, files) for row in self._rows()}
        lost = {self._index(row) for row, paths in data.items() if not paths}
        meta = self._meta_files(files)
        return EpisodeListing(
            episodes=tuple(
                self._ref(row, data[row], present, meta[row]) for row in self._rows() if data[row]
            ),
            findings=(
                *self._fault_findings(scan),
                *self._contradictions(scan, lost),
                *contradictions.absent_cameras(self._info.features, present),
                *contradictions.unreferenced_videos(files, set().union(*referenced.values())),
            ),
        )

    def place(self, source: Source, ref: EpisodeRef) -> EpisodePlace:
        """Return where an episode lies; its videos are the ones that ``ref`` lists.

        Raises
        ------
        DataFaultError
            ``metadata-contradiction``: the metadata has the episode twice, or gives frames of
            one video to two episodes.
        """
        row = self._table.row_of(index_of(ref), source.label)
        videos = {key: self._video_place(source, key, row, ref) for key in self._videos}
        return EpisodePlace(
            episode_index=index_of(ref),
            num_rows_claimed=int(self._table.num_rows[row]),
            tasks=self._table.tasks(row),
            videos={key: place for key, place in videos.items() if place is not None},
            metadata=self._table.other_fields(row),
            findings=(*self._pointer_findings(row, ref), *self._camera_findings(row)),
        )

    def _rows(self) -> Sequence[int]:
        """Rows in the order of their numbers, one per number."""
        _, rows = np.unique(self._table.episode_index, return_index=True)
        return [int(row) for row in rows]

    def _index(self, row: int) -> int:
        return int(self._table.episode_index[row])

    def _data_candidates(self, files: frozenset[str]) -> list[str]:
        folder = self._info.data_path.folder
        rows = (f for f in files if f.startswith(folder) and f.endswith(DATA_SUFFIX))
        return sorted((f for f in rows if not f.startswith(META_FOLDER)), key=natural_key)

    def _data_paths(self, row: int, scan: DataScan, files: frozenset[str]) -> tuple[str, ...]:
        # Where no rows were found, the file that should hold them is kept: reading it says why.
        expected = self._data.path(row)
        fallback = (expected,) if expected in files else ()
        return scan.paths.get(self._index(row), fallback)

    def _meta_files(self, files: frozenset[str]) -> Mapping[int, tuple[str, ...]]:
        """By row: its own metadata file and those of the episodes that share its videos."""
        common = tuple(f for f in (INFO_FILE, *TASK_FILES) if f in files)
        numbers: dict[int, set[int]] = {
            row: {int(number)} for row, number in enumerate(self._table.file_number)
        }
        for pointers in self._videos.values():
            shared: dict[int, set[int]] = {}
            groups = pointers.groups().tolist()
            for row, group in enumerate(groups):
                shared.setdefault(group, set()).add(int(self._table.file_number[row]))
            for row, group in enumerate(groups):
                numbers[row] |= shared[group]
        return {
            row: (*common, *(self._table.files[n] for n in own)) for row, own in numbers.items()
        }

    def _ref(
        self, row: int, data: Sequence[str], present: set[str], meta: Sequence[str]
    ) -> EpisodeRef:
        videos = [path for key in present if (path := self._videos[key].path(row)) is not None]
        return EpisodeRef(
            source_key=source_key(self._index(row)),
            source_episode_index=self._index(row),
            files=tuple(sorted({*meta, *data, *videos})),
            num_rows_claimed=int(self._table.num_rows[row]),
        )

    def _video_place(
        self, source: Source, key: str, row: int, ref: EpisodeRef
    ) -> VideoPlace | None:
        pointers = self._videos[key]
        path = pointers.path(row)
        if path is None or path not in ref.files:
            return None
        start_s = self._table.seconds(f"videos/{key}/from_timestamp")
        shared = pointers.sharing(row)
        rows = shared[np.isfinite(start_s[shared])]
        if row not in rows:
            raise _no_start(self._index(row), path)
        index = self._table.episode_index
        video = share_video(
            path, index[rows], self._table.num_rows[rows], start_s[rows], self._info.fps
        )
        first, findings = first_frame(
            video,
            self._index(row),
            lambda: probe_video(str(source.local_path(path))).num_frames,
        )
        return VideoPlace(path=path, first_frame=first, findings=findings)

    def _pointer_findings(self, row: int, ref: EpisodeRef) -> Iterator[Finding]:
        expected, found = self._data.path(row), data_files(ref)
        if expected is not None and found != (expected,):
            yield Finding(
                rule="data_pointer_matches_rows",
                severity=Severity.WARN,
                message=(
                    f"Episode {self._index(row)} is not where the metadata says: got its rows in "
                    f"{list(found)}, expected them in {expected!r}. They were read where they are."
                ),
                where=expected,
            )

    def _camera_findings(self, row: int) -> Iterator[Finding]:
        for key, pointers in self._videos.items():
            others = (pointers.chunk_index != ABSENT).any()
            if others and pointers.path(row) is None:
                yield Finding(
                    rule="camera_is_recorded",
                    severity=Severity.WARN,
                    message=(
                        f"Episode {self._index(row)} has no pictures of camera {key!r}: got null "
                        "in its metadata, expected a video as other episodes have."
                    ),
                    where=f"camera={key}",
                )

    def _fault_findings(self, scan: DataScan) -> Iterator[Finding]:
        for path, fault in self._faults.items():
            yield contradictions.unreadable_file(path, str(fault), [])
        for path, fault in scan.faults.items():
            rows = (row for row in self._rows() if self._data.path(row) == path)
            lost = {self._index(row) for row in rows} - scan.paths.keys()
            yield contradictions.unreadable_file(path, str(fault), lost)

    def _contradictions(self, scan: DataScan, lost: set[int]) -> Iterator[Finding]:
        declared = {self._index(row) for row in self._rows()}
        expected = {
            path
            for row in self._rows()
            if self._index(row) in lost and (path := self._data.path(row))
        }
        total = int(self._table.num_rows.sum())
        yield from contradictions.wrong_totals(self._info, len(declared), total)
        yield from contradictions.episodes_without_files(lost, len(declared), expected)
        yield from contradictions.undeclared_episodes(
            scan.num_rows.keys() - declared, "Without it their pictures can't be found: left out."
        )
        yield from contradictions.wrong_bounds(
            self._table.integers("dataset_from_index"),
            self._table.integers("dataset_to_index"),
            self._table.episode_index,
        )


def _no_metadata(source: Source) -> DataFaultError:
    return DataFaultError(
        f"Source {source.label!r} declares no episodes: got no parquet file under "
        f"{EPISODES_FOLDER!r}, expected at least one. Upload the `meta` folder whole.",
        kind=ErrorKind.MISSING_FILE,
        path=EPISODES_FOLDER,
    )


def _no_start(episode_index: int, path: str) -> DataFaultError:
    return DataFaultError(
        f"Episode {episode_index} has unknown frames in {path!r}: got no from_timestamp, expected "
        "its start in seconds. Correct the episodes' metadata.",
        kind=ErrorKind.METADATA_CONTRADICTION,
        episode_index=episode_index,
        path=path,
    )
