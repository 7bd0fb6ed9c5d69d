"""Small RLDS datasets: every value and picture names its own step; written by package tfrecord."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from tfrecord.writer import TFRecordWriter

from robot_data_platform_tests.formats.hdf5_files import jpeg

STEPS = 6
FOLDER = "pick/1.0.0"
SHARD = "pick-train.tfrecord-00000-of-00001"
KEY = f"{FOLDER}/{SHARD}:0"
FILLED = jpeg(0)
"""A black picture."""
Record = dict[str, tuple[object, str]]


def record(num_steps: int = STEPS, start: int = 1, changed: Record | None = None) -> Record:
    """Return an episode; step k shows picture ``start + k``."""
    rows = np.arange(num_steps, dtype=np.float32)
    pictures = [jpeg(start + k) for k in range(num_steps)]
    told = [b"pick the cube"] * num_steps
    features: Record = {
        "steps/observation/state": (np.stack([rows, rows + 0.5], axis=1).reshape(-1), "float"),
        "steps/observation/image_0": (pictures, "byte"),
        "steps/action": (np.stack([rows, -rows, rows * 2], axis=1).reshape(-1), "float"),
        "steps/is_first": ([int(k == 0) for k in range(num_steps)], "int"),
        "steps/language_instruction": (told, "byte"),
        "steps/language_embedding": ([0.25] * 4 * num_steps, "float"),
        "episode_metadata/file_path": ([b"/data/0"], "byte"),
    }
    return features | (changed or {})


def write_shard(path: Path, records: Sequence[Record]) -> None:
    """Write a tfrecord file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = TFRecordWriter(str(path))
    for item in records:
        writer.write(item)
    writer.close()


def write_dataset(root: Path, records: Sequence[Record], **extra: object) -> Path:
    """Write a dataset of one shard with its metadata; ``extra`` features are stated as they are."""
    write_shard(root / FOLDER / SHARD, records)
    write_info(root, {"train": [len(records)]})
    (root / FOLDER / "features.json").write_text(json.dumps(features_json(**extra)))
    return root


def write_info(root: Path, lengths_by_split: Mapping[str, Sequence[int]]) -> None:
    """Write ``dataset_info.json`` as TFDS does."""
    splits = [
        {
            "name": split,
            "shardLengths": [str(length) for length in lengths],
            "filepathTemplate": "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}",
        }
        for split, lengths in lengths_by_split.items()
    ]
    (root / FOLDER / "dataset_info.json").write_text(json.dumps({"name": "pick", "splits": splits}))


def features_json(**extra: object) -> dict[str, object]:
    """Return ``features.json``; keyword ``a__b`` adds a leaf at ``a/b`` of the steps."""
    steps = _folder(
        observation=_folder(state=tensor(2), image_0=image(), **_below(extra, "observation__")),
        action=tensor(3),
        is_first=tensor(dtype="bool"),
        language_instruction={"pythonClassName": "Text", "text": {}},
        language_embedding=tensor(4),
        **{key: leaf for key, leaf in extra.items() if "__" not in key},
    )
    flags = _below(extra, "episode_metadata__")
    text = {"pythonClassName": "Text", "text": {}}
    return _folder(
        steps={"pythonClassName": "Dataset", "sequence": {"feature": steps, "length": "-1"}},
        episode_metadata=_folder(file_path=text, **flags),
    )


def tensor(*dimensions: int, dtype: str = "float32", encoding: str = "none") -> dict[str, object]:
    """Return a tensor as ``features.json`` states it."""
    shape = {"dimensions": [str(size) for size in dimensions]} if dimensions else {}
    stated = {"shape": shape, "dtype": dtype, "encoding": encoding}
    return {"pythonClassName": "Tensor", "tensor": stated}


def image(dtype: str = "uint8", channels: int = 3) -> dict[str, object]:
    """Return a picture as ``features.json`` states it."""
    shape = {"dimensions": ["48", "64", str(channels)]}
    return {"pythonClassName": "Image", "image": {"shape": shape, "dtype": dtype}}


def _below(extra: Mapping[str, object], prefix: str) -> dict[str, object]:
    return {k.removeprefix(prefix): leaf for k, leaf in extra.items() if k.startswith(prefix)}


def _folder(**features: object) -> dict[str, object]:
    return {"pythonClassName": "FeaturesDict", "featuresDict": {"features": features}}
