"""A small policy for the demonstration: ridge regression from state and picture to action."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from robot_data_platform.reader import RobotLanceDataset

Matrix = npt.NDArray[np.float64]

CELLS = 4
"""Pictures count by the mean colour of CELLS x CELLS cells."""
RIDGE = 1e-2
"""Weight of the penalty on standardised features."""
MAX_SAMPLES = 600
BATCH = 64


@dataclass(frozen=True, slots=True)
class RidgePolicy:
    """``action = (features - mean) / std @ weights + bias``."""

    mean: Matrix
    std: Matrix
    weights: Matrix
    bias: Matrix

    def actions(self, features: Matrix) -> Matrix:
        """Return the actions (N, A) for features (N, F)."""
        result: Matrix = (features - self.mean) / self.std @ self.weights + self.bias
        return result

    def save(self, path: Path) -> None:
        """Write the policy as an ``.npz`` file."""
        np.savez(path, mean=self.mean, std=self.std, weights=self.weights, bias=self.bias)


def fit(features: Matrix, actions: Matrix) -> RidgePolicy:
    """Return the least-squares policy with an L2 penalty, in closed form."""
    mean, std = features.mean(axis=0), features.std(axis=0) + 1e-6
    x, bias = (features - mean) / std, actions.mean(axis=0)
    gram = x.T @ x + RIDGE * len(x) * np.eye(x.shape[1])
    return RidgePolicy(mean, std, np.linalg.solve(gram, x.T @ (actions - bias)), bias)


def read_samples(dataset: RobotLanceDataset) -> tuple[Matrix, Matrix]:
    """Return features (N, F) and actions (N, A) of rows spread over a dataset, batch by batch."""
    rows = np.linspace(0, len(dataset) - 1, min(MAX_SAMPLES, len(dataset))).astype(np.int64)
    features, actions = [], []
    for start in range(0, len(rows), BATCH):
        for item in dataset.__getitems__(rows[start : start + BATCH].tolist()):
            if np.isfinite(item["action"]).all() and np.isfinite(item["observation.state"]).all():
                features.append(_features(item))
                actions.append(item["action"])
    return np.asarray(features, dtype=np.float64), np.asarray(actions, dtype=np.float64)


def _features(item: dict[str, npt.NDArray[np.float32]]) -> npt.NDArray[np.float64]:
    pictures = [_cells(item[k]) for k in sorted(item) if _is_picture(k, item[k])]
    features: Matrix = np.concatenate([item["observation.state"], *pictures]).astype(np.float64)
    return features


def _is_picture(key: str, value: object) -> bool:
    return key.startswith("observation.images.") and getattr(value, "ndim", 0) == 3


def _cells(picture: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    height, width = (size // CELLS * CELLS for size in picture.shape[:2])
    blocks = picture[:height, :width].reshape(CELLS, height // CELLS, CELLS, width // CELLS, 3)
    cells: Matrix = blocks.mean(axis=(1, 3), dtype=np.float64).reshape(-1) / 255.0
    return cells
