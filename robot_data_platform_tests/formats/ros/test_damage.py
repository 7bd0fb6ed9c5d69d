"""Damaged recordings: what is whole is read, and what is lost is told with numbers."""

from __future__ import annotations

import random
import sqlite3
import struct
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from mcap.exceptions import McapError
from mcap.reader import make_reader
from mcap.stream_reader import StreamReader
from mcap.writer import CompressionType, IndexType
from rosbags.rosbag1 import Writer as Bag1Writer
from rosbags.rosbag2 import StoragePlugin

from robot_data_platform.core.finding import Severity
from robot_data_platform.core.recording import PictureSequence
from robot_data_platform.errors import DataFaultError, ErrorKind, RobotDataError
from robot_data_platform.formats.profile import Profile
from robot_data_platform.formats.registry import detect_format
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
    Sent,
    compressed_image,
    file_bytes,
    images,
    joint_state,
    joint_states,
    plain,
    write_mcap,
    write_rosbag1,
    write_rosbag2,
)

COUNT = 200


def chunked(root: Path, messages: list[Sent] | None = None, chunk_size: int = 512) -> Path:
    """Write 200 joint states in chunks of 512 bytes."""
    sent = joint_states(COUNT) if messages is None else messages
    return write_mcap(root / "a.mcap", sent, chunk_size=chunk_size)


def edit(path: Path, change: Callable[[bytearray], object]) -> None:
    content = bytearray(path.read_bytes())
    change(content)
    path.write_bytes(content)


def cut(path: Path, share: float) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])


def first_values(root: Path) -> list[float]:
    """Return the first joint's values, which count the messages."""
    values = signal(read_episode(root, "a.mcap"), "observation_state").values[:, 0]
    return [float(value) for value in values]


def whole_chunk_messages(path: Path) -> int:
    """Return how many messages of whole chunks the library's streaming reader gives."""
    with path.open("rb") as file:
        count = 0
        try:
            for record in StreamReader(file, record_size_limit=None).records:
                count += type(record).__name__ == "Message"
        except (McapError, struct.error, ValueError):
            return count
        return count


@pytest.mark.parametrize("share", [0.7, 0.5, 0.2])
def test_a_cut_off_file_is_read_up_to_its_last_whole_chunk(share: float, tmp_path: Path) -> None:
    root = chunked(tmp_path)
    cut(tmp_path / "a.mcap", share)
    num_whole = whole_chunk_messages(tmp_path / "a.mcap")
    assert 0 < num_whole < COUNT
    assert first_values(root) == list(range(num_whole))
    finding = by_rule(read_episode(root, "a.mcap").findings)["recording_is_whole"]
    assert finding.severity is Severity.FAIL
    assert f"{num_whole} messages were read" in finding.message


def test_a_file_cut_off_at_98_percent_has_all_its_messages(tmp_path: Path) -> None:
    root = chunked(tmp_path)
    cut(tmp_path / "a.mcap", 0.98)  # within the summary, which only repeats what is before it
    assert first_values(root) == list(range(COUNT))
    assert "recording_is_whole" not in by_rule(read_episode(root, "a.mcap").findings)


def test_the_seeking_reader_gives_nothing_of_a_cut_off_file(tmp_path: Path) -> None:
    chunked(tmp_path)
    cut(tmp_path / "a.mcap", 0.7)
    with (tmp_path / "a.mcap").open("rb") as file, pytest.raises(McapError):
        list(make_reader(file).iter_messages())


def test_a_file_cut_off_in_its_chunk_index_loses_no_message(tmp_path: Path) -> None:
    root = chunked(tmp_path)
    path = tmp_path / "a.mcap"
    with path.open("rb") as file:
        summary = make_reader(file).get_summary()
    assert summary is not None
    last = max(summary.chunk_indexes, key=lambda chunk: chunk.chunk_start_offset)
    end = last.chunk_start_offset + last.chunk_length + last.message_index_length
    content = path.read_bytes()
    path.write_bytes(content[: end + 200])
    assert first_values(root) == list(range(COUNT))


