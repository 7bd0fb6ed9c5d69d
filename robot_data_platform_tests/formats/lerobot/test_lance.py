"""LeRobot in Lance is read as the same dataset in files, by value and not by position."""

from __future__ import annotations

import gc
import os
import shutil
import struct
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import lance
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from robot_data_platform.core.recording import VideoSegment
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.inspect import inspect_source
from robot_data_platform.formats.profile import Profile
from robot_data_platform.formats.registry import detect_format
from robot_data_platform.storage.source import LocalSource
from robot_data_platform_tests.formats.lerobot_files import (
    TASKS,
    TOP,
    Take,
    V3Plan,
    edit_info,
    edit_parquet,
    features,
)
from robot_data_platform_tests.formats.lerobot_lance_files import write_lance, write_videos
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

WRIST = "observation.images.wrist"
META = "meta/episodes/chunk-000/file-000.parquet"
TAKES = tuple(Take(index=i, num_rows=5 + i, task=i % 2) for i in range(4))
PLAN = V3Plan(
    takes=TAKES,
    data_files=[[0, 1], [2, 3]],
    video_files={TOP: [[0, 1], [2, 3]], WRIST: [[0, 1, 2, 3]]},
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_lance(tmp_path / "set", PLAN)


def assert_right(root: Path, takes: Sequence[Take] = TAKES) -> None:
    """Values, times, task and pictures of every episode are its own."""
    for take in takes:
        recording = read_episode(root, f"episode_{take.index:06d}")
        np.testing.assert_array_equal(signal(recording, "observation_state").values, take.state)
        np.testing.assert_array_equal(signal(recording, "action").values, take.state + 0.5)
        exact = [(2 * k * 10**9 + 30) // 60 for k in range(take.num_rows)]
        assert signal(recording, "action").timestamp_ns.tolist() == exact
        assert recording.task == TASKS[take.task]
        for stream in recording.cameras:
            assert shown_codes(stream) == take.codes, stream.name


def test_every_episode_has_its_own_rows_task_and_frames(root: Path) -> None:
    assert_right(root)
    assert list_folder(root).findings == ()
    assert [c.name for c in read_episode(root, "episode_000003").cameras] == ["top", "wrist"]


def test_names_and_robot_come_from_the_metadata(root: Path) -> None:
    recording = read_episode(root, "episode_000000")
    assert signal(recording, "observation_state").names == ("episode", "row", "both")
    assert (recording.robot, recording.findings) == ("test_arm", ())


def test_a_ref_names_the_files_of_its_own_fragments(tmp_path: Path) -> None:
    root = write_lance(tmp_path / "set", PLAN, max_rows_per_file=11)  # episodes 0, 1 | 2, 3
    first, *_, last = (ref.files for ref in list_folder(root).episodes)
    data = sorted(p.relative_to(root).as_posix() for p in (root / "frames.lance/data").iterdir())
    assert len(data) == 3
    assert len(set(first) & set(data)) == 1
    assert not set(first) & set(last) & set(data)
    assert all((root / path).is_file() for path in (*first, *last))


@pytest.mark.parametrize("max_rows", [4, 11, 100])
def test_episodes_may_lie_in_several_files(tmp_path: Path, max_rows: int) -> None:
    assert_right(write_lance(tmp_path / "set", PLAN, max_rows_per_file=max_rows))


def test_a_row_that_an_update_moved_to_the_end_shifts_no_other(root: Path) -> None:
    lance.dataset(str(root / "frames.lance")).update(
        {"task_index": "task_index"}, where="episode_index = 0 AND frame_index = 2"
    )
    stored = lance.dataset(str(root / "frames.lance")).to_table(columns=["frame_index"])
    assert stored["frame_index"].to_pylist()[:4] == [0, 1, 3, 4]
    assert_right(root)


def test_videos_in_another_order_than_the_metadata_are_found_by_their_numbers(
    tmp_path: Path,
) -> None:
    root = write_lance(tmp_path / "set", PLAN)
    videos = sorted((tmp_path / "set-files/videos").rglob("*.mp4"), reverse=True)
    shutil.rmtree(root / "videos.lance")
    write_videos(root, videos)
    assert_right(root)


def test_two_features_of_which_one_has_dots_keep_their_names(tmp_path: Path) -> None:
    root = write_lance(tmp_path / "set", replace(PLAN, video_files={}))
    assert {s.name for s in read_episode(root, "episode_000000").signals} == {
        "action",
        "observation_state",
    }


def test_a_video_that_the_table_lacks_refuses_its_episodes_alone(tmp_path: Path) -> None:
    root = write_lance(tmp_path / "set", PLAN)
    lance.dataset(str(root / "videos.lance")).delete(f"video_key = '{TOP}' AND file_index = 1")
    error = refusal(root, "episode_000002")
    assert error.kind is ErrorKind.MISSING_FILE
    assert f"no video 'videos/{TOP}/chunk-000/file-001.mp4'" in str(error)
    assert_right(root, TAKES[:2])


def test_a_damaged_file_of_videos_costs_the_episodes_in_it(root: Path) -> None:
    listed = [
        {path for path in ref.files if path.startswith("videos.lance/data/")}
        for ref in list_folder(root).episodes
    ]
    (path,) = listed[0] - listed[3]  # the file of the first video of the camera on top
    (root / path).write_bytes((root / path).read_bytes()[:-100])
    assert by_rule(list_folder(root).findings)["data_files_are_readable"].where == path
    assert refusal(root, "episode_000000").kind is ErrorKind.MISSING_FILE
    assert_right(root, TAKES[2:])


def test_a_video_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    root = write_lance(tmp_path / "set", replace(PLAN, video_files={TOP: [[0, 1, 2, 3]]}))
    table = lance.dataset(str(root / "videos.lance"))
    shutil.rmtree(root / "videos.lance")
    video = next((tmp_path / "set-files/videos").rglob("*.mp4"))
    del table
    write_videos(root, [video, video])
    with pytest.raises(DataFaultError, match=r"has video .* twice") as caught:
        list_folder(root)
    assert caught.value.kind is ErrorKind.METADATA_CONTRADICTION


def test_a_damaged_file_of_rows_costs_its_own_episodes(tmp_path: Path) -> None:
    root = write_lance(tmp_path / "set", PLAN, max_rows_per_file=11)
    first = list_folder(root).episodes[0].files
    (path,) = (p for p in first if p.startswith("frames.lance/data/"))
    (root / path).write_bytes((root / path).read_bytes()[:-100])
    listing = list_folder(root)
    findings = by_rule(listing.findings)
    assert findings["data_files_are_readable"].where == path
    assert "episodes 0..1" in findings["declared_episodes_have_files"].message
    assert [ref.source_episode_index for ref in listing.episodes] == [2, 3]
    assert_right(root, TAKES[2:])


def test_rows_that_were_deleted_are_missed_against_the_metadata(root: Path) -> None:
    lance.dataset(str(root / "frames.lance")).delete("episode_index = 1 AND frame_index = 3")
    error = refusal(root, "episode_000001")
    assert error.kind is ErrorKind.METADATA_CONTRADICTION
    assert "got 5 rows with episode_index 1 in ['frames.lance'], expected 6" in str(error)
    assert_right(root, TAKES[2:])


@pytest.mark.parametrize("name", ["frames.lance", "videos.lance"])
def test_a_table_that_is_missing_is_named(root: Path, name: str) -> None:
    shutil.rmtree(root / name)
    with pytest.raises(DataFaultError, match=f"no table '{name}'") as caught:
        list_folder(root)
    assert caught.value.kind is ErrorKind.MISSING_FILE


def test_a_table_without_episode_index_is_refused(root: Path) -> None:
    lance.dataset(str(root / "frames.lance")).drop_columns(["episode_index"])
    with pytest.raises(DataFaultError, match=r"expected \['episode_index'\] among them"):
        list_folder(root)


def test_a_link_out_of_the_folder_is_refused(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (root / "frames.lance/data").rename(outside)
    (root / "frames.lance/data").mkdir()
    for path in outside.iterdir():
        (root / "frames.lance/data" / path.name).symlink_to(path)
    with pytest.raises(ValueError, match="got a symbolic link"):
        list_folder(root)


def test_frames_after_the_last_row_are_counted(tmp_path: Path) -> None:
    plan = replace(PLAN, video_files={TOP: [[0, 1, 2, 3]]}, extra_frames={3: 5})
    report = inspect_source(LocalSource(write_lance(tmp_path / "set", plan)))
    assert by_rule(report.findings)["video_frames_are_referenced"].value == 5
    assert report.refused == ()


def test_pictures_inside_the_table_are_read_though_lerobot_refuses_them(tmp_path: Path) -> None:
    plan = V3Plan(takes=[Take(index=0, num_rows=3)], data_files=[[0]])
    root = write_lance(tmp_path / "set", plan)
    edit_info(root, features=features((TOP,), dtype="image"))
    table = lance.dataset(str(root / "frames.lance")).to_table()
    pictures = pa.array([{"bytes": png(code), "path": None} for code in (5, 6, 7)])
    shutil.rmtree(root / "frames.lance")
    lance.write_dataset(
        table.append_column(TOP.replace(".", "_"), pictures), str(root / "frames.lance")
    )
    assert shown_codes(camera(read_episode(root, "episode_000000"), "top")) == [5, 6, 7]


def test_metadata_that_knows_other_episodes_than_the_rows_is_told(root: Path) -> None:
    table = pq.read_table(root / META)
    pq.write_table(table.slice(1), root / META)
    assert "episodes 0," in by_rule(list_folder(root).findings)["episodes_are_declared"].message


def test_a_copy_of_a_video_goes_with_the_last_recording_that_needs_it(root: Path) -> None:
    pictures = camera(read_episode(root, "episode_000000"), "top").pictures
    assert isinstance(pictures, VideoSegment)
    path = Path(str(pictures.path))
    assert path.is_file()
    del pictures
    for number in range(6):  # other copies take the place of those that are kept
        other = root.with_name(f"other-{number}")
        shutil.copytree(root, other)
        read_episode(other, "episode_000000")
    gc.collect()
    assert not path.exists()


class FetchedSource:
    """A source whose files come to this machine when they are asked for, as from S3."""

    def __init__(self, root: Path, cache: Path) -> None:
        self._stored = LocalSource(root)
        self.label = "s3://bucket/set"
        self.local_folder = cache

    def list_files(self) -> tuple[str, ...]:
        return self._stored.list_files()

    def size_bytes(self, relative: str) -> int:
        return self._stored.size_bytes(relative)

    def local_path(self, relative: str) -> Path:
        path = self.local_folder / relative
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self._stored.local_path(relative), path)
        return path


def pad(path: Path, num_bytes: int = 70_000) -> Path:
    """Make a video so large that Lance gives it a file of its own beside the rows."""
    path.write_bytes(
        path.read_bytes() + struct.pack(">I4s", num_bytes, b"free") + bytes(num_bytes - 8)
    )
    return path


def test_an_episode_of_a_remote_source_fetches_what_it_needs_and_no_other_video(
    tmp_path: Path,
) -> None:
    root = write_lance(tmp_path / "set", PLAN)
    shutil.rmtree(root / "videos.lance")
    write_videos(root, [pad(p) for p in sorted((tmp_path / "set-files/videos").rglob("*.mp4"))])
    listed = list_folder(root).episodes[0]
    source = FetchedSource(root, tmp_path / "cache")
    recording = detect_format(source).read(source, listed, Profile())
    assert shown_codes(camera(recording, "top")) == TAKES[0].codes
    stored, fetched = (sorted(p.rglob("*.blob")) for p in (root, tmp_path / "cache"))
    assert (len(stored), len(fetched)) == (3, 2)


def test_a_template_that_leads_nowhere_refuses_the_dataset(root: Path) -> None:
    edit_parquet(root / META, **{f"videos/{key}/chunk_index": [7] * 4 for key in (TOP, WRIST)})
    with pytest.raises(DataFaultError, match=r"leads to no video: got 3"):
        list_folder(root)


@pytest.mark.parametrize("kind", ["pipe", "folder outside"])
def test_what_lance_would_wait_for_or_follow_is_refused_by_name(root: Path, kind: str) -> None:
    folder = root / "frames.lance" / "_versions"
    if kind == "pipe":
        (manifest,) = folder.glob("*.manifest")
        manifest.unlink()
        os.mkfifo(manifest)
    else:
        folder.symlink_to(folder.rename(root.parent / "outside"))
    with pytest.raises(DataFaultError, match=r"'frames\.lance/_versions.* got a link or a pipe"):
        list_folder(root)
