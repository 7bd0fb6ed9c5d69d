"""Small ALOHA HDF5 episodes: every value and picture names its own row."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import h5py
import numpy as np
import numpy.typing as npt
from PIL import Image

from robot_data_platform_tests.formats.coded_video import coded_picture

ROWS = 12


def jpeg(code: int) -> bytes:
    """Return a coded picture as JPEG."""
    buffer = io.BytesIO()
    Image.fromarray(coded_picture(code)).save(buffer, "JPEG", quality=95)
    return buffer.getvalue()


def state(num_rows: int = ROWS) -> npt.NDArray[np.float64]:
    """(N, 2) row, and row + 1000."""
    rows = np.arange(num_rows, dtype=np.float64)
    return np.stack([rows, rows + 1000], axis=1)


def write_episode(path: Path, num_rows: int = ROWS) -> Path:
    """Write an episode without pictures."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with h5py.File(path, "w") as file:
        file["observations/qpos"] = state(num_rows)
        file["observations/qvel"] = state(num_rows).astype(np.float32)
        file["action"] = state(num_rows) + 0.5
        file.create_group("observations/images")
    return path


def add_raw(path: Path, camera: str, codes: Sequence[int]) -> None:
    """Add (T, H, W, 3) uint8 pictures."""
    add(path, camera, np.stack([coded_picture(code) for code in codes]))


def add_padded(path: Path, camera: str, rows: Sequence[bytes]) -> None:
    """Add JPEG rows padded with zeros, and ``compress_len`` as ACT writes it."""
    longest = max(len(row) for row in rows) + 7
    padded = [np.frombuffer(row.ljust(longest, b"\0"), np.uint8) for row in rows]
    add(path, camera, np.stack(padded))
    with h5py.File(path, "a") as file:
        lengths = np.array([[len(row) for row in rows]], dtype=np.float32)
        file.require_dataset("compress_len", lengths.shape, lengths.dtype, data=lengths)


def add_varying(path: Path, camera: str, rows: Sequence[bytes]) -> None:
    """Add JPEG rows as arrays of their own length."""
    with h5py.File(path, "a") as file:
        kind = h5py.vlen_dtype(np.uint8)
        dataset = file.create_dataset(f"observations/images/{camera}", (len(rows),), kind)
        for row, data in enumerate(rows):
            dataset[row] = np.frombuffer(data, np.uint8)


def add(path: Path, camera: str, data: npt.NDArray[np.generic]) -> None:
    """Add a dataset of pictures."""
    with h5py.File(path, "a") as file:
        file[f"observations/images/{camera}"] = data
