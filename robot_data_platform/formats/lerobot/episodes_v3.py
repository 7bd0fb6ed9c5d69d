"""LeRobot v3.0: many episodes per file, found by the value of ``episode_index``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import EpisodeRef
from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.lerobot.index_v3 import read_index
from robot_data_platform.formats.lerobot.info import Info
from robot_data_platform.formats.lerobot.listing_v3 import list_v3
from robot_data_platform.formats.lerobot.place import (
    EpisodePlace,
    VideoPlace,
    index_of,
)
from robot_data_platform.formats.lerobot.row_source import RowSource
from robot_data_platform.formats.lerobot.shared_video import SharedVideo, first_frame, share_video
from robot_data_platform.formats.lerobot.store import Store
from robot_data_platform.formats.protocol import EpisodeListing
from robot_data_platform.video.probe import probe_video

MAX_START_S = 1e9
"""No video is as long: 30 years."""


class EpisodesV3:
    """The episodes of ``meta/episodes``, with their rows and pictures located by value."""

    def __init__(self, source: Source, info: Info, files: Iterable[str], store: Store) -> None:
        self._index = read_index(source, info, files)
        self._store = store
        self._shared: dict[tuple[str, int], SharedVideo] = {}

    def list_episodes(self, source: Source, files: frozenset[str]) -> EpisodeListing:
        """Return every declared episode that has rows, or a data file that should have them."""
        return list_v3(self._index, self._store.holdings(source, self._index, files), files)

    def rows(self, source: Source, ref: EpisodeRef) -> RowSource:
        """Return an episode's rows."""
        return self._store.rows(source, ref)

    def local_video(self, source: Source, path: str) -> str:
        """Return a local path of a video."""
        return self._store.local_video(source, path)

    def place(self, source: Source, ref: EpisodeRef) -> EpisodePlace:
        """Return where an episode lies; its videos are the ones that ``ref`` lists.

        Raises
        ------
        DataFaultError
            ``metadata-contradiction``: the metadata has the episode twice, or gives frames of
            one video to two episodes.
        """
        table = self._index.table
        row = table.row_of(index_of(ref), source.label)
        videos = {key: self._video_place(source, key, row, ref) for key in self._index.videos}
        return EpisodePlace(
            episode_index=index_of(ref),
            num_rows_claimed=int(table.num_rows[row]),
            tasks=table.tasks(row),
            videos={key: place for key, place in videos.items() if place is not None},
            metadata=table.other_fields(row),
            findings=(*self._pointer_findings(row, ref), *self._camera_findings(row)),
        )

    def _video_place(
        self, source: Source, key: str, row: int, ref: EpisodeRef
    ) -> VideoPlace | None:
        path = self._index.videos[key].path(row)
        if path is None or not self._store.has_camera(ref, key, path):
            return None
        video = self._shared_video(key, row, path)
        if self._index.number(row) not in video.episode_index:
            raise _no_start(self._index.number(row), path)
        first, findings = first_frame(
            video,
            self._index.number(row),
            lambda: probe_video(self._store.local_video(source, path)).num_frames,
        )
        is_last = video.is_last(self._index.number(row))
        return VideoPlace(path=path, first_frame=first, is_last=is_last, findings=findings)

    def _shared_video(self, key: str, row: int, path: str) -> SharedVideo:
        number = int(self._index.videos[key].file_number[row])
        if (key, number) not in self._shared:
            start_s = self._index.table.seconds(f"videos/{key}/from_timestamp")
            sharing = self._index.videos[key].rows_of_file(number)
            rows = sharing[np.abs(start_s[sharing]) < MAX_START_S]
            if not len(rows):
                raise _no_start(self._index.number(row), path)
            self._shared[key, number] = share_video(
                path,
                self._index.table.episode_index[rows],
                self._index.table.num_rows[rows],
                start_s[rows],
                self._index.info.fps,
            )
        return self._shared[key, number]

    def _pointer_findings(self, row: int, ref: EpisodeRef) -> Iterator[Finding]:
        number, expected = self._index.number(row), self._index.data.path(row)
        found = self._store.misplaced(ref, expected)
        if found:
            yield Finding(
                rule="data_pointer_matches_rows",
                severity=Severity.WARN,
                message=(
                    f"Episode {number} is not where the metadata says: got its rows in "
                    f"{list(found)}, expected them in {expected!r}. They were read where they are."
                ),
                where=str(expected),
            )

    def _camera_findings(self, row: int) -> Iterator[Finding]:
        number = self._index.number(row)
        for key, pointers in self._index.videos.items():
            if pointers.paths() and pointers.path(row) is None:
                yield Finding(
                    rule="camera_is_recorded",
                    severity=Severity.WARN,
                    message=(
                        f"Episode {number} has no pictures of camera {key!r}: got null "
                        "in its metadata, expected a video as other episodes have."
                    ),
                    where=f"camera={key}",
                )


def _no_start(episode_index: int, path: str) -> DataFaultError:
    return DataFaultError(
        f"Episode {episode_index} has unknown frames in {path!r}: got no from_timestamp, or one of "
        f"{MAX_START_S:.0e} s or more, expected its start in seconds. Correct the episodes' "
        "metadata.",
        kind=ErrorKind.METADATA_CONTRADICTION,
        episode_index=episode_index,
        path=path,
    )
