"""Recordings that others made are read right, or refused for what is really wrong with them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from PIL import Image

from robot_data_platform.core.recording import PictureSequence
from robot_data_platform.errors import ErrorKind
from robot_data_platform.formats.profile import load_profile
from robot_data_platform_tests.formats.reading import (
    by_rule,
    camera,
    list_folder,
    read_episode,
    refusal,
    signal,
)

ZOO = "rosbag2_2025_09_10-13_03_56_0.mcap"


def decoded(path: Path, topic: str) -> list[tuple[int, object]]:
    """Return log time and message of a topic, by another reader and another decoder."""
    with path.open("rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        found = reader.iter_decoded_messages(topics=[topic])
        return [(item.message.log_time, item.decoded_message) for item in found]


def test_a_zoo_of_ros_2_messages(shared_data: Path) -> None:
    root = shared_data / "mcap_ros2_sensor_msgs"
    recording = read_episode(root, ZOO)
    state = signal(recording, "observation_state")
    expected = [message for _, message in decoded(root / ZOO, "/joint_state")]
    assert len(expected) == 15
    assert state.names == tuple(expected[0].name)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(state.values, [m.position for m in expected])  # type: ignore[attr-defined]
    stamps = [m.header.stamp for m in expected]  # type: ignore[attr-defined]
    assert state.timestamp_ns.tolist() == [s.sec * 10**9 + s.nanosec for s in stamps]
    battery = signal(recording, "observation_battery_state")
    assert battery.timestamp_ns.tolist() == [t for t, _ in decoded(root / ZOO, "/battery_state")]
    findings = by_rule(recording.findings)
    assert "/battery_state (9 of 10 repeat" in findings["header_stamps_are_usable"].message
    assert findings["topics_are_read"].value == 4
    assert "/point_cloud2 (over 256 numbers" in findings["topics_are_read"].message


def test_the_zoos_pictures_and_lens(shared_data: Path) -> None:
    root = shared_data / "mcap_ros2_sensor_msgs"
    recording = read_episode(root, ZOO)
    ((_, raw),) = decoded(root / ZOO, "/image")
    ((_, packed),) = decoded(root / ZOO, "/compressed_image")
    shape = (raw.height, raw.width, 3)  # type: ignore[attr-defined]
    pixels = np.frombuffer(raw.data, np.uint8).reshape(shape)  # type: ignore[attr-defined]
    expected = {
        "image": pixels[:, :, ::-1] if raw.encoding == "bgr8" else pixels,  # type: ignore[attr-defined]
        "compressed_image": np.asarray(
            Image.open(io.BytesIO(bytes(packed.data))).convert("RGB")  # type: ignore[attr-defined]
        ),
    }
    for name, picture in expected.items():
        stream = camera(recording, name)
        assert isinstance(stream.pictures, PictureSequence)
        np.testing.assert_array_equal(list(stream.pictures.read()), [picture])
        assert stream.calibration is not None
        assert stream.calibration.intrinsics_px is not None
        assert stream.calibration.intrinsics_px[0].tolist() == [500, 0, 320]


def test_a_web_demo_in_protobuf_and_json(shared_data: Path) -> None:
    root = shared_data / "mcap_ros2_sensor_msgs"
    recording = read_episode(root, "simple-protobuf.mcap")
    mouse = signal(recording, "observation_mouse")
    assert (mouse.names, len(mouse.values)) == (("clientX", "clientY"), 292)
    with (root / "simple-protobuf.mcap").open("rb") as file:
        times = [m.log_time for _, _, m in make_reader(file).iter_messages(topics=["mouse"])]
    assert mouse.timestamp_ns.tolist() == sorted(times)
    assert signal(recording, "observation_pose").values.shape == (1, 7)


BASIC_KEYS = (
    "rosbag2_tests/mcap/cdr_test",
    "rosbag2_tests/sqlite3/cdr_test",
    "rosbag2_transport/mcap/test_bag_for_seek",
)
TEXTS_OR_MACHINERY = {
    "rosbag2_cpp/test/rosbag2_cpp/bags/only_services.mcap": "AddTwoInts_Event",
    "rosbag2_cpp/test/rosbag2_cpp/bags/only_topics.mcap": "ParameterEvent",
    "rosbag2_cpp/test/rosbag2_cpp/bags/topics_and_services.db3": "AddTwoInts_Event",
    "rosbag2_cpp/test/rosbag2_cpp/bags/topics_and_services.mcap": "AddTwoInts_Event",
    "rosbag2_py/mcap/reindex_test_bags/multiple_files/multiple_files": "/chatter",
    "rosbag2_py/mcap/talker": "/topic",
    "rosbag2_py/mcap/wbag": "AAA",
    "rosbag2_py/sqlite3/talker": "/topic",
}
UNDECODABLE = {
    "rosbag2_tests/mcap/wrong_rmw_test": "'/test_topic' (test_msgs/msg/BasicTypes: its encoding "
    "'wrong_format'",
    "rosbag2_transport/sqlite3/test_bag_for_seek": "'topic1' (test_msgs/BasicTypes",
}


def test_small_bags_are_listed_with_their_parts(shared_data: Path) -> None:
    listing = list_folder(shared_data / "rosbag2_small")
    keys = {ref.source_key for ref in listing.episodes}
    assert keys == {*BASIC_KEYS, *TEXTS_OR_MACHINERY, *UNDECODABLE}
    parts = {ref.source_key: len(ref.files) for ref in listing.episodes}
    assert parts["rosbag2_py/mcap/reindex_test_bags/multiple_files/multiple_files"] == 3
    assert parts["rosbag2_py/mcap/wbag"] == 6


@pytest.mark.parametrize("key", TEXTS_OR_MACHINERY)
def test_small_bags_of_texts_and_services_have_no_rows(key: str, shared_data: Path) -> None:
    error = refusal(shared_data / "rosbag2_small", key)
    assert (error.kind, TEXTS_OR_MACHINERY[key] in str(error)) == (ErrorKind.NO_ROWS, True)


@pytest.mark.parametrize("key", UNDECODABLE)
def test_small_bags_that_can_not_be_decoded_are_refused_by_topic(
    key: str, shared_data: Path
) -> None:
    error = refusal(shared_data / "rosbag2_small", key)
    assert (error.kind, UNDECODABLE[key] in str(error)) == (ErrorKind.UNREADABLE_FILE, True)


def test_small_bags_of_numbers_are_the_same_in_both_containers(shared_data: Path) -> None:
    root = shared_data / "rosbag2_small"
    mcap, sqlite = (read_episode(root, key) for key in BASIC_KEYS[:2])
    for name in ("observation_test_topic", "observation_array_topic"):
        one, other = signal(mcap, name), signal(sqlite, name)
        np.testing.assert_array_equal(one.values, other.values)
        assert one.timestamp_ns.tolist() == other.timestamp_ns.tolist()
    path = root / "rosbag2_tests/mcap/cdr_test/cdr_test_0.mcap"
    expected = decoded(path, "/test_topic")
    basic = signal(mcap, "observation_test_topic")
    assert basic.timestamp_ns.tolist() == sorted(time for time, _ in expected)
    assert basic.names is not None
    for row, (_, message) in zip(basic.values, sorted(expected, key=lambda e: e[0]), strict=True):
        assert row.tolist() == [float(getattr(message, name)) for name in basic.names]


def test_a_definition_from_outside_opens_a_bag_that_has_none(shared_data: Path) -> None:
    root = shared_data / "rosbag2_small"
    definition = read_definition(root / "rosbag2_transport/mcap/test_bag_for_seek")
    profile = load_profile(
        f"message_definitions: {{test_msgs/BasicTypes: {json.dumps(definition)}}}"
    )
    sqlite = read_episode(root, "rosbag2_transport/sqlite3/test_bag_for_seek", profile)
    mcap = read_episode(root, "rosbag2_transport/mcap/test_bag_for_seek")
    found, expected = signal(sqlite, "observation_topic1"), signal(mcap, "observation_topic1")
    np.testing.assert_array_equal(found.values, expected.values)
    assert found.timestamp_ns.tolist() == [10**9 + k * 10**8 for k in range(5)]


def read_definition(folder: Path) -> str:
    with (folder / "test_bag_for_seek_0.mcap").open("rb") as file:
        summary = make_reader(file).get_summary()
    assert summary is not None
    (schema,) = summary.schemas.values()
    return schema.data.decode()


VICON = (
    "streams: {}\n"
    + "message_definitions:\n  vicon_receiver/msg/Position: |\n"
    + "".join(
        f"    {line}\n"
        for line in (
            *(f"float32 {name}" for name in ("x", "y", "z", "qx", "qy", "qz", "qw")),
            "string segment_name",
            "string subject_name",
            "int32 frame_number",
            "string translation_type",
        )
    )
)


def test_a_custom_type_without_definition_is_refused_by_name(shared_data: Path) -> None:
    error = refusal(shared_data / "rosbag2_go2_vicon", "vicon_bag")
    assert error.facts["topics"] == ["/vicon/UnitreeGo2/UnitreeGo2"]
    assert "vicon_receiver/msg/Position" in str(error)


def test_a_bag_of_which_only_the_metadata_is_there_is_refused(shared_data: Path) -> None:
    error = refusal(shared_data / "rosbag2_go2_vicon", "robot_bag")
    assert error.kind is ErrorKind.MISSING_FILE
    assert error.facts["path"] == "robot_bag/rosbag2_2025_12_06-01_59_13_0.db3"


def test_motion_capture_is_what_its_text_export_says(shared_data: Path) -> None:
    root = shared_data / "rosbag2_go2_vicon"
    recording = read_episode(root, "vicon_bag", load_profile(VICON))
    (found,) = recording.signals
    with (root / "vicon_history.csv").open() as file:
        rows = list(csv.reader(file))
    assert found.timestamp_ns.tolist() == [int(row[0]) for row in rows]
    assert len(found.timestamp_ns) == 11_162
    assert found.names == ("x", "y", "z", "qx", "qy", "qz", "qw", "frame_number")
    exported = np.array([[float(value) for value in row[1:]] for row in rows])
    in_order = found.values[:, [0, 1, 2, 6, 3, 4, 5]]  # the export has qw first
    np.testing.assert_allclose(in_order, exported, rtol=1e-5, atol=1e-9)
    assert recording.metadata["/vicon/UnitreeGo2/UnitreeGo2.subject_name"] == "UnitreeGo2"
