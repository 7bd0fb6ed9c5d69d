"""Which rows are read in which round: the same for every setting, fixed by a seed."""

from __future__ import annotations

import numpy as np

from robot_data_platform_tests.benchmarks.scale import FPS, WINDOW_S, Scale

SEED = 20_26


def random_rows(scale: Scale, scenario: str, number: int, count: int) -> list[int]:
    """Return different random rows for a round of a scenario."""
    rng = np.random.default_rng([SEED, ord(scenario), number])
    rows: list[int] = rng.permutation(scale.num_rows)[:count].tolist()
    return rows


def batches_of(scale: Scale, scenario: str, number: int) -> list[list[int]]:
    """Return the batches of one round of scenario A, B, C or D.

    A and C read one sample at a time, B random batches, D the rows of an episode in their order.
    """
    if scenario == "D":
        episode = number % scale.num_episodes
        first = episode * scale.rows_per_episode
        rows = list(range(first, first + scale.steps))
        return _cut(rows, 25)
    counts = {
        "A": scale.samples_per_round,
        "B": scale.batches_per_round * scale.batch_size,
        "C": scale.windows_per_round,
    }
    rows = random_rows(scale, scenario, number, counts[scenario])
    return _cut(rows, scale.batch_size if scenario == "B" else 1)


def rows_shown(scale: Scale, scenario: str, batch: list[int]) -> list[int]:
    """Return the rows whose pictures a batch shows: in C, those of each window.

    Before an episode's first row, that row is repeated.
    """
    if scenario != "C":
        return batch
    steps = [round(offset_s * FPS) for offset_s in WINDOW_S]
    return [max(row + step, row - row % scale.rows_per_episode) for row in batch for step in steps]


def _cut(rows: list[int], size: int) -> list[list[int]]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]
