"""Which episodes a spec lets in, and how many it leaves out for which reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from robot_data_platform.curation.assign import hash_order
from robot_data_platform.curation.spec import EpisodeFilter

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
    episodes: pa.Table, limits: Mapping[str, int], seed: int, earlier: Collection[str]
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
    earlier : collection of str
        Ids of episodes that were assigned before; they come first, so growth pushes none out.
    """
    if not limits:
        return episodes, {}
    held: Counter[tuple[str, str | None]] = Counter()
    columns = {name: episodes[name].to_pylist() for name in limits}
    ids = episodes["episode_id"].to_pylist()
    stay = np.zeros(len(ids), dtype=np.bool_)
    for row in sorted(
        range(len(ids)), key=lambda row: (ids[row] not in earlier, hash_order(seed, ids[row]))
    ):
        keys = [(name, columns[name][row]) for name in limits]
        if all(held[key] < limits[key[0]] for key in keys):
            stay[row] = True
            held.update(keys)
    over = len(ids) - int(np.count_nonzero(stay))
    return episodes.filter(stay), {"caps": over} if over else {}
