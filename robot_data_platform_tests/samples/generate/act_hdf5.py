"""Writes one episode as ACT's recorder does with compression: JPEG rows padded with zeros."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import h5py
import numpy as np
import numpy.typing as npt
from PIL import Image

from robot_data_platform_tests.samples.generate.camera import Picture

Float32s = npt.NDArray[np.float32]


def jpeg(picture: Picture, *, quality: int) -> bytes:
    """Return a picture as a JPEG file, its colours in the usual order."""
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "JPEG", quality=quality, optimize=True)
    return buffer.getvalue()


def write_episode(
    path: Path,
    *,
    qpos: Float32s,
    qvel: Float32s,
    action: Float32s,
    images: Mapping[str, Sequence[bytes]],
) -> None:
    """Write ``episode_<n>.hdf5``; all cameras are padded to the longest JPEG of the episode."""
    path.parent.mkdir(parents=True, exist_ok=True)
    longest = max(len(data) for rows in images.values() for data in rows)
    with h5py.File(path, "w") as file:
        file.attrs["sim"] = True
        file.attrs["compress"] = True
        observations = file.create_group("observations")
        pictures = observations.create_group("images")
        for camera, rows in images.items():
            pictures.create_dataset(camera, data=_padded(rows, longest), chunks=(1, longest))
        observations.create_dataset("qpos", data=qpos)
        observations.create_dataset("qvel", data=qvel)
        file.create_dataset("action", data=action)
        lengths = [[len(data) for data in rows] for rows in images.values()]
        file.create_dataset("compress_len", data=np.array(lengths, dtype=np.float32))


def _padded(rows: Sequence[bytes], longest: int) -> npt.NDArray[np.uint8]:
    padded = np.zeros((len(rows), longest), dtype=np.uint8)
    for index, data in enumerate(rows):
        padded[index, : len(data)] = np.frombuffer(data, dtype=np.uint8)
    return padded
