"""LeRobot v1: each row names its frame, and is believed only where that can be true."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from robot_data_platform.core.finding import Severity
from robot_data_platform.core.recording import VideoSegment
from robot_data_platform.errors import DataFaultError, ErrorKind, InvalidInputError
from robot_data_platform.formats.inspect import inspect_source
from robot_data_platform.formats.lerobot.safetensors_file import read_int64_vectors
from robot_data_platform.storage.source import LocalSource
from robot_data_platform_tests.formats.coded_video import write_video
from robot_data_platform_tests.formats.lerobot_files import FPS, TOP, Take
from robot_data_platform_tests.formats.lerobot_v1_files import (
    BOUNDS,
    INFO,
    STREAM,
    edit_stream,
    read_stream,
    rows_table,
    stream_to_parquet,
    video_path,
    write_json,
    write_stream,
    write_v1,
    write_vectors,
)
from robot_data_platform_tests.formats.png import png
from robot_data_platform_tests.formats.reading import (
    by_rule,
    camera,
    list_folder,
    read_episode,
    refusal,
    shown_codes,
    signal,
)

TAKES = (Take(index=0, num_rows=5), Take(index=1, num_rows=7), Take(index=2, num_rows=6))
WRIST = "observation.images.wrist"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_v1(tmp_path / "set", TAKES)


def assert_right(root: Path, take: Take) -> None:
    """Values and pictures are those of one take."""
    recording = read_episode(root, f"episode_{take.index:06d}")
    np.testing.assert_array_equal(signal(recording, "observation_state").values, take.state)
    np.testing.assert_array_equal(signal(recording, "action").values, take.state + 0.5)
    for stream in recording.cameras:
        assert shown_codes(stream) == take.codes


def references(take: Take, path: str | None = None) -> list[dict[str, object]]:
    name = path or video_path(take.index)
    return [{"path": name, "timestamp": row / FPS} for row in range(take.num_rows)]


@pytest.mark.parametrize("is_parquet", [False, True], ids=["Arrow", "parquet"])
def test_every_episode_has_its_own_rows_times_and_frames(root: Path, is_parquet: bool) -> None:
    if is_parquet:
        stream_to_parquet(root)
    for take in TAKES:
        assert_right(root, take)
    times = signal(read_episode(root, "episode_000000"), "action").timestamp_ns
    assert times.tolist() == [0, 33333333, 66666667, 100000000, 133333333]
    report = inspect_source(LocalSource(root))
    assert (report.findings, report.refused) == ((), ())


def test_rows_of_several_cameras_have_several_streams(tmp_path: Path) -> None:
    root = write_v1(tmp_path, TAKES[:1], cameras=(TOP, WRIST))
    assert [c.name for c in read_episode(root, "episode_000000").cameras] == ["top", "wrist"]
    assert_right(root, TAKES[0])


def test_a_ref_names_every_file_it_is_read_from(root: Path) -> None:
    ref = list_folder(root).episodes[1]
    assert ref.files == (BOUNDS, INFO, STREAM, video_path(1))
    assert (ref.num_rows_claimed, ref.source_episode_index) == (7, 1)


def test_bounds_within_the_table_are_no_signals(tmp_path: Path) -> None:
    root = write_v1(tmp_path, TAKES[:1])
    table = read_stream(root / STREAM).append_column("episode_data_index_to", pa.array([5] * 5))
    write_stream(root / STREAM, table)
    names = {s.name for s in read_episode(root, "episode_000000").signals}
    assert names == {"observation_state", "action", "next_done"}


def test_episodes_that_share_a_video_are_found_by_their_times(tmp_path: Path) -> None:
    takes = (Take(index=0, num_rows=5), Take(index=1, num_rows=7))
    root = write_v1(tmp_path, takes)
    write_video(root / "videos/shared.mp4", [*takes[0].codes, *takes[1].codes], FPS)
    times = [row / FPS for row in range(12)]
    edit_stream(root, **{TOP: [{"path": "videos/shared.mp4", "timestamp": t} for t in times]})
    for take in takes:
        assert_right(root, take)


def test_a_path_that_leads_out_of_the_folder_is_refused(root: Path) -> None:
    (root.parent / "outside.mp4").write_bytes((root / video_path(0)).read_bytes())
    table = [*references(TAKES[0], "../outside.mp4"), *references(TAKES[1]), *references(TAKES[2])]
    edit_stream(root, **{TOP: table})
    with pytest.raises(
        InvalidInputError, match=r"'\.\./outside\.mp4' .* leaves its folder"
    ) as caught:
        read_episode(root, "episode_000000")
    assert caught.value.kind is ErrorKind.UNSAFE_PATH
    assert_right(root, TAKES[1])


def test_a_video_that_is_missing_refuses_its_episode_alone(root: Path) -> None:
    (root / video_path(1)).unlink()
    error = refusal(root, "episode_000001")
    assert (error.kind, error.facts["path"]) == (ErrorKind.MISSING_FILE, video_path(1))
    assert_right(root, TAKES[2])


def test_rows_that_name_several_videos_are_refused(root: Path) -> None:
    mixed = references(TAKES[0])
    mixed[3]["path"] = video_path(1)
    edit_stream(root, **{TOP: [*mixed, *references(TAKES[1]), *references(TAKES[2])]})
    error = refusal(root, "episode_000000")
    assert error.kind is ErrorKind.METADATA_CONTRADICTION
    assert "got 2 (" in str(error)


def test_rows_that_name_frames_out_of_order_are_refused_with_the_row(root: Path) -> None:
    late = references(TAKES[0])
    late[3]["timestamp"] = 9 / FPS
    edit_stream(root, **{TOP: [*late, *references(TAKES[1]), *references(TAKES[2])]})
    error = refusal(root, "episode_000000")
    assert (error.kind, error.facts["row"]) == (ErrorKind.ROW_MISMATCH, 3)
    assert "got frame 9 at row 3, expected frame 3" in str(error)


def test_shuffled_rows_keep_their_frames(tmp_path: Path) -> None:
    take = Take(index=0, num_rows=4)
    root = write_v1(tmp_path, (take,))
    write_stream(root / STREAM, rows_table(take).take([2, 0, 3, 1]))
    assert_right(root, take)


def test_lengths_that_contradict_the_rows_refuse_the_episode_with_both_numbers(root: Path) -> None:
    write_vectors(root / BOUNDS, {"from": [0, 5, 13], "to": [5, 13, 19]})
    error = refusal(root, "episode_000001")
    assert "got 7 rows" in str(error)
    assert "expected 8" in str(error)
    assert_right(root, TAKES[0])


def test_declared_episodes_without_rows_are_told(root: Path) -> None:
    write_vectors(root / BOUNDS, {"from": [0, 5, 12, 18], "to": [5, 12, 18, 20]})
    finding = by_rule(list_folder(root).findings)["declared_episodes_have_files"]
    assert finding.message.startswith("1 of 4 declared episodes have no files: got none for")


@pytest.mark.parametrize("damage", [b"", b"short", struct.pack("<Q", 10**12) + b"{}"])
def test_damaged_bounds_are_told_and_the_rows_are_read_without_them(
    root: Path, damage: bytes
) -> None:
    (root / BOUNDS).write_bytes(damage)
    finding = by_rule(list_folder(root).findings)["metadata_is_readable"]
    assert (finding.severity, finding.where) == (Severity.FAIL, BOUNDS)
    assert_right(root, TAKES[1])


def test_an_arrow_file_that_state_json_names_and_that_is_missing_is_told(root: Path) -> None:
    names = [{"filename": name} for name in (Path(STREAM).name, "data-00001-of-00002.arrow")]
    write_json(root / "train/state.json", {"_data_files": names})
    finding = by_rule(list_folder(root).findings)["data_files_are_readable"]
    assert finding.where == "train/data-00001-of-00002.arrow"


def test_a_cache_beside_the_rows_is_no_data(root: Path) -> None:
    write_stream(root / "train/cache-0123.arrow", rows_table(Take(index=9, num_rows=3)))
    for name in ("train/state.json", None):
        assert [r.source_episode_index for r in list_folder(root).episodes] == [0, 1, 2]
        if name:
            (root / name).unlink()


def test_a_truncated_stream_is_refused_by_name(root: Path) -> None:
    path = root / STREAM
    path.write_bytes(path.read_bytes()[:-500])
    with pytest.raises(DataFaultError, match=STREAM) as caught:
        list_folder(root)
    assert caught.value.kind is ErrorKind.UNREADABLE_FILE


@pytest.mark.parametrize("fps", [0, None, "30"])
def test_an_impossible_rate_is_refused(root: Path, fps: object) -> None:
    write_json(root / INFO, {"fps": fps})
    with pytest.raises(DataFaultError, match="expected a rate above 0"):
        list_folder(root)


def test_a_dataset_without_rows_is_refused(root: Path) -> None:
    (root / STREAM).unlink()
    (root / "train/state.json").unlink()
    with pytest.raises(DataFaultError, match="has no rows") as caught:
        list_folder(root)
    assert caught.value.kind is ErrorKind.MISSING_FILE


def test_pictures_inside_the_rows_are_read(tmp_path: Path) -> None:
    take = Take(index=0, num_rows=3)
    root = write_v1(tmp_path, (take,), cameras=())
    pictures = pa.array([{"bytes": png(code), "path": None} for code in (5, 6, 7)])
    write_stream(root / STREAM, read_stream(root / STREAM).append_column(TOP, pictures))
    assert shown_codes(camera(read_episode(root, "episode_000000"), "top")) == [5, 6, 7]


def test_an_instruction_in_the_rows_is_the_task(tmp_path: Path) -> None:
    root = write_v1(tmp_path, TAKES[:1])
    texts = pa.array(["pour", "pour", "stir", "stir", "stir"])
    table = read_stream(root / STREAM).append_column("language_instruction", texts)
    write_stream(root / STREAM, table)
    recording = read_episode(root, "episode_000000")
    assert recording.task == "pour"
    assert [(i.start_ns, i.value) for i in recording.instructions] == [
        (0, "pour"),
        (66666667, "stir"),
    ]


def test_a_video_longer_than_its_rows_is_a_warning_with_the_count(root: Path) -> None:
    write_video(root / video_path(1), range(100, 130), FPS)
    finding = by_rule(inspect_source(LocalSource(root)).findings)["video_frames_are_referenced"]
    assert (finding.value, finding.where) == (23, video_path(1))
    pictures = camera(read_episode(root, "episode_000001"), "top").pictures
    assert isinstance(pictures, VideoSegment)
    assert pictures.is_last


def test_another_codec_than_declared_is_told(root: Path) -> None:
    write_json(root / INFO, {"fps": FPS, "encoding": {"vcodec": "libsvtav1"}})
    finding = by_rule(inspect_source(LocalSource(root)).findings)["codec_as_declared"]
    assert "got h264 in 3 episodes" in finding.message


@pytest.mark.parametrize(
    "vectors", [{"from": [0]}, {"from": [0, 1], "to": [1]}], ids=["one alone", "of two lengths"]
)
def test_vectors_that_are_not_there_alike_are_refused(
    tmp_path: Path, vectors: dict[str, list[int]]
) -> None:
    write_vectors(tmp_path / "v.safetensors", vectors)
    with pytest.raises(DataFaultError, match="expected int64 vectors"):
        read_int64_vectors(LocalSource(tmp_path), "v.safetensors", "from", "to")
