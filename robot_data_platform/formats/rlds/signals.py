"""Numbers of an RLDS episode's steps as signals."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from robot_data_platform.core.recording import FloatArray, Int64Array, Signal
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.hdf5_signals import MAX_WIDTH
from robot_data_platform.formats.names import column_name, unique_names
from robot_data_platform.formats.rlds.features import STEPS, Feature, Kind
from robot_data_platform.formats.rlds.messages import Content, Example, check_size

MAX_SIGNAL_BYTES = 64 << 20
"""Bytes of all signals of an episode in the file."""
EMBEDDING = "embedding"
"""In a feature's own name: computed from what is there too, and left out."""
NARROW = frozenset({"bool", "float16", "bfloat16", "float32", "int8", "uint8", "int16", "uint16"})
"""Types that float32 holds exactly; TFDS stores wider floats as float32 too."""


def signal_keys(example: Example, features: Mapping[str, Feature]) -> dict[str, Feature]:
    """Return the features of the steps that become signals."""
    return {
        key: feature
        for key, feature in features.items()
        if key.startswith(STEPS) and why_no_signal(example, key, feature) is None
    }


def why_no_signal(example: Example, key: str, feature: Feature | None) -> str | None:
    """Return why a feature holds no numbers by step that are worth keeping; None = it does."""
    if feature is None:
        return "nothing declares it"
    if EMBEDDING in key.rpartition("/")[2]:
        return "it is an embedding, which can be computed again"
    if feature.kind is not Kind.NUMBERS and feature.other:
        return f"it is {feature.other}"
    if key not in example.features:
        return "it is declared, but the record lacks it"
    if feature.kind is not Kind.NUMBERS:
        return f"it is a {feature.kind.name.lower()} that is kept neither by step nor by episode"
    if example.features[key][0] is Content.BYTES:
        return f"got bytes, expected numbers of {feature.dtype}"
    if feature.width is None:
        return "its shape is not stated"
    width = f"got {feature.width} numbers, expected 1..{MAX_WIDTH}"
    return None if 0 < feature.width <= MAX_WIDTH else width


def read_matrices(
    example: Example, features: Mapping[str, Feature], subject: str
) -> dict[str, FloatArray]:
    """Return the numbers of some features, one row a step; (T, D) each, with the same T.

    Raises
    ------
    DataFaultError
        ``shape-mismatch``: their count is no multiple of the width, or they are absurdly large.
        ``row-mismatch``: two have different numbers of steps.
    """
    num_bytes = sum(example.num_bytes(key) for key in features)
    check_size(num_bytes, MAX_SIGNAL_BYTES, f"{subject}: all that its steps measure")
    matrices = {key: _matrix(example, key, f, subject) for key, f in features.items()}
    rows = {key: len(matrix) for key, matrix in matrices.items()}
    for key, num_rows in rows.items():
        first = next(iter(rows))
        if num_rows != rows[first]:
            raise row_mismatch(subject, key, num_rows, f"{rows[first]} as {first!r} has")
    return matrices


def signals_of(
    matrices: Mapping[str, FloatArray], times: Int64Array, subject: str
) -> tuple[Signal, ...]:
    """Return matrices as signals, named by their keys without ``steps/``."""
    names = unique_names(matrices, lambda key: column_name(key.removeprefix(STEPS)), subject)
    return tuple(
        Signal(name=names[key], timestamp_ns=times, values=matrix)
        for key, matrix in matrices.items()
    )


def row_mismatch(subject: str, key: str, got: int, expected: str) -> DataFaultError:
    """Return the error for a feature that has another number of steps than others."""
    return DataFaultError(
        f"{subject} feature {key!r} has another number of steps: got {got}, expected {expected}. "
        "Write the episode again, or drop it.",
        kind=ErrorKind.ROW_MISMATCH,
        feature=key,
    )


def _matrix(example: Example, key: str, feature: Feature, subject: str) -> FloatArray:
    width = feature.width or 1
    numbers = example.numbers(key)
    if len(numbers) % width:
        raise DataFaultError(
            f"{subject} feature {key!r} has another shape than declared: got {len(numbers)} "
            f"numbers, expected a multiple of {width}. Write the episode again, or drop it.",
            kind=ErrorKind.SHAPE_MISMATCH,
            feature=key,
        )
    rows = numbers.reshape(-1, width)
    is_single = feature.dtype in NARROW or numbers.dtype == np.float32
    return rows.astype(np.float32) if is_single else rows.astype(np.float64)