def test_a_file_without_message_indexes_is_read_whole(tmp_path: Path) -> None:
    root = write_mcap(
        tmp_path / "a.mcap",
        joint_states(COUNT),
        chunk_size=512,
        index_types=IndexType.CHUNK,
    )
    assert first_values(root) == list(range(COUNT))


def chunk_starts(path: Path) -> list[int]:
    with path.open("rb") as file:
        summary = make_reader(file).get_summary()
    assert summary is not None
    return sorted(chunk.chunk_start_offset for chunk in summary.chunk_indexes)


def test_a_damaged_chunk_costs_only_its_messages(tmp_path: Path) -> None:
    root = chunked(tmp_path)
    path = tmp_path / "a.mcap"
    start = chunk_starts(path)[3]
    edit(path, lambda content: content.__setitem__(start + 120, content[start + 120] ^ 255))
    values = first_values(root)
    finding = by_rule(read_episode(root, "a.mcap").findings)["recording_is_whole"]
    assert finding.value == COUNT - len(values) > 0
    assert finding.unit == "messages"
    assert values == [k for k in range(COUNT) if k in set(values)]


def test_a_wrong_record_length_costs_only_what_it_hides(tmp_path: Path) -> None:
    root = chunked(tmp_path)
    path = tmp_path / "a.mcap"
    start = chunk_starts(path)[3]
    edit(path, lambda c: c.__setitem__(slice(start + 1, start + 9), struct.pack("<Q", 10**12)))
    values = first_values(root)
    assert values[-1] == COUNT - 1
    assert 0 < COUNT - len(values) < 10


@pytest.mark.parametrize("opcode", [0, 2, 15, 99])
def test_a_wrong_kind_of_record_costs_only_itself(opcode: int, tmp_path: Path) -> None:
    root = chunked(tmp_path)
    path = tmp_path / "a.mcap"
    start = chunk_starts(path)[3]
    edit(path, lambda content: content.__setitem__(start, opcode))
    values = first_values(root)
    assert values[-1] == COUNT - 1
    finding = by_rule(read_episode(root, "a.mcap").findings)["recording_is_whole"]
    assert finding.value == COUNT - len(values) > 0


def test_a_chunk_that_declares_an_absurd_size_is_left_out(tmp_path: Path) -> None:
    root = chunked(tmp_path)
    path = tmp_path / "a.mcap"
    size_at = chunk_starts(path)[0] + 9 + 16
    edit(path, lambda c: c.__setitem__(slice(size_at, size_at + 8), struct.pack("<Q", 10**15)))
    finding = by_rule(read_episode(root, "a.mcap").findings)["recording_is_whole"]
    assert "declares 1000000000000000 bytes" in finding.message


def test_an_unknown_compression_is_refused_where_nothing_else_is_there(tmp_path: Path) -> None:
    root = chunked(tmp_path, joint_states(3), chunk_size=1 << 20)
    edit(tmp_path / "a.mcap", lambda c: c.__setitem__(slice(None), c.replace(b"zstd", b"zstx")))
    error = refusal(root, "a.mcap")
    assert (error.kind, "'zstx' is not known" in str(error)) == (ErrorKind.UNREADABLE_FILE, True)


def test_messages_out_of_order_across_chunks_are_sorted_by_time(tmp_path: Path) -> None:
    twists = [
        plain("/cmd", "geometry_msgs/msg/Vector3", {"x": float(k), "y": 0.0, "z": 0.0}, k)
        for k in range(60)
    ]
    pictures = images(30)
    shuffled = [*joint_states(60)[30:], *pictures[15:], *joint_states(30), *twists, *pictures[:15]]
    recording = read_episode(chunked(tmp_path, shuffled, 4096), "a.mcap")
    assert signal(recording, "observation_state").values[:, 0].tolist() == list(range(60))
    assert signal(recording, "observation_cmd").values[:, 0].tolist() == list(range(60))
    assert shown_codes(camera(recording, "cam")) == list(range(30))


