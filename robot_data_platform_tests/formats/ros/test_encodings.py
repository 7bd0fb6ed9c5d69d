"""Messages in other encodings than CDR: protobuf, JSON and ROS 1."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.timestamp_pb2 import Timestamp
from mcap.writer import Writer
from mcap_protobuf.writer import Writer as ProtobufWriter

from robot_data_platform.core.recording import Recording
from robot_data_platform.errors import ErrorKind
from robot_data_platform_tests.formats.coded_video import HEIGHT_PX, WIDTH_PX, coded_picture
from robot_data_platform_tests.formats.reading import (
    by_rule,
    camera,
    read_episode,
    refusal,
    shown_codes,
    signal,
)
from robot_data_platform_tests.formats.ros_files import (
    ROS1_STORE,
    STEP_NS,
    file_bytes,
    joint_states,
    ros1,
    time_of,
)

if TYPE_CHECKING:
    from google.protobuf.message import Message

TYPE = FieldDescriptorProto.Type
STAMP = ".google.protobuf.Timestamp"
FIELDS: dict[str, list[tuple[str, object, bool]]] = {
    "JointState": [
        ("timestamp", STAMP, False),
        ("name", TYPE.TYPE_STRING, True),
        ("position", TYPE.TYPE_DOUBLE, True),
    ],
    "RawImage": [
        ("timestamp", STAMP, False),
        ("frame_id", TYPE.TYPE_STRING, False),
        ("width", TYPE.TYPE_FIXED32, False),
        ("height", TYPE.TYPE_FIXED32, False),
        ("encoding", TYPE.TYPE_STRING, False),
        ("step", TYPE.TYPE_FIXED32, False),
        ("data", TYPE.TYPE_BYTES, False),
    ],
    "CompressedImage": [
        ("timestamp", STAMP, False),
        ("frame_id", TYPE.TYPE_STRING, False),
        ("data", TYPE.TYPE_BYTES, False),
        ("format", TYPE.TYPE_STRING, False),
    ],
    "Vector3": [(axis, TYPE.TYPE_DOUBLE, False) for axis in "xyz"],
    "Velocity3": [("linear", ".foxglove.Vector3", False), ("angular", ".foxglove.Vector3", False)],
    "CameraCalibration": [
        ("timestamp", STAMP, False),
        ("frame_id", TYPE.TYPE_STRING, False),
        ("width", TYPE.TYPE_FIXED32, False),
        ("height", TYPE.TYPE_FIXED32, False),
        ("distortion_model", TYPE.TYPE_STRING, False),
        ("D", TYPE.TYPE_DOUBLE, True),
        ("K", TYPE.TYPE_DOUBLE, True),
    ],
}
"""Of foxglove's schemas, as far as they are needed here: name, type, whether it is repeated."""


def _pool() -> DescriptorPool:
    file = FileDescriptorProto(
        name="foxglove.proto",
        package="foxglove",
        syntax="proto3",
        dependency=[Timestamp.DESCRIPTOR.file.name],
    )
    for name, fields in FIELDS.items():
        message = file.message_type.add(name=name)
        for number, (field, kind, is_repeated) in enumerate(fields, 1):
            label = FieldDescriptorProto.Label.LABEL_REPEATED if is_repeated else 1
            added = message.field.add(name=field, number=number, label=label)
            if isinstance(kind, str):
                added.type, added.type_name = TYPE.TYPE_MESSAGE, kind
            else:
                added.type = kind
    pool = DescriptorPool()
    pool.AddSerializedFile(Timestamp.DESCRIPTOR.file.serialized_pb)
    pool.Add(file)
    return pool


POOL = _pool()


def message(kind: str, **values: object) -> Message:
    return GetMessageClass(POOL.FindMessageTypeByName(f"foxglove.{kind}"))(**values)


