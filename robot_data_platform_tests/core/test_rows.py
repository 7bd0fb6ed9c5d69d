"""Rows of an episode against values worked out by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from robot_data_platform.core.recording import (
    CameraStream,
    EpisodeRef,
    Interval,
    PictureSequence,
    Recording,
    Signal,
)
from robot_data_platform.core.rows import StreamIndex, episode_fields, episode_rows
from robot_data_platform.core.schema import frames_base_fields, table_schema
from robot_data_platform.errors import DataFaultError, ErrorKind

if TYPE_CHECKING:
    import pyarrow as pa

MS = 1_000_000


def times(*milliseconds: int) -> np.ndarray:
    return np.array(milliseconds, dtype=np.int64) * MS


def recording(**changes: object) -> Recording:
    state = np.arange(8, dtype=np.float32).reshape(4, 2)
    action = np.array([[10.0], [20.0]], dtype=np.float32)
    facts: dict[str, object] = {
        "ref": EpisodeRef(source_key="ep0"),
        "signals": (
            Signal(name="observation_state", timestamp_ns=times(0, 10, 20, 30), values=state),
            Signal(name="action", timestamp_ns=times(5, 25), values=action),
        ),
        "cameras": (),
        "task": "fold",
        "robot": "aloha",
        "sources": (Interval(start_ns=20 * MS, end_ns=99 * MS, value="intervention"),),
    }
    return Recording(**{**facts, **changes})  # type: ignore[arg-type]


def rows_of(episode: Recording, streams: dict[str, StreamIndex] | None = None) -> pa.Table:
    fields = episode_fields(episode, sorted(streams or {}))
    schema = table_schema([*frames_base_fields(), *fields])
    return episode_rows(episode, 7, streams or {}, schema)


def test_every_sample_of_the_finest_signal_is_a_row() -> None:
    assert rows_of(recording())["timestamp_ns"].to_pylist() == times(0, 10, 20, 30).tolist()


def test_a_slower_signal_is_held_and_null_before_its_first_sample() -> None:
    assert rows_of(recording())["action"].to_pylist() == [None, [10.0], [10.0], [20.0]]


def test_the_age_of_a_held_sample_is_kept() -> None:
    assert rows_of(recording())["action_age_ns"].to_pylist() == [None, 5 * MS, 15 * MS, 5 * MS]


def test_a_label_becomes_a_column_and_is_null_where_nothing_was_stated() -> None:
    assert rows_of(recording())["is_intervention"].to_pylist() == [None, None, True, True]


def test_the_task_stands_in_for_an_instruction_that_is_not_there() -> None:
    assert set(rows_of(recording())["language_instruction"].to_pylist()) == {"fold"}


def test_a_row_points_at_the_gop_and_the_frame_in_it() -> None:
    stream = StreamIndex(
        ref_id=99,
        first_frame=np.array([0, 2], dtype=np.int64),
        pts_ns=times(0, 10, 20, 30),
    )
    rows = rows_of(recording(), {"top": stream})
    found = [
        rows[f"observation_images_top_{name}"].to_pylist()
        for name in ("ref_id", "gop_index", "frame_index_in_gop", "offset_ns")
    ]
    assert found == [[99] * 4, [0, 0, 1, 1], [0, 1, 0, 1], [0] * 4]


def test_nan_stays_nan() -> None:
    values = np.array([[np.nan], [1.0]], dtype=np.float32)
    signal = Signal(name="observation_state", timestamp_ns=times(0, 10), values=values)
    column = rows_of(recording(signals=(signal,)))["observation_state"]
    assert np.isnan(column.combine_chunks().flatten().to_numpy()[0])


def test_time_that_stands_still_is_refused_with_the_sample() -> None:
    values = np.zeros((3, 1), dtype=np.float32)
    signal = Signal(name="observation_state", timestamp_ns=times(0, 10, 10), values=values)
    with pytest.raises(DataFaultError, match=r"'ep0' observation_state: sample 2") as caught:
        rows_of(recording(signals=(signal,)))
    assert caught.value.kind is ErrorKind.TIME_NOT_INCREASING


def test_a_camera_whose_clock_runs_back_is_refused() -> None:
    pictures = PictureSequence(num_frames=2, read=lambda: iter(()))
    camera = CameraStream(name="top", timestamp_ns=times(10, 0), pictures=pictures)
    with pytest.raises(DataFaultError, match="camera top"):
        rows_of(recording(cameras=(camera,)))


def test_an_episode_without_a_sample_is_refused() -> None:
    empty = np.empty((0, 2), dtype=np.float32)
    signal = Signal(name="observation_state", timestamp_ns=times(), values=empty)
    schema = table_schema(frames_base_fields())
    with pytest.raises(DataFaultError, match="no row"):
        episode_rows(recording(signals=(signal,)), 0, {}, schema)


def test_a_signal_of_another_width_is_refused_with_both_widths() -> None:
    schema = table_schema([*frames_base_fields(), *episode_fields(recording(), [])])
    wide = Signal(
        name="observation_state",
        timestamp_ns=times(0, 10),
        values=np.zeros((2, 3), dtype=np.float32),
    )
    with pytest.raises(DataFaultError, match=r"width 3: expected 2"):
        episode_rows(recording(signals=(wide,)), 0, {}, schema)