def test_a_message_that_does_not_fit_its_type_is_left_out_and_told(tmp_path: Path) -> None:
    root = write_mcap(tmp_path / "a.mcap", joint_states(9), compression=CompressionType.NONE)
    path = tmp_path / "a.mcap"
    # The length of the first joint's name in the last message.
    at = path.read_bytes().rindex(b"shoulder\0") - 4
    edit(path, lambda c: c.__setitem__(slice(at, at + 4), b"\xff\xff\xff\x7f"))
    edit(path, without_checksum)
    recording = read_episode(root, "a.mcap")
    assert signal(recording, "observation_state").values[:, 0].tolist() == list(range(8))
    finding = by_rule(recording.findings)["messages_are_readable"]
    assert (finding.severity, finding.value) == (Severity.FAIL, 1)


def without_checksum(content: bytearray) -> None:
    """Set the checksum of a plain file's only chunk to 0, which says that it has none."""
    at = 8 + 9 + int.from_bytes(content[9:17], "little")
    assert content[at] == 6
    content[at + 9 + 24 : at + 9 + 28] = bytes(4)


def test_a_bag_that_is_cut_off_is_read_up_to_its_last_whole_chunk(tmp_path: Path) -> None:
    messages = joint_states(COUNT)
    root = write_rosbag1(tmp_path / "a.bag", messages, chunk_size=2048)
    cut(tmp_path / "a.bag", 0.6)
    recording = read_episode(root, "a.bag")
    values = signal(recording, "observation_state").values[:, 0].tolist()
    assert values == list(range(len(values)))
    assert 50 < len(values) < COUNT
    assert "recording_is_whole" in by_rule(recording.findings)


def test_a_bag_with_a_damaged_chunk_tells_how_many_messages_are_missing(tmp_path: Path) -> None:
    bz2 = Bag1Writer.CompressionFormat.BZ2  # the only one with a checksum
    root = write_rosbag1(tmp_path / "a.bag", joint_states(COUNT), bz2, chunk_size=2048)
    path = tmp_path / "a.bag"
    at = path.read_bytes().index(b"compression=bz2") + 200
    edit(path, lambda c: c.__setitem__(slice(at, at + 64), bytes(64)))
    recording = read_episode(root, "a.bag")
    num_read = len(signal(recording, "observation_state").values)
    finding = by_rule(recording.findings)["recording_is_whole"]
    assert 0 < num_read < COUNT
    assert (finding.value, finding.unit) == (COUNT - num_read, "messages")


def test_a_cut_off_sqlite_file_is_refused_or_read_as_far_as_it_goes(tmp_path: Path) -> None:
    root = write_rosbag2(tmp_path / "bag", joint_states(2000))
    cut(tmp_path / "bag" / "bag.db3", 0.6)
    try:
        recording = read_episode(root, "bag")
    except DataFaultError as error:
        assert error.kind is ErrorKind.UNREADABLE_FILE  # noqa: PT017 - either is right
        return
    values = signal(recording, "observation_state").values[:, 0].tolist()
    assert values == list(range(len(values)))
    finding = by_rule(recording.findings)["recording_is_whole"]
    assert finding.value == 2000 - len(values)


def sample(root: Path, kind: str) -> Path:
    """Write a small recording of everything, in one of the containers."""
    messages = [
        *joint_states(12),
        *images(4),
        *(compressed_image(k, file_bytes(k)) for k in range(4)),
        *(plain("/v", "geometry_msgs/msg/Vector3", {"x": 1.0, "y": 2.0}, k) for k in range(9)),
    ]
    if kind == "mcap":
        return write_mcap(root / "a.mcap", messages, chunk_size=8192)
    if kind == "plain mcap":
        return write_mcap(root / "a.mcap", messages, compression=CompressionType.NONE)
    if kind == "rosbag1":
        return write_rosbag1(root / "a.bag", messages)
    storage = StoragePlugin.MCAP if kind == "rosbag2 mcap" else StoragePlugin.SQLITE3
    return write_rosbag2(root / "bag", messages, storage=storage)


