"""Quality checks of episodes beside each other: copies, lengths, views, ranges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from robot_data_platform.compute.episode_prints import earlier_alike, read_prints
from robot_data_platform.compute.episode_views import DatasetViews
from robot_data_platform.compute.signal_ranges import widened
from robot_data_platform.core.finding import STATUS_QUARANTINED
from robot_data_platform.quality.rules import copies, drift, meaning, views
from robot_data_platform.quality.rules.drift import SignalRange
from robot_data_platform.storage.predicate import in_range, is_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from robot_data_platform.core.finding import Finding
    from robot_data_platform.quality.thresholds import Thresholds
    from robot_data_platform.storage.lake import Lake
    from robot_data_platform.storage.table import LakeTable

Found = dict[int, list["Finding"]]
"""Findings by ``episode_index``."""


def check_sets(
    lake: Lake, dataset: str, version: int, indices: Sequence[int], limits: Thresholds
) -> Found:
    """Return what some episodes of a dataset break beside the others.

    An episode is held against those before it where the order matters, so that of two copies the
    first stays clean.

    Parameters
    ----------
    lake, dataset
        Where the dataset is.
    version : int
        Version of ``episodes``.
    indices : sequence of int
        Episodes to judge; all are measured.
    limits : Thresholds
        What measurements are held against.
    """
    found: Found = {index: [] for index in sorted(indices)}
    if found:
        episodes = lake.open(dataset, "episodes", version)
        _check_lengths(episodes, found, limits)
        _check_copies(lake, dataset, episodes, found, limits)
        _check_views(lake, dataset, episodes, found, limits)
        _check_ranges(episodes, found, limits)
    return found


def _check_lengths(episodes: LakeTable, found: Found, limits: Thresholds) -> None:
    columns = ["episode_index", "task", "start_ns", "end_ns", "status"]
    rows = episodes.read(columns)
    rows = rows.filter(pc.not_equal(rows["status"], STATUS_QUARANTINED))
    lasts_s = pc.divide(pc.subtract(rows["end_ns"], rows["start_ns"]).fill_null(0), 1e9).to_numpy()
    task = rows["task"].combine_chunks().dictionary_encode(null_encoding="encode")
    of_task = task.indices.to_numpy()
    mine = pc.is_in(rows["episode_index"], value_set=pa.array(sorted(found), pa.int64()))
    for place in np.flatnonzero(mine.to_numpy()).tolist():
        is_other = of_task == of_task[place]
        is_other[place] = False
        found[rows["episode_index"][place].as_py()] += meaning.length_is_usual(
            float(lasts_s[place]), lasts_s[is_other], limits
        )


def _check_copies(
    lake: Lake, dataset: str, episodes: LakeTable, found: Found, limits: Thresholds
) -> None:
    prints = read_prints(lake, dataset, episodes, set(found))
    for mine, earlier in earlier_alike(prints, set(found)):
        found[mine.episode_index] += copies.episode_is_no_copy(mine, earlier, limits)
        found[mine.episode_index] += copies.episode_is_mostly_new(mine, earlier, limits)


def _check_views(
    lake: Lake, dataset: str, episodes: LakeTable, found: Found, limits: Thresholds
) -> None:
    shown = DatasetViews.read(lake, dataset, episodes, set(found))
    before = shown.before(min(found))
    for index in found:
        usual = shown.usual(index)
        for camera, view in shown.of_episode(index).items():
            found[index] += views.camera_is_the_named_one(camera, view, usual, limits)
            found[index] += views.channels_are_in_order(camera, view, usual, limits)
            found[index] += views.view_is_as_before(camera, view, before.get(camera), limits)


def _check_ranges(episodes: LakeTable, found: Found, limits: Thresholds) -> None:
    columns = ["episode_index", "upload", "statistics"]
    mine = episodes.read(columns, is_in("episode_index", sorted(found)))
    uploads = mine["upload"].unique()
    before: dict[str, SignalRange] = {}
    for batch in episodes.batches(columns, in_range("episode_index", 0, min(found))):
        others = batch.filter(pc.invert(pc.is_in(batch["upload"], value_set=uploads)))
        before = widened(before, others["statistics"])
    for row in mine.to_pylist():
        for signal in _ranges(row["statistics"]):
            known = before.get(signal.name)
            fits = known if known is not None and len(known.low) == len(signal.low) else None
            found[row["episode_index"]] += drift.range_is_as_before(signal, fits, limits)


def _ranges(statistics: Iterable[Mapping[str, object]] | None) -> list[SignalRange]:
    return [
        SignalRange(
            name=str(one["signal"]),
            low=np.asarray(one["min"], dtype=np.float64),
            high=np.asarray(one["max"], dtype=np.float64),
        )
        for one in statistics or ()
        if one["min"]
    ]
