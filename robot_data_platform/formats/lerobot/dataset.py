"""The LeRobot format behind the ``Format`` protocol."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import EpisodeRef, Recording
from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.channel_order import in_rgb
from robot_data_platform.formats.file_memo import FileMemo
from robot_data_platform.formats.json_files import read_json
from robot_data_platform.formats.lerobot.cameras import read_cameras
from robot_data_platform.formats.lerobot.clock import row_times
from robot_data_platform.formats.lerobot.data_files_v1 import find_row_files, schema_of_any
from robot_data_platform.formats.lerobot.episodes_v1 import EpisodesV1
from robot_data_platform.formats.lerobot.episodes_v2 import EpisodesV2
from robot_data_platform.formats.lerobot.episodes_v3 import EpisodesV3
from robot_data_platform.formats.lerobot.info import (
    INFO_FILE,
    LANCE,
    Info,
    declared_camera,
    read_info,
)
from robot_data_platform.formats.lerobot.info_v1 import INFO_FILE_V1, read_info_v1
from robot_data_platform.formats.lerobot.lance_store import LanceStore
from robot_data_platform.formats.lerobot.lance_tables import FRAMES
from robot_data_platform.formats.lerobot.place import Layout, meta_files
from robot_data_platform.formats.lerobot.rows import read_episode_rows
from robot_data_platform.formats.lerobot.signals import read_signals
from robot_data_platform.formats.lerobot.spoken import read_spoken
from robot_data_platform.formats.lerobot.store import FileStore
from robot_data_platform.formats.lerobot.tasks import Texts, read_texts
from robot_data_platform.formats.names import camera_name
from robot_data_platform.formats.profile import Profile
from robot_data_platform.formats.protocol import EpisodeListing
from robot_data_platform.formats.statements import apply_profile


@dataclass(frozen=True, slots=True, kw_only=True)
class _Dataset:
    info: Info
    layout: Layout
    texts: Texts


_datasets: FileMemo[_Dataset] = FileMemo(max_entries=4)


class LeRobotFormat:
    """LeRobot v1 to v3.0: rows in Arrow, parquet or Lance, and videos or embedded pictures."""

    name = "lerobot"
    marker = f"{INFO_FILE} with a codebase_version, or {INFO_FILE_V1}"

    def sniff(self, source: Source) -> bool:
        """Return whether ``meta/info.json`` names a LeRobot version, or can't be read at all."""
        files = source.list_files()
        if INFO_FILE not in files:
            return INFO_FILE_V1 in files
        try:
            return "codebase_version" in read_json(source, INFO_FILE)
        except DataFaultError:
            return True  # listing the episodes says what is wrong with it

    def list_episodes(self, source: Source, profile: Profile) -> EpisodeListing:
        """Return every episode with data files, in the order of their numbers."""
        files = frozenset(source.list_files())
        dataset = _open(source, files)
        listing = dataset.layout.list_episodes(source, files)
        return replace(
            listing,
            findings=(*dataset.texts.findings, *listing.findings, *_rate(dataset.info, profile)),
            declared_cameras={
                camera_name(feature.key): declared_camera(feature, dataset.info.fps)
                for feature in dataset.info.cameras
            },
        )

    def read(self, source: Source, ref: EpisodeRef, profile: Profile) -> Recording:
        """Return one episode; its rows are found by ``episode_index``, its frames by counting."""
        dataset = _datasets.get(source, meta_files(ref), lambda: _open(source, ref.files))
        return apply_profile(in_rgb(_read(source, ref, dataset), profile), profile)


def _open(source: Source, files: Iterable[str]) -> _Dataset:
    known = frozenset(files)
    texts = read_texts(source, known)
    if INFO_FILE not in known:
        return _open_v1(source, known, texts)
    info = read_info(source)
    _check_recorded(source, info, known)
    return _Dataset(info=info, layout=_layout(source, info, known), texts=texts)


def _check_recorded(source: Source, info: Info, known: frozenset[str]) -> None:
    is_there = any(f.startswith((info.data_path.folder, f"{FRAMES}/")) for f in known)
    if info.num_episodes_claimed == 0 and not is_there:
        raise DataFaultError(
            f"Source {source.label!r} is a dataset in which nothing was recorded: got "
            f"total_episodes 0 and no rows, expected at least one episode. Record one first.",
            kind=ErrorKind.EMPTY_SOURCE,
        )


def _layout(source: Source, info: Info, known: frozenset[str]) -> Layout:
    if info.version != "v3.0":
        return EpisodesV2(source, info)
    store = LanceStore(source, info) if info.storage == LANCE else FileStore()
    return EpisodesV3(source, info, known, store)


def _open_v1(source: Source, known: frozenset[str], texts: Texts) -> _Dataset:
    files = find_row_files(source, known)
    info = read_info_v1(source, schema_of_any(source, files.present))
    return _Dataset(info=info, layout=EpisodesV1(source, info, known), texts=texts)


def _read(source: Source, ref: EpisodeRef, dataset: _Dataset) -> Recording:
    subject = f"Episode {ref.source_key!r} of {source.label!r}"
    info, layout = dataset.info, dataset.layout
    place, row_source = layout.place(source, ref), layout.rows(source, ref)
    rows = read_episode_rows(row_source, place, info.cameras, subject)
    times, late = row_times(rows.frame_index, rows.seconds(subject), info.fps, subject)
    spoken = read_spoken(rows, times, dataset.texts, place.tasks, subject)
    table = rows.table.drop_columns(sorted(spoken.columns))
    columns = read_signals(table, {f.key: f for f in info.features}, times, subject)
    local_video = partial(layout.local_video, source)
    cameras, unseen = read_cameras(info.cameras, row_source, place, times, local_video, subject)
    told = (place.findings, rows.findings, late, columns.findings, unseen, spoken.findings)
    robot = {"robot_type": info.robot_type} if info.robot_type else {}
    metadata = {**place.metadata, **columns.metadata, **spoken.metadata, **robot}
    return Recording(
        ref=ref,
        signals=columns.signals,
        cameras=cameras,
        task=spoken.task,
        robot=info.robot_type,
        instructions=spoken.intervals,
        findings=tuple(finding for findings in told for finding in findings),
        metadata={**metadata, "format": info.version},
    )


def _rate(info: Info, profile: Profile) -> Iterable[Finding]:
    stated = profile.control_hz
    if stated is not None and stated != float(info.fps):
        yield Finding(
            rule="rate_as_profile_states",
            severity=Severity.WARN,
            message=(
                f"{INFO_FILE!r} says {float(info.fps):g} rows per second: expected the profile's "
                f"{stated:g}. The data's was used."
            ),
            where=INFO_FILE,
            value=float(info.fps),
            threshold=stated,
            unit="Hz",
        )