def spoil(content: bytearray, dice: random.Random) -> None:
    """Cut, flip, zero or repeat some bytes."""
    at = dice.randrange(len(content))
    match dice.choice(["cut", "flip", "flip", "flip", "zeros", "lengths", "repeat"]):
        case "cut":
            del content[at:]
        case "flip":
            content[at] ^= 1 << dice.randrange(8)
        case "zeros":
            content[at : at + 64] = bytes(len(content[at : at + 64]))
        case "lengths":
            content[at : at + 4] = b"\xff\xff\xff\x7f"
        case _:
            content[at:at] = content[at : at + 100]


def read_all(root: Path) -> None:
    """Read every episode and picture that is there, as far as typed errors allow."""
    source = LocalSource(root)
    try:
        reader = detect_format(source)
        refs = reader.list_episodes(source, Profile()).episodes
    except RobotDataError:
        return
    for ref in refs:
        try:
            for stream in reader.read(source, ref, Profile()).cameras:
                if isinstance(stream.pictures, PictureSequence):
                    assert len(list(stream.pictures.read())) == len(stream.timestamp_ns)
        except RobotDataError:
            continue


@pytest.mark.parametrize("kind", ["mcap", "plain mcap", "rosbag1", "rosbag2", "rosbag2 mcap"])
def test_damage_anywhere_ends_in_a_typed_error_or_in_what_is_whole(
    kind: str, tmp_path: Path
) -> None:
    dice = random.Random(f"ros {kind}")
    sample(tmp_path, kind)
    files = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    whole = {path: path.read_bytes() for path in files}
    for _ in range(60):
        path = dice.choice(files)
        content = bytearray(whole[path])
        spoil(content, dice)
        path.write_bytes(content)
        read_all(tmp_path)
        path.write_bytes(whole[path])
    (ref,) = list_folder(tmp_path).episodes
    assert len(read_episode(tmp_path, ref.source_key).cameras) == 2


def test_a_single_message_is_an_episode_of_one_row(tmp_path: Path) -> None:
    recording = read_episode(chunked(tmp_path, [joint_state(0)]), "a.mcap")
    assert by_rule(recording.findings)["episode_has_several_rows"].value == 1


def test_a_recording_without_a_message_is_refused(tmp_path: Path) -> None:
    error = refusal(chunked(tmp_path, []), "a.mcap")
    assert (error.kind, "got no message" in str(error)) == (ErrorKind.NO_ROWS, True)


def test_rows_that_a_database_makes_up_without_end_are_refused(tmp_path: Path) -> None:
    root = write_rosbag2(tmp_path / "take", joint_states(COUNT))
    with closing(sqlite3.connect(root / "take/take.db3")) as database:
        database.executescript(
            "DROP TABLE messages; CREATE VIEW messages AS WITH RECURSIVE r(id) AS "
            "(SELECT 1 UNION ALL SELECT id + 1 FROM r) "
            "SELECT id, 1 AS topic_id, id AS timestamp, x'00' AS data FROM r"
        )
    error = refusal(root, "take")
    assert error.kind is ErrorKind.UNREADABLE_FILE
    assert "messages" not in str(error).partition("got")[2].partition("]")[0]


def test_names_that_are_no_text_do_not_end_the_reading(tmp_path: Path) -> None:
    root = write_rosbag2(tmp_path / "take", [*joint_states(COUNT), *images()])
    with closing(sqlite3.connect(root / "take/take.db3")) as database:
        change = "UPDATE topics SET name = CAST(x'2f63616dff' AS TEXT) WHERE name LIKE '%image%'"
        database.execute(change)
        database.commit()
    recording = read_episode(root, "take")
    assert len(signal(recording, "observation_state").values) == COUNT
    assert shown_codes(camera(recording, "cam")) == list(range(10))


def test_a_chunk_that_would_lie_beyond_the_file_is_passed_over(tmp_path: Path) -> None:
    root = chunked(tmp_path)
    path = root / "a.mcap"
    whole = first_values(root)
    starts = chunk_starts(path)

    def send_away(content: bytearray) -> None:
        at = content.rindex(struct.pack("<Q", starts[3]))
        content[at : at + 8] = struct.pack("<Q", 1 << 63)

    edit(path, send_away)
    assert first_values(root) == whole
