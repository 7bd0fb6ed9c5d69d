"""Rules on episodes that are another one again: the same recording, whole or in part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.quality.row_measurements import SKETCH_SIZE, Sketch
from robot_data_platform.quality.thresholds import Thresholds


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodePrint:
    """By what an episode is known again."""

    episode_index: int
    name: str
    """How messages name it: its upload and its key there."""
    rows_digest: str
    """Of all values."""
    pictures_digests: Mapping[str, str]
    """Of all pictures, by camera."""
    sketch: Sketch
    """(k,) the smallest hashes of its distinct rows, increasing."""
    num_distinct: int
    num_moving: int


def episode_is_no_copy(
    mine: EpisodePrint, earlier: Mapping[int, EpisodePrint], limits: Thresholds
) -> list[Finding]:
    """Warn of an episode of which an earlier one has all values and all pictures.

    Parameters
    ----------
    mine : EpisodePrint
        The episode.
    earlier : mapping of int to EpisodePrint
        Episodes before it that have something in common with it.
    """
    if mine.num_distinct < limits.shared_min_rows.value:
        return []
    for other in earlier.values():
        is_same = mine.rows_digest == other.rows_digest
        if is_same and mine.pictures_digests == other.pictures_digests:
            return [_copy_finding("episode_is_no_copy", "is", other, 1.0, 1.0)]
    return []


def episode_is_mostly_new(
    mine: EpisodePrint, earlier: Mapping[int, EpisodePrint], limits: Thresholds
) -> list[Finding]:
    """Warn of an episode that shares many of its rows with an earlier one, but is no copy."""
    is_known = mine.num_distinct >= limits.shared_min_rows.value
    if not is_known or mine.num_moving < limits.shared_min_dimensions.value:
        return []
    shares = {other.episode_index: shared_rows(mine, other) for other in earlier.values()}
    nearest = max(shares, key=lambda index: shares[index], default=None)
    limit = limits.shared_rows_share.value
    if nearest is None or shares[nearest] < limit:
        return []
    if episode_is_no_copy(mine, {nearest: earlier[nearest]}, limits):
        return []
    what = "shares most rows with"
    return [_copy_finding("episode_is_mostly_new", what, earlier[nearest], shares[nearest], limit)]


def shared_rows(mine: EpisodePrint, other: EpisodePrint) -> float:
    """Return about which share of the distinct rows of both is in both.

    The smallest hashes of the union are a fair sample of it.
    """
    union = np.union1d(mine.sketch, other.sketch)[:SKETCH_SIZE]
    both = np.isin(union, mine.sketch) & np.isin(union, other.sketch)
    return float(both.mean()) if len(union) else 0.0


def _copy_finding(rule: str, verb: str, other: EpisodePrint, share: float, limit: float) -> Finding:
    return Finding(
        rule=rule,
        severity=Severity.WARN,
        message=f"The episode {verb} episode {other.episode_index} ({other.name}), which came "
        f"before it: about {share:.0%} of the rows of both are in both. Whoever trains on both "
        "counts them twice, and a test set may hold what was trained on.",
        where=f"episode={other.episode_index}",
        value=share,
        threshold=limit,
        unit="1",
    )
