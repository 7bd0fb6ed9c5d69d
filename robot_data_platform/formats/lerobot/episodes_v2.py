"""LeRobot v2.0 and v2.1: one file per episode, named by a template."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import cast

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import EpisodeRef
from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.data_files import data_path
from robot_data_platform.formats.json_files import JsonObject, read_json_lines
from robot_data_platform.formats.lerobot import contradictions
from robot_data_platform.formats.lerobot.info import INFO_FILE, Info
from robot_data_platform.formats.lerobot.place import (
    DATA_SUFFIX,
    VIDEO_SUFFIX,
    EpisodePlace,
    VideoPlace,
    data_files,
    index_of,
    source_key,
)
from robot_data_platform.formats.lerobot.row_files import rows_by_episode
from robot_data_platform.formats.lerobot.row_source import RowSource, rows_of_files
from robot_data_platform.formats.lerobot.tasks import TEXT_FILES
from robot_data_platform.formats.natural_order import number_ranges
from robot_data_platform.formats.protocol import EpisodeListing

EPISODES_FILE = "meta/episodes.jsonl"
_KNOWN_FIELDS = frozenset({"episode_index", "tasks", "length"})


class EpisodesV2:
    """The episodes of ``meta/episodes.jsonl``, by their ``episode_index``."""

    def __init__(self, source: Source, info: Info) -> None:
        self._info = info
        objects, self._findings = read_json_lines(source, EPISODES_FILE, {"episode_index": int})
        self._entries: dict[int, list[JsonObject]] = {}
        for entry in objects:
            self._entries.setdefault(cast("int", entry["episode_index"]), []).append(entry)

    def list_episodes(self, source: Source, files: frozenset[str]) -> EpisodeListing:
        """Return every episode that has a data file, declared or not."""
        data = self._data_paths(files)
        videos = {
            key: {self._video_path(key, index) for index in data} & files
            for key in self._camera_keys()
        }
        present = {key for key, paths in videos.items() if paths}
        contradictions.check_template(
            self._info, [f for f in files if f.endswith(VIDEO_SUFFIX)], present
        )
        return EpisodeListing(
            episodes=tuple(self._ref(i, data[i], present, files) for i in sorted(data)),
            findings=(
                *self._findings,
                *self._contradictions(set(data)),
                *contradictions.absent_cameras(self._info.features, present),
                *contradictions.unreferenced_videos(files, set().union(*videos.values())),
            ),
        )

    def place(self, source: Source, ref: EpisodeRef) -> EpisodePlace:
        """Return where an episode lies; its videos are the ones that ``ref`` lists.

        Raises
        ------
        DataFaultError
            ``metadata-contradiction``: the metadata has the episode twice.
        """
        index = index_of(ref)
        entry = self._entry(index, source.label)
        paths = {key: self._video_path(key, index) for key in self._camera_keys()}
        tasks = entry.get("tasks")
        return EpisodePlace(
            episode_index=index,
            num_rows_claimed=_length(entry),
            tasks=tuple(map(str, tasks)) if isinstance(tasks, list) else (),
            videos={
                key: VideoPlace(path=path, first_frame=0, is_last=True)
                for key, path in paths.items()
                if path in ref.files
            },
            metadata={k: json.dumps(v) for k, v in entry.items() if k not in _KNOWN_FIELDS},
            findings=tuple(_other_rows(source, ref, index)),
        )

    def rows(self, source: Source, ref: EpisodeRef) -> RowSource:
        """Return the rows of the episode in its file."""
        return rows_of_files(source, data_files(ref), index_of(ref))

    def local_video(self, source: Source, path: str) -> str:
        """Return where the file lies."""
        return str(data_path(source, path))

    def _entry(self, index: int, label: str) -> JsonObject:
        entries = self._entries.get(index, [{}])
        if len(entries) > 1:
            raise DataFaultError(
                f"Episode {index} of {label!r} is declared more than once: got {len(entries)} "
                f"lines in {EPISODES_FILE!r}, expected one. Remove the wrong line.",
                kind=ErrorKind.METADATA_CONTRADICTION,
                episode_index=index,
            )
        return entries[0]

    def _data_paths(self, files: frozenset[str]) -> dict[int, str]:
        template = self._info.data_path
        paths = {i: template.fill(**self._fields(i)) for i in self._entries}
        found = {i: path for i, path in paths.items() if path in files}
        for path in files:
            index = template.number("episode_index", path) if path.endswith(DATA_SUFFIX) else None
            if index is not None:
                found.setdefault(index, path)
        return found

    def _fields(self, index: int) -> Mapping[str, int]:
        return {"episode_index": index, "episode_chunk": index // self._info.chunks_size}

    def _camera_keys(self) -> tuple[str, ...]:
        return tuple(f.key for f in self._info.features if f.dtype == "video")

    def _video_path(self, key: str, index: int) -> str:
        template = self._info.video_path
        fields: Mapping[str, int | str] = {**self._fields(index), "video_key": key}
        return template.fill(**fields) if template else ""

    def _ref(self, index: int, data: str, present: set[str], files: frozenset[str]) -> EpisodeRef:
        # A camera that other episodes have is listed even where this one's file is missing:
        # reading the episode then says so.
        videos = [self._video_path(key, index) for key in present]
        meta = [f for f in (INFO_FILE, EPISODES_FILE, *TEXT_FILES) if f in files]
        entry = self._entries.get(index, [{}])[0]
        return EpisodeRef(
            source_key=source_key(index),
            source_episode_index=index,
            files=tuple(sorted({*meta, data, *videos})),
            num_rows_claimed=_length(entry),
        )

    def _contradictions(self, found: set[int]) -> Iterator[Finding]:
        lengths = [_length(entries[0]) for entries in self._entries.values()]
        total = None if None in lengths else sum(length or 0 for length in lengths)
        lost = self._entries.keys() - found
        expected = {self._info.data_path.fill(**self._fields(i)) for i in lost}
        yield from contradictions.wrong_totals(self._info, len(self._entries), total)
        yield from contradictions.episodes_without_files(lost, len(self._entries), expected)
        yield from contradictions.undeclared_episodes(
            found - self._entries.keys(), "They are read without it."
        )


def _other_rows(source: Source, ref: EpisodeRef, index: int) -> Iterator[Finding]:
    for path in data_files(ref):
        others = {e: n for e, n in rows_by_episode(source, path).items() if e != index}
        if others:
            yield Finding(
                rule="data_pointer_matches_rows",
                severity=Severity.WARN,
                message=(
                    f"File {path!r} holds rows of other episodes: got {sum(others.values())} rows "
                    f"of episodes {number_ranges(others)}, expected episode {index} alone. They "
                    "were left out."
                ),
                where=path,
                value=sum(others.values()),
                unit="rows",
            )


def _length(entry: JsonObject) -> int | None:
    length = entry.get("length")
    return length if isinstance(length, int) else None