def stamped(time_ns: int) -> dict[str, int]:
    return {"seconds": time_ns // 10**9, "nanos": time_ns % 10**9}


def write_protobuf(path: Path, messages: list[tuple[str, Message, int]]) -> None:
    with path.open("wb") as file, ProtobufWriter(file) as writer:
        for topic, content, log_ns in messages:
            writer.write_message(topic, content, log_time=log_ns, publish_time=log_ns)


def joints(number: int) -> Message:
    names, values = ["b", "a"], [number + 0.5, -number]
    return message("JointState", timestamp=stamped(time_of(number)), name=names, position=values)


def test_protobuf_joints_pictures_and_lenses_are_read(tmp_path: Path) -> None:
    messages: list[tuple[str, Message, int]] = [("/joints", joints(k), k) for k in range(20)]
    for code in range(6):
        taken = stamped(time_of(code, 2 * STEP_NS))
        pixels = coded_picture(code)[:, :, ::-1].tobytes()
        raw = message(
            "RawImage", timestamp=taken, width=WIDTH_PX, height=HEIGHT_PX, encoding="bgr8",
            step=3 * WIDTH_PX, data=pixels,
        )  # fmt: skip
        packed = message("CompressedImage", timestamp=taken, data=file_bytes(code), format="jpeg")
        messages += [("/left/image", raw, code), ("/right/image", packed, code)]
    lens = message("CameraCalibration", width=64, height=48, K=[5.0, 0, 1, 0, 5, 1, 0, 0, 1])
    write_protobuf(tmp_path / "a.mcap", [*messages, ("/left/calibration", lens, 0)])
    recording = read_episode(tmp_path, "a.mcap")
    state = signal(recording, "observation_state")
    assert state.names == ("b", "a")
    assert state.values.tolist() == [[k + 0.5, -k] for k in range(20)]
    assert state.timestamp_ns.tolist() == [time_of(k) for k in range(20)]
    for name in ("left", "right"):
        assert shown_codes(camera(recording, name)) == list(range(6))
    known = camera(recording, "left").calibration
    assert known is not None
    assert known.intrinsics_px is not None
    assert known.intrinsics_px[0].tolist() == [5, 0, 1]


def test_protobuf_numbers_are_named_by_their_path(tmp_path: Path) -> None:
    velocity = message("Velocity3", linear=message("Vector3", x=1.5), angular=message("Vector3"))
    write_protobuf(tmp_path / "a.mcap", [("/cmd", velocity, time_of(k)) for k in range(3)])
    found = signal(read_episode(tmp_path, "a.mcap"), "observation_cmd")
    assert found.names is not None
    assert found.names[:2] == ("linear.x", "linear.y")
    assert found.values[0].tolist() == [1.5, 0, 0, 0, 0, 0]
    assert found.timestamp_ns.tolist() == [time_of(k) for k in range(3)]


def write_any(
    path: Path, messages: list[tuple[str, bytes, int]], encoding: str, *schema: str | bytes
) -> Path:
    """Write payloads of any encoding; ``schema`` is name, encoding and definition, or nothing."""
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start("", "test")
        schema_id = 0
        if schema:
            name, kind, definition = schema
            data = definition.encode() if isinstance(definition, str) else definition
            schema_id = writer.register_schema(str(name), str(kind), data)
        channels: dict[str, int] = {}
        for topic, payload, log_ns in messages:
            if topic not in channels:
                channels[topic] = writer.register_channel(topic, encoding, schema_id)
            writer.add_message(channels[topic], log_ns, payload, log_ns)
        writer.finish()  # type: ignore[no-untyped-call]
    return path.parent


def write_json(path: Path, messages: list[tuple[str, Mapping[str, object], int]]) -> Path:
    payloads = [(topic, json.dumps(content).encode(), ns) for topic, content, ns in messages]
    return write_any(path, payloads, "json")


def test_json_numbers_are_read_without_a_schema(tmp_path: Path) -> None:
    content = {"arm": {"joints": [1, 2.5]}, "is_closed": True, "note": "ok", "none": None}
    write_json(tmp_path / "a.mcap", [("robot", content, time_of(k)) for k in range(3)])
    recording = read_episode(tmp_path, "a.mcap")
    found = signal(recording, "observation_robot")
    assert found.names == ("arm.joints[0]", "arm.joints[1]", "is_closed")
    assert found.values.tolist() == [[1, 2.5, 1]] * 3
    assert recording.metadata["robot.note"] == "ok"
    assert "robot.none" in by_rule(recording.findings)["columns_are_read"].message


def test_json_objects_with_other_keys_are_never_mixed_by_position(tmp_path: Path) -> None:
    messages: list[tuple[str, Mapping[str, object], int]]
    messages = [("/v", {"x": 1, "y": 2}, time_of(0)), ("/v", {"y": 3, "x": 4}, time_of(1))]
    messages += [("/w", {"x": 1.0}, time_of(k)) for k in range(2)]
    write_json(tmp_path / "a.mcap", messages)
    recording = read_episode(tmp_path, "a.mcap")
    assert [s.name for s in recording.signals] == ["observation_w"]
    assert "in another layout" in by_rule(recording.findings)["topics_are_read"].message


def test_json_pictures_are_base64(tmp_path: Path) -> None:
    def picture(code: int) -> bytes:
        stamp = {"sec": time_of(code) // 10**9, "nsec": time_of(code) % 10**9}
        data = base64.b64encode(file_bytes(code, "PNG")).decode()
        content = {"timestamp": stamp, "frame_id": "c", "data": data, "format": "png"}
        return json.dumps(content).encode()

    pictures = [("/cam/image", picture(k), k + 1) for k in range(5)]
    path = tmp_path / "a.mcap"
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start("", "test")
        schema = writer.register_schema("foxglove.CompressedImage", "jsonschema", b"{}")
        cam = writer.register_channel("/cam/image", "json", schema)
        robot = writer.register_channel("/robot", "json", 0)
        for topic, payload, ns in pictures:
            assert topic == "/cam/image"
            writer.add_message(cam, ns, payload, ns)
            writer.add_message(robot, ns, b'{"x": 1}', ns)
        writer.finish()  # type: ignore[no-untyped-call]
    recording = read_episode(tmp_path, "a.mcap")
    assert shown_codes(camera(recording, "cam")) == list(range(5))


@pytest.mark.parametrize(
    "payload", [b"[1, 2]", b"{", b"\xff", b'{"x": 1' + b"0" * 500 + b"}", b"[" * 99999]
)
def test_json_that_is_no_object_of_numbers_is_told(payload: bytes, tmp_path: Path) -> None:
    messages = [("/x", b'{"x": 1}', time_of(0)), ("/x", payload, time_of(1))]
    recording = read_episode(write_any(tmp_path / "a.mcap", messages, "json"), "a.mcap")
    assert len(signal(recording, "observation_x").values) == 1
    assert by_rule(recording.findings)["messages_are_readable"].value == 1


def read_ros1(root: Path, kind: str = "sensor_msgs/JointState") -> Recording:
    text, _ = ROS1_STORE.generate_msgdef("sensor_msgs/msg/JointState")
    messages = [("/joint_states", ros1(s.kind, s.content), s.log_ns) for s in joint_states(5)]
    write_any(root / "a.mcap", messages, "ros1", kind, "ros1msg", text)
    return read_episode(root, "a.mcap")


def test_ros_1_messages_in_mcap_are_read(tmp_path: Path) -> None:
    state = signal(read_ros1(tmp_path), "observation_state")
    np.testing.assert_array_equal(state.values[:, 0], np.arange(5))
    assert state.timestamp_ns.tolist() == [time_of(k) for k in range(5)]


@pytest.mark.parametrize(
    ("encoding", "schema", "word"),
    [
        ("cbor", ("T", "cbor", b"?"), "its encoding 'cbor' is none of"),
        ("protobuf", (), "no protobuf descriptor"),
        ("protobuf", ("T", "protobuf", b"\xff\xff"), "its protobuf descriptor can't be read"),
        ("protobuf", ("T", "protobuf", b""), "its protobuf descriptor can't be read"),
        ("cdr", (), "is not defined"),
        ("cdr", ("a_msgs/msg/T", "ros2msg", b"int32 %%"), "it can't be read"),
    ],
)
def test_a_topic_that_can_not_be_decoded_is_refused_by_name_with_the_way_out(
    encoding: str, schema: tuple[str | bytes, ...], word: str, tmp_path: Path
) -> None:
    write_any(tmp_path / "a.mcap", [("/odd", b"payload", 1)], encoding, *schema)
    error = refusal(tmp_path, "a.mcap")
    assert (error.kind, error.facts["topics"]) == (ErrorKind.UNREADABLE_FILE, ["/odd"])
    assert word in str(error)
    assert "`streams: {/odd: {skip: true}}`" in str(error)


def test_bytes_after_the_end_of_a_message_are_told(tmp_path: Path) -> None:
    text, _ = ROS1_STORE.generate_msgdef("sensor_msgs/msg/JointState")
    messages = [
        ("/joint_states", ros1(s.kind, s.content) + b"\0\0\0\0", s.log_ns) for s in joint_states(5)
    ]
    write_any(tmp_path / "a.mcap", messages, "ros1", "sensor_msgs/JointState", "ros1msg", text)
    recording = read_episode(tmp_path, "a.mcap")
    assert signal(recording, "observation_state").values[:, 0].tolist() == list(range(5))
    assert by_rule(recording.findings)["messages_end_as_defined"].value == 5
