"""Small episodes as named arrays, in pickles and npz archives; each value names its own row."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from robot_data_platform_tests.formats.coded_video import coded_picture

ROWS = 6
PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)
Episode = dict[str, object]


def state(num_rows: int = ROWS, start: float = 0.0) -> npt.NDArray[np.float64]:
    """(N, 2) row, and row + 0.5."""
    rows = np.arange(num_rows, dtype=np.float64) + start
    return np.stack([rows, rows + 0.5], axis=1)


def episode(num_rows: int = ROWS, start: float = 0.0) -> Episode:
    """Return an episode as the Adroit demonstrations are laid out."""
    return {
        "actions": -state(num_rows, start).astype(np.float32),
        "observations": state(num_rows, start),
        "rewards": np.arange(num_rows) * 0.1,
        "init_state_dict": {"qpos": np.array([1.5, 2.5]), "door": np.zeros((500, 3))},
    }


def pictures(codes: Sequence[int]) -> npt.NDArray[np.uint8]:
    """(N, H, W, 3) coded pictures."""
    return np.stack([coded_picture(code) for code in codes])


def write_pickle(path: Path, value: object, protocol: int = pickle.HIGHEST_PROTOCOL) -> Path:
    """Write a pickle."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pickle.dumps(value, protocol=protocol))
    return path


def write_npz(path: Path, values: Episode, *, compressed: bool = False) -> Path:
    """Write an npz archive."""
    path.parent.mkdir(parents=True, exist_ok=True)
    save = np.savez_compressed if compressed else np.savez
    save(path, allow_pickle=True, **values)  # type: ignore[arg-type]
    return path


def write_demos(root: Path, protocol: int = pickle.HIGHEST_PROTOCOL) -> None:
    """Write a pickle of three demonstrations, the last one with pictures."""
    demos = [episode(start=10.0 * number) for number in range(3)]
    demos[2]["observation/cam"] = pictures(range(ROWS))
    write_pickle(root / "demos.pkl", demos, protocol)
