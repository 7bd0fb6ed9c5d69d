"""An open reader: pinned tables, and the indices over the episodes that were chosen."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from robot_data_platform.core.schema import depth_cameras
from robot_data_platform.reader.buffers import NUM_LEASES, Buffers, RecycledBuffers, RingBuffers
from robot_data_platform.reader.cameras import Size, choose_cameras
from robot_data_platform.reader.decoding import GopPictures
from robot_data_platform.reader.episodes import EpisodeSet, choose_episodes
from robot_data_platform.reader.filters import RowFilter, check_filter
from robot_data_platform.reader.frame_rows import FrameRows
from robot_data_platform.reader.gop_cache import GopCache
from robot_data_platform.reader.gop_index import GopIndex
from robot_data_platform.reader.item_keys import check_windows, choose_columns
from robot_data_platform.reader.items import check_output
from robot_data_platform.reader.pictures import PictureReader
from robot_data_platform.reader.place import Place
from robot_data_platform.reader.ram_rows import RamRows, num_bytes_held
from robot_data_platform.reader.renditions import Stored, choose_stored
from robot_data_platform.reader.row_index import RowIndex, scan_rows
from robot_data_platform.reader.row_source import RowSource
from robot_data_platform.reader.selection import Selection, select_rows
from robot_data_platform.reader.skips import SkipReport
from robot_data_platform.reader.spec import ReadSpec
from robot_data_platform.reader.windows import Windows, make_windows
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.snapshot import Snapshot, find_release, open_snapshot
from robot_data_platform.video.output import PictureForm


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The rows of the chosen episodes; holds table handles, decoder threads and caches."""

    spec: ReadSpec
    snapshot: Snapshot
    place: Place
    episodes: EpisodeSet
    sizes: Mapping[str, Sequence[Size]]
    """Heights and widths of the stored pictures of each camera to decode."""
    stored: Stored
    """Which stored pictures those are."""
    depth_cameras: Mapping[str, float | None]
    """Cameras whose pictures are depth maps, with metres per unit; None = not stated."""
    form: PictureForm
    """What pictures are to look like."""
    columns: Mapping[str, str]
    """Stored column by item key."""
    windows: Windows
    index: RowIndex
    selection: Selection
    rows: RowSource
    pictures: PictureReader
    buffers: Buffers
    """Where arrays of pictures come from."""
    ring: Buffers
    """The same for a call that asks for views of a ring."""
    cache: GopCache | None
    """Where decoded GOPs are kept whatever the order of reading."""
    skips: SkipReport


def open_view(spec: ReadSpec, versions: Mapping[str, int] | None) -> View:
    """Open what a reader was asked for, at stated table versions or as the spec pins it.

    Raises
    ------
    NotFoundError, InvalidInputError, DataFaultError, StorageError
        As `RobotLanceDataset` says.
    """
    check_output(spec.output)
    snapshot = _pin(spec) if versions is None else _pin_again(spec, versions)
    place, schema = Place(snapshot), snapshot.frames.schema
    chosen = _filter(spec, snapshot, place)
    episodes = choose_episodes(
        snapshot, split=spec.split, episodes=spec.episodes, place=place, chosen=chosen
    )
    stored = choose_stored(spec.rendition, place)
    sizes = _sizes(spec, episodes, stored, snapshot, place)
    columns = choose_columns(schema, spec.columns, place)
    check_windows(spec.delta_timestamps_s, sizes, columns, schema, place)
    index = scan_rows(snapshot.frames, episodes, place)
    form, depth = _form(spec), depth_cameras(schema)
    gops = GopIndex(snapshot.gops, episodes, place, slot=stored.slot)
    pictures = GopPictures(gops, episodes, place, sizes, depth, form)
    rows = FrameRows(
        frames=snapshot.frames,
        episodes=episodes,
        index=index,
        place=place,
        columns=tuple(columns.values()),
        cameras=tuple(sizes),
    )
    ring = ring_buffers(NUM_LEASES)
    return View(
        spec=spec,
        snapshot=snapshot,
        place=place,
        episodes=episodes,
        sizes=sizes,
        stored=stored,
        depth_cameras=depth,
        form=form,
        columns=columns,
        windows=make_windows(spec.delta_timestamps_s, spec.tolerance_s, episodes),
        index=index,
        selection=select_rows(snapshot.frames, episodes, index, chosen, place),
        rows=_row_source(spec, rows),
        pictures=PictureReader(snapshot.gops, gops, pictures),
        buffers=ring if spec.zero_copy else RecycledBuffers(),
        ring=ring,
        cache=GopCache(spec.gop_cache_bytes, form) if spec.gop_cache_bytes else None,
        skips=SkipReport(),
    )


def _form(spec: ReadSpec) -> PictureForm:
    """Return what pictures are to look like."""
    size = None if spec.image_size is None else (spec.image_size[0], spec.image_size[1])
    return PictureForm(size=size, dtype=spec.picture_dtype, channels_first=spec.channels_first)


def _filter(spec: ReadSpec, snapshot: Snapshot, place: Place) -> RowFilter | None:
    if spec.filter is None:
        return None
    return check_filter(spec.filter, snapshot.frames.schema, snapshot.episodes.schema, place)


def _row_source(spec: ReadSpec, rows: FrameRows) -> RowSource:
    return RamRows(rows) if num_bytes_held(rows) <= spec.ram_budget_bytes else rows


def ring_buffers(num_leases: int) -> RingBuffers:
    """Return a ring for so many batches at a time, guarded in Python's development mode."""
    return RingBuffers(num_leases, is_guarded=sys.flags.dev_mode)


def _sizes(
    spec: ReadSpec, episodes: EpisodeSet, stored: Stored, snapshot: Snapshot, place: Place
) -> Mapping[str, Sequence[Size]]:
    is_scaled = spec.image_size is not None or stored.size is not None
    sizes = choose_cameras(
        episodes, snapshot.frames.schema, spec.cameras, place, is_scaled=is_scaled
    )
    return {camera: [stored.size] for camera in sizes} if stored.size is not None else sizes


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
