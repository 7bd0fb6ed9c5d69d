"""Statistics as LeRobot keeps them: of each episode, and of all episodes together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from robot_data_platform_tests.samples.generate.camera import Picture

FeatureStats = dict[str, list[object]]
"""``min max mean std count q01 q10 q50 q90 q99``, each a (nested) list."""
QUANTILES = {"q01": 0.01, "q10": 0.10, "q50": 0.50, "q90": 0.90, "q99": 0.99}
MOST_PICTURES = 100
"""Pictures that are looked at, evenly spread over the episode."""


def of_rows(rows: npt.NDArray[np.generic]) -> FeatureStats:
    """Return the statistics of (N, D) values; min and max keep integers as they are."""
    values = rows.astype(np.float64)
    stats = {
        "min": rows.min(axis=0).tolist(),
        "max": rows.max(axis=0).tolist(),
        "mean": values.mean(axis=0).tolist(),
        "std": values.std(axis=0).tolist(),
        "count": [len(rows)],
    }
    return stats | {
        name: np.quantile(values, share, axis=0).tolist() for name, share in QUANTILES.items()
    }


def of_pictures(pictures: Sequence[Picture]) -> FeatureStats:
    """Return the statistics of (H, W, 3) pictures, per channel in 0..1, shaped (3, 1, 1)."""
    chosen = np.rint(np.linspace(0, len(pictures) - 1, MOST_PICTURES)).astype(int)
    pixels = np.stack([pictures[index] for index in chosen]).reshape(-1, 3) / 255
    stats = of_rows(pixels)
    shaped: FeatureStats = {name: [[[value]] for value in values] for name, values in stats.items()}
    return shaped | {"count": [len(chosen)]}


def merged(episodes: Sequence[Mapping[str, FeatureStats]]) -> dict[str, FeatureStats]:
    """Return the statistics of all episodes: exact but for the quantiles, which are averaged."""
    return {key: _merge([episode[key] for episode in episodes]) for key in episodes[0]}


def _merge(parts: Sequence[FeatureStats]) -> FeatureStats:
    count = np.array([part["count"][0] for part in parts], dtype=np.float64)
    stacked = {name: np.array([part[name] for part in parts]) for name in parts[0]}
    weight = (count / count.sum()).reshape(-1, *[1] * (stacked["mean"].ndim - 1))
    mean = (stacked["mean"] * weight).sum(axis=0)
    spread = ((stacked["std"] ** 2 + (stacked["mean"] - mean) ** 2) * weight).sum(axis=0)
    whole: dict[str, npt.NDArray[np.generic]] = {
        "min": stacked["min"].min(axis=0),
        "max": stacked["max"].max(axis=0),
        "mean": mean,
        "std": np.sqrt(spread),
        "count": stacked["count"].sum(axis=0),
    }
    whole |= {name: (stacked[name] * weight).sum(axis=0) for name in QUANTILES}
    return {name: value.tolist() for name, value in whole.items()}
