"""The committed samples are what TRUTH.json says, read with h5py, pyarrow and av alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import av
import h5py
import numpy as np
import pyarrow.parquet as pq
import pytest

from robot_data_platform_tests.samples.reading import (
    DATA,
    TRUTH,
    Facts,
    fold_folder,
    fold_pictures,
    fold_signal,
    fold_timestamps,
    is_cut_video,
    key_frames,
    packets,
    pick_meta,
    pick_rows,
    pick_video,
    pictures,
)

LARGEST_BYTES = 12_000_000


def _episodes(dataset: str) -> list[Any]:
    return [pytest.param(facts, id=facts["name"]) for facts in TRUTH[dataset]["episodes"]]


def _defects() -> Iterator[tuple[str, str, str]]:
    for dataset, facts in TRUTH.items():
        for episode in facts["episodes"]:
            if episode["defect"]:
                yield dataset, episode["name"], episode["defect"]["kind"]


def test_the_samples_take_at_most_12_megabytes() -> None:
    assert sum(path.stat().st_size for path in DATA.rglob("*") if path.is_file()) <= LARGEST_BYTES


def test_each_defect_is_in_one_episode_and_each_upload_has_one() -> None:
    assert sorted(_defects()) == [
        ("aloha_fold", "fold_004", "truncated_video"),
        ("aloha_insert", "episode_1", "nan_in_state"),
        ("so101_pick", "episode_000003", "frozen_camera"),
    ]


def test_the_generator_imports_nothing_of_the_platform() -> None:
    sources = {path: path.read_text("utf-8") for path in DATA.parent.glob("generate/*.py")}
    pattern = re.compile(r"^\s*(from|import) robot_data_platform\b", re.MULTILINE)
    assert sources
    assert [path.name for path, text in sources.items() if pattern.search(text)] == []


# aloha_fold


def test_the_fold_folders_are_those_of_the_truth() -> None:
    folders = sorted(path.name for path in (DATA / "aloha_fold" / "episodes").iterdir())
    assert folders == [facts["name"] for facts in TRUTH["aloha_fold"]["episodes"]]


@pytest.mark.parametrize("name", ["observation_state", "action"])
@pytest.mark.parametrize("facts", _episodes("aloha_fold"))
def test_a_fold_signal_has_the_true_rows_at_100_hz(facts: Facts, name: str) -> None:
    timestamp_ns, values = fold_signal(facts, name)
    assert values.shape == (facts["rows"], 14)
    np.testing.assert_allclose(np.diff(timestamp_ns), 10_000_000, atol=200_000)


@pytest.mark.parametrize("facts", _episodes("aloha_fold"))
def test_a_fold_video_has_as_many_frames_as_time_stamps(facts: Facts) -> None:
    for camera, stream in facts["cameras"].items():
        assert len(fold_timestamps(facts, camera)) == stream["frames"]
        if not is_cut_video(facts, camera):
            assert len(fold_pictures(facts["name"], camera)) == stream["frames"]


@pytest.mark.parametrize("facts", _episodes("aloha_fold"))
def test_a_dropped_frame_leaves_a_gap_in_the_time_stamps(facts: Facts) -> None:
    for camera, stream in facts["cameras"].items():
        step_ns = np.diff(fold_timestamps(facts, camera))
        assert (np.flatnonzero(step_ns > 50_000_000) + 1).tolist() == stream["dropped_frames"]


def test_less_than_a_hundredth_of_the_frames_is_dropped_and_some_are() -> None:
    streams = [s for facts in TRUTH["aloha_fold"]["episodes"] for s in facts["cameras"].values()]
    assert all(len(stream["dropped_frames"]) <= 0.01 * stream["frames"] for stream in streams)
    assert sum(len(stream["dropped_frames"]) for stream in streams) >= 3


@pytest.mark.parametrize("facts", _episodes("aloha_fold"))
def test_every_fold_row_lies_within_each_camera_stream(facts: Facts) -> None:
    row_ns, _ = fold_signal(facts, "observation_state")
    for camera in facts["cameras"]:
        frame_ns = fold_timestamps(facts, camera)
        assert frame_ns[0] <= row_ns[0]
        assert frame_ns[-1] >= row_ns[-1]


@pytest.mark.parametrize("facts", _episodes("aloha_fold"))
def test_the_drivers_cover_a_fold_episode_without_gaps(facts: Facts) -> None:
    path = fold_folder(facts) / "events.json"
    events = json.loads(path.read_text(encoding="utf-8"))["events"]
    drivers = [e for e in events if e["kind"] == "source"]
    assert [[e["value"], e["start_ns"], e["end_ns"]] for e in drivers] == facts["sources"]
    assert [e["start_ns"] for e in drivers[1:]] == [e["end_ns"] for e in drivers[:-1]]
    assert drivers[0]["start_ns"] == facts["start_ns"]
    assert drivers[-1]["end_ns"] > facts["end_ns"]


def test_the_fold_videos_have_b_frames_and_long_gops() -> None:
    frames = packets(DATA / "aloha_fold/episodes/fold_000/cameras/env.mp4")
    assert list(frames) != sorted(frames)
    assert sum(is_key for _, is_key in frames) == 1


def test_the_cut_video_can_not_be_opened() -> None:
    path = DATA / "aloha_fold/episodes/fold_004/cameras/right.mp4"
    with pytest.raises(av.error.InvalidDataError):
        av.open(str(path))


# so101_pick


@pytest.mark.parametrize("facts", _episodes("so101_pick"))
def test_a_pick_episode_has_the_true_rows_and_task(facts: Facts) -> None:
    rows, number = pick_rows(), facts["source_episode_index"]
    own = rows["episode_index"] == number
    np.testing.assert_array_equal(rows["frame_index"][own], np.arange(facts["rows"]))
    tasks = pq.read_table(DATA / "so101_pick/meta/tasks.parquet").to_pylist()
    text = {row["task_index"]: row["task"] for row in tasks}
    assert {text[int(index)] for index in rows["task_index"][own]} == {facts["task"]}
    assert pick_meta()[number]["tasks"] == [facts["task"]]


def test_the_pick_rows_are_numbered_through_and_timed_by_the_rate() -> None:
    rows = pick_rows()
    np.testing.assert_array_equal(rows["index"], np.arange(len(rows["index"])))
    expected = (rows["frame_index"] / 30).astype(np.float32)
    np.testing.assert_array_equal(rows["timestamp"], expected)


@pytest.mark.parametrize("facts", _episodes("so101_pick"))
def test_a_pick_episode_starts_at_a_key_frame_of_its_file(facts: Facts) -> None:
    meta = pick_meta()[facts["source_episode_index"]]
    for key, stream in facts["cameras"].items():
        assert meta[f"videos/{key}/file_index"] == stream["file_index"]
        first = round(meta[f"videos/{key}/from_timestamp"] * 30)
        assert first == stream["first_frame_in_file"]
        assert round(meta[f"videos/{key}/to_timestamp"] * 30) == first + stream["frames"]
        assert first in key_frames(pick_video(key, stream["file_index"]))


def test_the_pick_files_hold_the_frames_of_their_episodes_and_no_more() -> None:
    frames: dict[Path, int] = {}
    for facts in TRUTH["so101_pick"]["episodes"]:
        for key, stream in facts["cameras"].items():
            path = pick_video(key, stream["file_index"])
            frames[path] = frames.get(path, 0) + stream["frames"]
    assert frames == {path: len(pictures(path)) for path in frames}
    assert sorted(frames) == sorted((DATA / "so101_pick/videos").rglob("*.mp4"))


def test_the_pick_videos_have_gops_of_two_frames() -> None:
    path = pick_video("observation.images.wrist", 0)
    frames = len(pictures(path))
    starts = [0, *np.cumsum([f["rows"] for f in TRUTH["so101_pick"]["episodes"][:2]])]
    expected = {
        start + frame
        for start, end in zip(starts, [*starts[1:], frames], strict=True)
        for frame in range(0, end - start, 2)
    }
    assert key_frames(path) == expected


def test_the_totals_of_the_pick_metadata_agree_with_its_rows() -> None:
    info = json.loads((DATA / "so101_pick/meta/info.json").read_text(encoding="utf-8"))
    assert info["codebase_version"] == "v3.0"
    assert info["total_episodes"] == len(pick_meta()) == len(TRUTH["so101_pick"]["episodes"])
    assert info["total_frames"] == len(pick_rows()["index"])
    assert info["total_tasks"] == 2


def test_the_pick_statistics_are_those_of_the_rows() -> None:
    stats = json.loads((DATA / "so101_pick/meta/stats.json").read_text(encoding="utf-8"))
    state = pick_rows()["observation.state"].astype(np.float64)
    np.testing.assert_allclose(stats["observation.state"]["mean"], state.mean(axis=0))
    np.testing.assert_allclose(stats["observation.state"]["std"], state.std(axis=0))
    np.testing.assert_allclose(stats["observation.state"]["max"], state.max(axis=0))


# aloha_insert


@pytest.mark.parametrize("facts", _episodes("aloha_insert"))
def test_an_insert_file_has_the_true_rows(facts: Facts) -> None:
    with h5py.File(DATA / "aloha_insert" / f"{facts['name']}.hdf5") as file:
        assert dict(file.attrs) == {"sim": True, "compress": True}
        for name in ("observations/qpos", "observations/qvel", "action"):
            assert file[name].shape == (facts["rows"], 14)
        assert file["compress_len"].shape == (2, facts["rows"])


@pytest.mark.parametrize("facts", _episodes("aloha_insert"))
def test_an_insert_picture_is_a_jpeg_of_the_stated_length(facts: Facts) -> None:
    with h5py.File(DATA / "aloha_insert" / f"{facts['name']}.hdf5") as file:
        for camera, lengths in zip(sorted(facts["cameras"]), file["compress_len"], strict=True):
            rows = file["observations/images"][camera][:]
            for row, length in zip(rows, lengths.astype(int), strict=True):
                assert row[:length].tobytes().endswith(b"\xff\xd9")
                assert not row[length:].any()


@pytest.mark.parametrize("facts", _episodes("aloha_insert"))
def test_an_insert_state_is_nan_only_where_the_truth_says_so(facts: Facts) -> None:
    with h5py.File(DATA / "aloha_insert" / f"{facts['name']}.hdf5") as file:
        missing = np.argwhere(~np.isfinite(file["observations/qpos"][:])).tolist()
        assert np.isfinite(file["observations/qvel"][:]).all()
    defect = facts["defect"]
    assert missing == ([[defect["row"], defect["dimension"]]] if defect else [])
