"""An open reader: pinned tables, and the indices over the episodes that were chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from robot_data_platform.reader.cameras import Size, choose_cameras
from robot_data_platform.reader.episodes import EpisodeSet, choose_episodes
from robot_data_platform.reader.frame_rows import FrameRows
from robot_data_platform.reader.gop_index import GopIndex
from robot_data_platform.reader.item_keys import check_windows, choose_columns
from robot_data_platform.reader.items import check_output
from robot_data_platform.reader.pictures import PictureReader
from robot_data_platform.reader.place import Place
from robot_data_platform.reader.row_index import RowIndex, scan_rows
from robot_data_platform.reader.spec import ReadSpec
from robot_data_platform.reader.windows import Windows, make_windows
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.snapshot import Snapshot, find_release, open_snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The rows of the chosen episodes; holds table handles and decoder threads."""

    spec: ReadSpec
    snapshot: Snapshot
    episodes: EpisodeSet
    cameras: Mapping[str, Size]
    """Height and width of the pictures of each camera to decode."""
    columns: Mapping[str, str]
    """Stored column by item key."""
    windows: Windows
    index: RowIndex
    rows: FrameRows
    pictures: PictureReader


def open_view(spec: ReadSpec, versions: Mapping[str, int] | None) -> View:
    """Open what a reader was asked for, at stated table versions or as the spec pins it.

    Raises
    ------
    NotFoundError, InvalidInputError, DataFaultError, StorageError
        As `RobotLanceDataset` says.
    """
    check_output(spec.output)
    snapshot = _pin(spec) if versions is None else _pin_again(spec, versions)
    place = Place(snapshot)
    schema = snapshot.frames.schema
    episodes = choose_episodes(snapshot, split=spec.split, episodes=spec.episodes, place=place)
    cameras = choose_cameras(episodes, schema, spec.cameras, place)
    columns = choose_columns(schema, spec.columns, place)
    check_windows(spec.delta_timestamps_s, cameras, columns, schema, place)
    windows = make_windows(spec.delta_timestamps_s, spec.tolerance_s, episodes)
    index = scan_rows(snapshot.frames, episodes, place)
    gops = GopIndex(snapshot.gops, episodes, place)
    return View(
        spec=spec,
        snapshot=snapshot,
        episodes=episodes,
        cameras=cameras,
        columns=columns,
        windows=windows,
        index=index,
        rows=FrameRows(snapshot.frames, episodes, index, place),
        pictures=PictureReader(snapshot.gops, gops, episodes, place),
    )


def _pin(spec: ReadSpec) -> Snapshot:
    lake = Lake(spec.lake_root)
    return open_snapshot(lake, spec.dataset, release=spec.release, version=spec.version)


def _pin_again(spec: ReadSpec, versions: Mapping[str, int]) -> Snapshot:
    lake = Lake(spec.lake_root)
    tables = {name: lake.open(spec.dataset, name, number) for name, number in versions.items()}
    return Snapshot(
        dataset=spec.dataset,
        episodes=tables["episodes"],
        frames=tables["frames"],
        gops=tables["gops"],
        splits=tables.get("splits"),
        release=find_release(lake, spec.dataset, spec.release) if spec.release else None,
    )
