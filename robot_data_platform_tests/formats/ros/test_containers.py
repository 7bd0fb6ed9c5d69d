"""The same recording in every container becomes the same episode."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from mcap.writer import CompressionType
from rosbags.rosbag1 import Writer as Bag1Writer
from rosbags.rosbag2 import StoragePlugin

from robot_data_platform.core.finding import Severity
from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.formats.ros.messages import ReadLog
from robot_data_platform.formats.ros.recording_files import RecordingFiles
from robot_data_platform.storage.source import LocalSource
from robot_data_platform_tests.formats.reading import (
    by_rule,
    camera,
    list_folder,
    read_episode,
    refusal,
    shown_codes,
    signal,
)
from robot_data_platform_tests.formats.ros_files import (
    JOINTS,
    STEP_NS,
    Sent,
    images,
    joint_states,
    time_of,
    write_mcap,
    write_rosbag1,
    write_rosbag2,
)

Write = Callable[[Path, list[Sent]], Path]
BZ2, LZ4 = Bag1Writer.CompressionFormat.BZ2, Bag1Writer.CompressionFormat.LZ4


def mcap(root: Path, messages: list[Sent], **options: object) -> Path:
    return write_mcap(root / "bag.mcap", messages, **options)  # type: ignore[arg-type]


def rosbag2(root: Path, messages: list[Sent], **options: object) -> Path:
    return write_rosbag2(root / "bag", messages, **options)  # type: ignore[arg-type]


def rosbag1(
    root: Path, messages: list[Sent], compression: Bag1Writer.CompressionFormat | None = None
) -> Path:
    return write_rosbag1(root / "bag.bag", messages, compression)


WRITERS: dict[str, Write] = {
    "mcap zstd": partial(mcap, chunk_size=4096),
    "mcap lz4": partial(mcap, compression=CompressionType.LZ4),
    "mcap plain": partial(mcap, compression=CompressionType.NONE),
    "mcap without chunks": partial(mcap, use_chunking=False),
    "mcap without summary": partial(
        mcap, repeat_channels=False, repeat_schemas=False, use_statistics=False
    ),
    "rosbag2 sqlite": rosbag2,
    "rosbag2 sqlite, messages packed": partial(rosbag2, is_packed=True),
    "rosbag2 mcap": partial(rosbag2, storage=StoragePlugin.MCAP),
    "rosbag1": rosbag1,
    "rosbag1 bz2": partial(rosbag1, compression=BZ2),
    "rosbag1 lz4": partial(rosbag1, compression=LZ4),
}


def recorded() -> list[Sent]:
    return sorted([*joint_states(), *images()], key=lambda sent: sent.log_ns)


def only_key(root: Path) -> str:
    (ref,) = list_folder(root).episodes
    return ref.source_key


@pytest.mark.parametrize("writer", WRITERS)
def test_values_times_and_pictures_are_the_same_in_every_container(
    writer: str, tmp_path: Path
) -> None:
    root = WRITERS[writer](tmp_path, recorded())
    recording = read_episode(root, only_key(root))
    state = signal(recording, "observation_state")
    assert state.names == JOINTS
    assert state.timestamp_ns.tolist() == [time_of(k) for k in range(20)]
    expected = np.arange(20)[:, None] + [0, 0.1, 0.2]
    np.testing.assert_array_equal(state.values, expected)
    velocity = signal(recording, "observation_velocity")
    np.testing.assert_array_equal(velocity.values, expected + 1000)
    assert [s.name for s in recording.signals] == [state.name, velocity.name]
    stream = camera(recording, "cam")
    assert stream.timestamp_ns.tolist() == [time_of(k, 2 * STEP_NS) for k in range(10)]
    assert shown_codes(stream) == list(range(10))
    assert [f.rule for f in recording.findings] == ["state_and_action_are_known"]


def test_pictures_can_be_read_twice(tmp_path: Path) -> None:
    stream = camera(read_episode(mcap(tmp_path, recorded()), "bag.mcap"), "cam")
    assert shown_codes(stream) == shown_codes(stream) == list(range(10))


def test_parts_named_after_their_folder_are_one_recording(tmp_path: Path) -> None:
    messages = recorded()
    for part in range(12):
        found = [m for k, m in enumerate(messages) if k * 12 // len(messages) == part]
        write_mcap(tmp_path / "take" / f"take_{part}.mcap", found)
    listing = list_folder(tmp_path)
    assert [len(ref.files) for ref in listing.episodes] == [12]
    assert by_rule(listing.findings)["parts_are_declared"].value == 1
    recording = read_episode(tmp_path, "take/take")
    assert signal(recording, "observation_state").values[:, 0].tolist() == list(range(20))
    assert shown_codes(camera(recording, "cam")) == list(range(10))


def test_parts_named_by_date_are_one_recording_without_number(tmp_path: Path) -> None:
    for part in range(2):
        write_mcap(tmp_path / f"rosbag2_2025_12_05-12_59_22_{part}.mcap", joint_states())
    (ref,) = list_folder(tmp_path).episodes
    assert (len(ref.files), ref.source_episode_index) == (2, None)


def test_numbered_files_are_recordings_of_their_own(tmp_path: Path) -> None:
    for number in (2, 10):
        write_mcap(tmp_path / f"episode_{number}.mcap", joint_states())
    refs = list_folder(tmp_path).episodes
    assert [(r.source_key, r.source_episode_index) for r in refs] == [
        ("episode_2.mcap", 2),
        ("episode_10.mcap", 10),
    ]


def test_a_missing_part_between_others_is_told(tmp_path: Path) -> None:
    for part in (0, 2):
        write_mcap(tmp_path / "take" / f"take_{part}.mcap", joint_states())
    finding = by_rule(list_folder(tmp_path).findings)["parts_are_complete"]
    assert (finding.value, "take/take_1" in finding.message) == (1, True)


def test_a_part_that_metadata_names_and_that_is_missing_is_refused(tmp_path: Path) -> None:
    root = rosbag2(tmp_path, recorded())
    (tmp_path / "bag" / "bag.db3").unlink()
    error = refusal(root, "bag")
    assert (error.kind, error.facts["path"]) == (ErrorKind.MISSING_FILE, "bag/bag.db3")


def test_a_recording_with_its_metadata_in_the_root_is_named_after_its_file(tmp_path: Path) -> None:
    rosbag2(tmp_path, recorded())
    assert only_key(tmp_path / "bag") == "bag"


def test_files_that_metadata_does_not_name_are_told(tmp_path: Path) -> None:
    root = rosbag2(tmp_path, recorded())
    shutil.copy(tmp_path / "bag" / "bag.db3", tmp_path / "bag" / "other.db3")
    listing = list_folder(root)
    assert [ref.source_key for ref in listing.episodes] == ["bag", "bag/other.db3"]
    assert by_rule(listing.findings)["files_are_declared"].value == 1


def edit_metadata(folder: Path, **changes: object) -> None:
    path = folder / "metadata.yaml"
    content = yaml.safe_load(path.read_text())
    content["rosbag2_bagfile_information"].update(changes)
    path.write_text(yaml.safe_dump(content))


def test_paths_in_metadata_stay_in_the_folder(tmp_path: Path) -> None:
    root = rosbag2(tmp_path / "data", recorded())
    shutil.copy(tmp_path / "data" / "bag" / "bag.db3", tmp_path / "outside.db3")
    edit_metadata(tmp_path / "data" / "bag", relative_file_paths=["../../outside.db3"])
    error = refusal(root, "bag")
    assert (error.kind, error.facts["path"]) == (ErrorKind.MISSING_FILE, "bag/outside.db3")


def test_files_packed_as_a_whole_are_refused(tmp_path: Path) -> None:
    root = rosbag2(tmp_path, recorded())
    edit_metadata(tmp_path / "bag", compression_mode="FILE", compression_format="zstd")
    assert "`unzstd`" in str(refusal(root, "bag"))


@pytest.mark.parametrize("text", ["{}", "3", "{", "{relative_file_paths: [], message_count: 0}"])
def test_metadata_that_is_none_is_refused_by_name(text: str, tmp_path: Path) -> None:
    root = rosbag2(tmp_path, recorded())
    (tmp_path / "bag" / "metadata.yaml").write_text(f"rosbag2_bagfile_information: {text}")
    error = refusal(root, "bag")
    assert (error.kind, error.facts["path"]) == (ErrorKind.UNREADABLE_FILE, "bag/metadata.yaml")


def test_more_messages_than_metadata_says_are_told(tmp_path: Path) -> None:
    root = rosbag2(tmp_path, recorded())
    edit_metadata(tmp_path / "bag", topics_with_message_count=[])
    recording = read_episode(root, "bag")
    assert "message_count_as_declared" not in by_rule(recording.findings)  # it declares nothing
    topic = {"topic_metadata": {"name": "/joint_states"}, "message_count": 12}
    edit_metadata(tmp_path / "bag", topics_with_message_count=[topic])
    finding = by_rule(read_episode(root, "bag").findings)["message_count_as_declared"]
    assert (finding.value, finding.threshold) == (30, 12)


def test_a_log_that_was_not_merged_into_its_sqlite_file_is_told(tmp_path: Path) -> None:
    root = rosbag2(tmp_path, recorded())
    (tmp_path / "bag" / "bag.db3-wal").write_bytes(b"left behind")
    finding = by_rule(read_episode(root, "bag").findings)["recording_is_whole"]
    assert (finding.severity, "bag.db3-wal" in finding.message) == (Severity.FAIL, True)


def test_a_sqlite_file_without_metadata_is_a_recording(tmp_path: Path) -> None:
    root = rosbag2(tmp_path, recorded())
    (tmp_path / "bag" / "metadata.yaml").unlink()
    recording = read_episode(root, "bag/bag.db3")
    assert signal(recording, "observation_state").values.shape == (20, 3)


def test_the_first_schema_of_sqlite_files_has_no_definitions(tmp_path: Path) -> None:
    rosbag2(tmp_path, recorded())
    with closing(sqlite3.connect(tmp_path / "bag" / "bag.db3")) as connection:
        for table in ("schema", "message_definitions", "metadata"):
            connection.execute(f"DROP TABLE {table}")
        connection.execute("ALTER TABLE topics DROP COLUMN offered_qos_profiles")
        connection.commit()
    recording = read_episode(tmp_path, "bag")
    assert signal(recording, "observation_state").names == JOINTS
    finding = by_rule(recording.findings)["message_definitions_are_recorded"]
    assert "sensor_msgs/msg/JointState" in finding.message
    assert "ros2_humble" in finding.message


def test_a_bag_that_its_killed_recorder_left_without_index_is_read(tmp_path: Path) -> None:
    root = rosbag1(tmp_path, recorded())
    content = (tmp_path / "bag.bag").read_bytes()
    index_at = int.from_bytes(content.partition(b"index_pos=")[2][:8], "little")
    killed = content[:index_at].replace(
        b"index_pos=" + index_at.to_bytes(8, "little"), b"index_pos=" + bytes(8)
    )
    (tmp_path / "bag.bag").unlink()
    (tmp_path / "bag.bag.active").write_bytes(killed)
    recording = read_episode(root, "bag.bag.active")
    assert "did not close" in by_rule(recording.findings)["recording_is_whole"].message
    assert signal(recording, "observation_state").values[:, 0].tolist() == list(range(20))
    assert shown_codes(camera(recording, "cam")) == list(range(10))


@pytest.mark.parametrize("name", ["bag.mcap", "bag.db3", "bag.bag"])
@pytest.mark.parametrize(
    ("content", "word"),
    [(b"", "0 bytes"), (b"version https://git-lfs.github.com/spec/v1\nsize 9\n", "Git LFS")],
)
def test_files_without_content_are_told_as_what_they_are(
    name: str, content: bytes, word: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    error = refusal(tmp_path, name)
    assert (error.kind, word in str(error)) == (ErrorKind.UNREADABLE_FILE, True)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("x.mcap", "an MCAP file"), ("x.bag", "a ROS 1 bag"), ("x.db3", "a whole SQLite file")],
)
def test_another_format_under_the_name_is_refused(name: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"something else altogether" * 9)
    assert f"expected {expected}" in str(refusal(tmp_path, name))


@pytest.mark.parametrize("name", ["bag.mcap", "bag.db3", "bag.bag"])
def test_links_that_lead_out_of_the_source_are_refused(name: str, tmp_path: Path) -> None:
    write_mcap(tmp_path / "outside" / "a.mcap", joint_states())
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / name).symlink_to(tmp_path / "outside" / "a.mcap")
    with pytest.raises(InvalidInputError) as caught:
        read_episode(tmp_path / "in", name)
    assert caught.value.kind is ErrorKind.UNSAFE_PATH


def test_metadata_behind_a_link_that_leads_out_is_left_out_and_told(tmp_path: Path) -> None:
    root = rosbag2(tmp_path / "in", recorded())
    metadata = tmp_path / "in" / "bag" / "metadata.yaml"
    metadata.rename(tmp_path / "outside.yaml")
    metadata.symlink_to(tmp_path / "outside.yaml")
    listing = list_folder(root)
    assert [ref.source_key for ref in listing.episodes] == ["bag/bag.db3"]
    assert "bag/metadata.yaml" in by_rule(listing.findings)["files_are_read"].message


@pytest.mark.parametrize("writer", WRITERS)
def test_payloads_are_found_again_in_any_order(writer: str, tmp_path: Path) -> None:
    source = LocalSource(WRITERS[writer](tmp_path, recorded()))
    names = [n for n in source.list_files() if not n.endswith(".yaml")]
    files = RecordingFiles(source=source, files=tuple(names), is_packed="packed" in writer)
    read = list(files.messages(lambda channel: True, ReadLog()))
    places = np.array([(position, *message.place) for position, message in read])
    payloads = [message.data for _, message in read]

    @given(st.lists(st.integers(0, len(read) - 1), max_size=12))
    def fetch(order: list[int]) -> None:
        assert list(files.fetch(places[order])) == [payloads[k] for k in order]

    fetch()
