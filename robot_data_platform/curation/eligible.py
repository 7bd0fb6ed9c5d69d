"""Which episodes a spec lets in, and how many it leaves out for which reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from robot_data_platform.curation.assign import hash_order
from robot_data_platform.curation.spec import EpisodeFilter

BoolArray = npt.NDArray[np.bool_]

COLUMNS = (
    *("episode_id", "episode_index", "content_digest", "upload", "task", "robot"),
    *("num_rows", "status", "q_num_info", "q_num_warn", "q_num_fail"),
)
"""Columns of ``episodes`` that curation reads."""


def pass_filter(episodes: pa.Table, wanted: EpisodeFilter) -> tuple[pa.Table, dict[str, int]]:
    """Return the episodes that pass, and how many each key of the filter leaves out.

    An episode counts for the first key that it fails. ``not_measured`` counts those whose findings
    are limited while their quality is not known.
    """
    passed = np.ones(len(episodes), dtype=np.bool_)
    excluded = {}
    for reason, holds in _conditions(episodes, wanted):
        mask = pc.fill_null(holds, False).to_numpy()
        excluded[reason] = int(np.count_nonzero(passed & ~mask))
        passed &= mask
    return episodes.filter(passed), {reason: n for reason, n in excluded.items() if n}


def _conditions(episodes: pa.Table, wanted: EpisodeFilter) -> Iterator[tuple[str, pa.ChunkedArray]]:
    listed = {
        "status": wanted.status,
        "task": wanted.tasks,
        "robot": wanted.robots,
        "upload": wanted.uploads,
    }
    for column, values in listed.items():
        if values is not None:
            yield column, pc.is_in(episodes[column], pa.array(values))
    yield "min_rows", pc.greater_equal(episodes["num_rows"], wanted.min_rows)
    for severity in wanted.max_findings:
        yield "not_measured", pc.is_valid(episodes[f"q_num_{severity}"])
    for severity, limit in wanted.max_findings.items():
        yield f"max_{severity}", pc.less_equal(episodes[f"q_num_{severity}"], limit)


def keep_within(
    episodes: pa.Table, limits: Mapping[str, int], seed: int, is_earlier: BoolArray
) -> tuple[pa.Table, dict[str, int]]:
    """Return the episodes that stay when no value of a column may bring more than its limit.

    Parameters
    ----------
    episodes : pyarrow.Table
        Episodes that passed the filter.
    limits : mapping of str to int
        Most episodes by column (``task``).
    seed : int
        Order in which episodes are let in: that of a hash of it and the episode.
    is_earlier : ndarray of bool, shape (E,)
        Which of them were assigned before; they come first, so growth pushes none out.
    """
    if not limits:
        return episodes, {}
    order = hash_order(seed, episodes["episode_id"])
    in_order = np.concatenate((order[is_earlier[order]], order[~is_earlier[order]]))
    stay = np.zeros(len(order), dtype=np.bool_)
    stay[_let_in(episodes, limits, in_order)] = True
    over = len(order) - int(np.count_nonzero(stay))
    return episodes.filter(stay), {"caps": over} if over else {}


def _let_in(
    episodes: pa.Table, limits: Mapping[str, int], order: npt.NDArray[np.int64]
) -> list[int]:
    """Return the rows that are let in, one after the other, while every limit allows it."""
    codes = [_codes(episodes[name])[order].tolist() for name in limits]
    room = [
        [limit] * (max(column, default=0) + 1)
        for limit, column in zip(limits.values(), codes, strict=True)
    ]
    stay = []
    for row, *values in zip(order.tolist(), *codes, strict=True):
        if all(left[value] for left, value in zip(room, values, strict=True)):
            stay.append(row)
            for left, value in zip(room, values, strict=True):
                left[value] -= 1
    return stay


def _codes(column: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    """Return a number for each value, the same for equal ones; null is a value too."""
    held = column.combine_chunks().dictionary_encode(null_encoding="encode")
    codes: npt.NDArray[np.int64] = held.indices.to_numpy().astype(np.int64)
    return codes
