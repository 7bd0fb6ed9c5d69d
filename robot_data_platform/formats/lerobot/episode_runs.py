"""Where the episode changes among stored rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_data_platform.core.recording import Int64Array


@dataclass(frozen=True, slots=True)
class EpisodeRuns:
    """Stretches of rows of the same episode; an episode may have several."""

    episodes: Int64Array
    """(R,) episode of each stretch."""
    bounds: Int64Array
    """(R + 1,) first row of each stretch, and the number of rows."""

    def num_rows(self) -> dict[int, int]:
        """Return how many rows there are of each episode."""
        counts: dict[int, int] = {}
        for episode, size in zip(self.episodes.tolist(), np.diff(self.bounds), strict=True):
            counts[episode] = counts.get(episode, 0) + int(size)
        return counts

    def stretches(self, episode_index: int) -> list[tuple[int, int]]:
        """Return the half-open ranges of an episode's rows, in stored order."""
        own = np.flatnonzero(self.episodes == episode_index)
        return list(zip(self.bounds[own].tolist(), self.bounds[own + 1].tolist(), strict=True))


def find_runs(episode_index: Int64Array) -> EpisodeRuns:
    """Return the stretches of rows whose episodes are given, shape (N,)."""
    changes = np.flatnonzero(np.diff(episode_index)) + 1
    starts = np.concatenate([[0], changes])[: len(episode_index)].astype(np.int64)
    return EpisodeRuns(episode_index[starts], np.append(starts, len(episode_index)))
