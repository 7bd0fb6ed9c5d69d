"""Columns of a LeRobot episode as signals, and what could not become one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import FloatArray, Int64Array, Signal
from robot_data_platform.formats.lerobot.info import Feature
from robot_data_platform.formats.names import column_name, unique_names
from robot_data_platform.formats.vectors import is_numeric, to_matrix

OWN_COLUMNS = frozenset(
    {
        *("timestamp", "frame_index", "episode_index", "index", "task_index"),
        *("episode_data_index_from", "episode_data_index_to"),
    }
)
"""Columns that LeRobot writes by itself; ``index`` and the last two, of version 1, are row
positions and kept nowhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """What an episode's table holds besides time and keys."""

    signals: tuple[Signal, ...]
    metadata: Mapping[str, str]
    """Texts that are the same in every row, by column."""
    findings: tuple[Finding, ...]


def read_signals(
    table: pa.Table, features: Mapping[str, Feature], timestamp_ns: Int64Array, subject: str
) -> Columns:
    """Return every numeric column as a signal, every constant text as metadata.

    Raises
    ------
    DataFaultError
        ``shape-mismatch``: rows of one column have different widths.
        ``metadata-contradiction``: two columns would get the same name.
    """
    own = [name for name in table.column_names if name not in OWN_COLUMNS]
    numeric = [name for name in own if is_numeric(table.schema.field(name).type)]
    name_by_key = unique_names(numeric, column_name, subject)
    matrices = {key: to_matrix(table[key], f"{subject} column {key!r}") for key in numeric}
    texts = {key: _constant_text(table[key]) for key in own if key not in matrices}
    return Columns(
        signals=tuple(
            _signal(name_by_key[key], values, features.get(key), timestamp_ns)
            for key, values in matrices.items()
            if values.shape[1]
        ),
        metadata={key: text for key, text in texts.items() if text is not None},
        findings=(
            *(_not_read(key, table, subject) for key, text in texts.items() if text is None),
            *(_not_read(key, table, subject) for key, m in matrices.items() if not m.shape[1]),
            *_shape_findings(matrices, features, subject),
            *_integer_findings(table, matrices, subject),
        ),
    )


def _signal(
    name: str, values: FloatArray, feature: Feature | None, timestamp_ns: Int64Array
) -> Signal:
    names = feature.names if feature else None
    fits = names is not None and len(names) == values.shape[1]
    return Signal(
        name=name, timestamp_ns=timestamp_ns, values=values, names=names if fits else None
    )


def _constant_text(column: pa.ChunkedArray) -> str | None:
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return None
    values = pc.unique(column).to_pylist()
    return values[0] if len(values) == 1 else None


def _not_read(key: str, table: pa.Table, subject: str) -> Finding:
    return Finding(
        rule="columns_are_read",
        severity=Severity.INFO,
        message=(
            f"{subject}: column {key!r} was left out: got {table.schema.field(key).type}, "
            "expected numbers, or one text for all rows."
        ),
        where=key,
    )


def _shape_findings(
    matrices: Mapping[str, FloatArray], features: Mapping[str, Feature], subject: str
) -> list[Finding]:
    return [
        Finding(
            rule="shape_as_declared",
            severity=Severity.WARN,
            message=(
                f"{subject}: column {key!r} has {values.shape[1]} values per row, expected the "
                f"declared shape {list(features[key].shape)}. It was read as it is."
            ),
            where=key,
            value=values.shape[1],
            threshold=int(np.prod(features[key].shape)),
            unit="1",
        )
        for key, values in matrices.items()
        if key in features
        and features[key].shape
        and int(np.prod(features[key].shape)) != values.shape[1]
    ]


def _integer_findings(
    table: pa.Table, matrices: Mapping[str, FloatArray], subject: str
) -> list[Finding]:
    return [
        Finding(
            rule="integers_fit_float32",
            severity=Severity.INFO,
            message=(
                f"{subject}: column {key!r} holds integers that float32 can't: got up to "
                f"{np.nanmax(np.abs(values)):.0f}, expected at most 16777216. They are rounded in "
                "`frames`."
            ),
            where=key,
        )
        for key, values in matrices.items()
        if pa.types.is_integer(table.schema.field(key).type)
        and not np.array_equal(values, values.astype(np.float32), equal_nan=True)
    ]
