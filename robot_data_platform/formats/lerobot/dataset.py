"""The LeRobot format behind the ``Format`` protocol."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import EpisodeRef, Recording
from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError
from robot_data_platform.formats.file_memo import FileMemo
from robot_data_platform.formats.json_files import read_json
from robot_data_platform.formats.lerobot.cameras import read_cameras
from robot_data_platform.formats.lerobot.clock import row_times
from robot_data_platform.formats.lerobot.episodes_v2 import EpisodesV2
from robot_data_platform.formats.lerobot.episodes_v3 import EpisodesV3
from robot_data_platform.formats.lerobot.info import INFO_FILE, Info, declared_camera, read_info
from robot_data_platform.formats.lerobot.place import Layout, data_files, meta_files
from robot_data_platform.formats.lerobot.rows import read_episode_rows
from robot_data_platform.formats.lerobot.signals import read_signals
from robot_data_platform.formats.lerobot.tasks import instructions, read_tasks
from robot_data_platform.formats.names import camera_name
from robot_data_platform.formats.profile import Profile
from robot_data_platform.formats.protocol import EpisodeListing
from robot_data_platform.formats.statements import apply_profile


@dataclass(frozen=True, slots=True, kw_only=True)
class _Dataset:
    info: Info
    layout: Layout
    task_by_index: Mapping[int, str]
    findings: tuple[Finding, ...]


_datasets: FileMemo[_Dataset] = FileMemo(max_entries=4)


class LeRobotFormat:
    """LeRobot v2.0, v2.1 and v3.0 with parquet rows and mp4 or embedded pictures."""

    name = "lerobot"
    marker = f"{INFO_FILE} with a codebase_version"

    def sniff(self, source: Source) -> bool:
        """Return whether ``meta/info.json`` names a LeRobot version, or can't be read at all."""
        if INFO_FILE not in source.list_files():
            return False
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
            findings=(*dataset.findings, *listing.findings, *_rate(dataset.info, profile)),
            declared_cameras={
                camera_name(feature.key): declared_camera(feature, dataset.info.fps)
                for feature in dataset.info.features
                if feature.is_camera
            },
        )

    def read(self, source: Source, ref: EpisodeRef, profile: Profile) -> Recording:
        """Return one episode; its rows are found by ``episode_index``, its frames by counting."""
        meta = meta_files(ref)
        dataset = _datasets.get(source, meta, lambda: _open(source, meta))
        return apply_profile(_read(source, ref, dataset), profile)


def _open(source: Source, files: Iterable[str]) -> _Dataset:
    info = read_info(source)
    known = frozenset(files)
    tasks, findings = read_tasks(source, known)
    is_v3 = info.version == "v3.0"
    layout: Layout = EpisodesV3(source, info, known) if is_v3 else EpisodesV2(source, info)
    return _Dataset(info=info, layout=layout, task_by_index=tasks, findings=findings)


def _read(source: Source, ref: EpisodeRef, dataset: _Dataset) -> Recording:
    subject = f"Episode {ref.source_key!r} of {source.label!r}"
    info, files = dataset.info, data_files(ref)
    place = dataset.layout.place(source, ref)
    rows = read_episode_rows(source, files, place, info.image_keys, subject)
    times, late = row_times(rows.frame_index, rows.seconds(subject), info.fps, subject)
    columns = read_signals(rows.table, {f.key: f for f in info.features}, times, subject)
    cameras, unseen = read_cameras(
        source, [f for f in info.features if f.is_camera], files, place, times
    )
    spoken = instructions(rows.task_index(subject), times, dataset.task_by_index, place.tasks)
    robot = {"robot_type": info.robot_type} if info.robot_type else {}
    return Recording(
        ref=ref,
        signals=columns.signals,
        cameras=cameras,
        task=spoken.task,
        robot=info.robot_type,
        instructions=spoken.intervals,
        findings=(
            *place.findings,
            *rows.findings,
            *late,
            *columns.findings,
            *unseen,
            *spoken.findings,
        ),
        metadata={**place.metadata, **columns.metadata, **robot, "format": info.version},
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
