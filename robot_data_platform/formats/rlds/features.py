"""What each feature of an RLDS dataset is: from ``features.json``, or else from its content."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from math import prod

from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError
from robot_data_platform.formats.json_files import JsonObject, read_json
from robot_data_platform.formats.pictures import JPEG_MAGIC, PNG_MAGIC
from robot_data_platform.formats.rlds.messages import Content, Example, read_span

FEATURES_FILE = "features.json"
STEPS = "steps/"
"""What the key of a feature starts with that every step has."""
MAX_DEPTH = 32
"""Levels of ``features.json`` that are followed."""
STEP_SCALARS = ("is_first", "is_last", "is_terminal", "reward", "discount")
"""RLDS defines these, one number a step: their count is the number of steps."""
_MAGIC_BYTES = 8


class Kind(Enum):
    """What a feature is to us."""

    NUMBERS = auto()
    PICTURE = auto()
    TEXT = auto()
    OTHER = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """One feature as TFDS lays it flat."""

    kind: Kind
    shape: tuple[int | None, ...] = ()
    """Of one step; None = not stated."""
    dtype: str = ""
    other: str = ""
    """What it is where it is neither numbers, pictures nor text."""

    @property
    def width(self) -> int | None:
        """Numbers of one step; None = not stated."""
        return None if None in self.shape else prod(n for n in self.shape if n is not None)


def read_features(source: Source, relative: str) -> dict[str, Feature] | None:
    """Return the features of a dataset by flat key (``steps/observation/state``).

    None where the file can't be read, or states nothing in the way TFDS does.
    """
    try:
        content = read_json(source, relative)
    except DataFaultError:
        return None
    return dict(_flat(content, "", 0, 0)) or None


def guessed_features(example: Example) -> dict[str, Feature]:
    """Return what a record's features look like, where nothing states it.

    Every feature of the steps has a whole number of entries a step; what starts like a JPEG or
    PNG is a picture. Without any of `STEP_SCALARS` nothing is a number by step.
    """
    scalars = (f"{STEPS}{name}" for name in STEP_SCALARS)
    known = [k for k in scalars if k in example.features and _is_numeric(example, k)]
    num_steps = len(example.numbers(known[0])) if known else 0
    return {key: _guess(example, key, num_steps) for key in example.features}


def _is_numeric(example: Example, key: str) -> bool:
    return example.features[key][0] is not Content.BYTES


def _guess(example: Example, key: str, num_steps: int) -> Feature:
    content = example.features[key][0]
    if content is Content.BYTES:
        spans = example.spans(key)[:1]
        start = read_span(example.file, spans[0].tolist())[:_MAGIC_BYTES] if len(spans) else b""
        return Feature(
            kind=Kind.PICTURE if start.startswith((JPEG_MAGIC, PNG_MAGIC)) else Kind.TEXT
        )
    dtype = "float32" if content is Content.FLOATS else "int64"
    if not key.startswith(STEPS):
        return Feature(kind=Kind.NUMBERS, shape=(None,), dtype=dtype)
    count = len(example.numbers(key))
    if not num_steps or count % num_steps:
        return Feature(kind=Kind.OTHER, other=f"{count} numbers in {num_steps} steps")
    return Feature(kind=Kind.NUMBERS, shape=(count // num_steps,), dtype=dtype)


def _flat(feature: object, key: str, rank: int, depth: int) -> Iterator[tuple[str, Feature]]:
    """Yield the leaves below a feature; ``rank`` counts the sequences around it."""
    if depth > MAX_DEPTH:
        return
    inner = _object(_object(feature, "featuresDict"), "features")
    for name, child in inner.items():
        yield from _flat(child, f"{key}/{name}" if key else name, rank, depth + 1)
    sequence = _object(feature, "sequence") or _object(feature, "dataset")
    if sequence:
        yield from _flat(sequence.get("feature"), key, rank + 1, depth + 1)
    elif not inner and key:
        yield key, _leaf(feature, rank)


def _leaf(feature: object, rank: int) -> Feature:
    if rank > 1:
        return Feature(kind=Kind.OTHER, other="a sequence within each step")
    tensor, image = _object(feature, "tensor"), _object(feature, "image")
    if image:
        return _image(image)
    if tensor:
        return _tensor(tensor)
    if isinstance(feature, dict) and "text" in feature:
        return Feature(kind=Kind.TEXT)
    if _object(feature, "classLabel"):
        return Feature(kind=Kind.NUMBERS, dtype="int64")
    name = str(feature.get("pythonClassName"))[:120] if isinstance(feature, dict) else "nothing"
    return Feature(kind=Kind.OTHER, other=name)


def _image(image: JsonObject) -> Feature:
    dtype, shape = str(image.get("dtype", "uint8")), _shape(image)
    is_depth = dtype == "uint16" and shape[2:] == (1,)
    if dtype != "uint8" and not is_depth:
        return Feature(kind=Kind.OTHER, other=f"pictures of {dtype} {list(shape)}")
    return Feature(kind=Kind.PICTURE, shape=shape, dtype=dtype)


def _tensor(tensor: JsonObject) -> Feature:
    dtype, encoding = str(tensor.get("dtype")), str(tensor.get("encoding", "none"))
    shape = _shape(tensor)
    if dtype == "string" and not shape:
        return Feature(kind=Kind.TEXT)
    if dtype == "string" or encoding.lower() != "none":
        return Feature(kind=Kind.OTHER, other=f"a tensor of {dtype}, encoding {encoding}")
    return Feature(kind=Kind.NUMBERS, shape=shape, dtype=dtype)


def _shape(content: Mapping[str, object]) -> tuple[int | None, ...]:
    dimensions = _object(content, "shape").get("dimensions")
    sizes = dimensions if isinstance(dimensions, list) else []
    return tuple(int(size) if str(size).isdecimal() else None for size in sizes)


def _object(value: object, key: str) -> JsonObject:
    inner = value.get(key) if isinstance(value, dict) else None
    return inner if isinstance(inner, dict) else {}
