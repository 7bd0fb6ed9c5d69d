"""Small recordings of robot messages, written with the containers' own libraries.

Messages are dictionaries, encoded by ``mcap_ros2`` (the code under test decodes with another
library); definitions are the standard ones that ``rosbags`` ships.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
from mcap.writer import CompressionType, IndexType, Writer
from mcap_ros2._dynamic import serialize_dynamic
from PIL import Image
from rosbags.rosbag1 import Writer as Bag1Writer
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin
from rosbags.rosbag2 import Writer as Bag2Writer
from rosbags.typesys import Stores, get_typestore

from robot_data_platform_tests.formats.coded_video import HEIGHT_PX, WIDTH_PX, coded_picture

EPOCH_NS = 1_700_000_000_123_456_789
"""Time of the first message; no float holds it."""
STEP_NS = 10_000_000
JOINTS = ("shoulder", "elbow", "grip")
STORE = get_typestore(Stores.ROS2_HUMBLE)
ROS1_STORE = get_typestore(Stores.ROS1_NOETIC)
QOS_LATCHED = "- history: 1\n  depth: 1\n  reliability: 1\n  durability: 1\n"

Content = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """One message of a recording."""

    topic: str
    kind: str
    """Type, as ROS 2 names it."""
    content: Content
    log_ns: int
    publish_ns: int | None = None
    """The log time by default."""
    is_latched: bool = False


def stamp(time_ns: int) -> dict[str, int]:
    """Return a time as messages hold it."""
    return {"sec": time_ns // 10**9, "nanosec": time_ns % 10**9}


def header(time_ns: int, frame_id: str = "") -> dict[str, object]:
    """Return a message header."""
    return {"stamp": stamp(time_ns), "frame_id": frame_id}


def time_of(number: int, step_ns: int = STEP_NS) -> int:
    """Return the header time of a stream's sample."""
    return EPOCH_NS + number * step_ns


def joint_state(
    number: int,
    topic: str = "/joint_states",
    names: Sequence[str] = JOINTS,
    **changes: object,
) -> Sent:
    """Return joint states whose values name sample and joint; logged 1 ms after they were taken."""
    position = [number + JOINTS.index(name) / 10 for name in names]
    content = {
        "header": header(time_of(number)),
        "name": list(names),
        "position": position,
        "velocity": [value + 1000 for value in position],
        "effort": [],
    }
    return Sent(
        topic=topic,
        kind="sensor_msgs/msg/JointState",
        content=content | changes,
        log_ns=time_of(number) + 1_000_000,
    )


def joint_states(count: int = 20, **changes: object) -> list[Sent]:
    """Return one second's worth of joint states and less, at 100 Hz."""
    return [joint_state(number, **changes) for number in range(count)]  # type: ignore[arg-type]


def raw_picture(code: int, encoding: str = "rgb8", padding: int = 0) -> Content:
    """Return the fields of a raw picture that spells ``code``, taken every 20 ms."""
    pixels = encoded_pixels(coded_picture(code), encoding)
    rows = pixels.reshape(HEIGHT_PX, -1)
    padded = np.pad(rows, ((0, 0), (0, padding)), constant_values=77)
    return {
        "header": header(time_of(code, 2 * STEP_NS), "camera_optical"),
        "height": HEIGHT_PX,
        "width": WIDTH_PX,
        "encoding": encoding,
        "is_bigendian": 0,
        "step": padded.shape[1],
        "data": padded.tobytes(),
    }


def encoded_pixels(rgb: npt.NDArray[np.uint8], encoding: str) -> npt.NDArray[np.uint8]:
    """Return the bytes of a picture of black and white in a ROS encoding, (H, bytes per row)."""
    gray = rgb[:, :, :1]
    alpha = np.full_like(gray, 200)
    planes: dict[str, list[npt.NDArray[np.uint8]]] = {
        "rgb8": [rgb],
        "bgr8": [rgb[:, :, ::-1]],
        "8UC3": [rgb],
        "rgba8": [rgb, alpha],
        "bgra8": [rgb[:, :, ::-1], alpha],
        "mono8": [gray],
        "8UC1": [gray],
    }
    return np.concatenate(planes[encoding], axis=2).reshape(HEIGHT_PX, -1)


def image(code: int, topic: str = "/cam/image_raw", encoding: str = "rgb8") -> Sent:
    """Return a raw picture, logged 5 ms after it was taken."""
    return Sent(
        topic=topic,
        kind="sensor_msgs/msg/Image",
        content=raw_picture(code, encoding),
        log_ns=time_of(code, 2 * STEP_NS) + 5_000_000,
    )


def images(count: int = 10, **changes: str) -> list[Sent]:
    """Return raw pictures at 50 Hz."""
    return [image(code, **changes) for code in range(count)]


def file_bytes(code: int, file_format: str = "JPEG") -> bytes:
    """Return a picture that spells ``code`` as JPEG or PNG."""
    buffer = io.BytesIO()
    Image.fromarray(coded_picture(code)).save(buffer, file_format, quality=95)
    return buffer.getvalue()


def compressed_image(code: int, data: bytes, stated: str = "jpeg") -> Sent:
    """Return an encoded picture."""
    return Sent(
        topic="/cam/image_raw/compressed",
        kind="sensor_msgs/msg/CompressedImage",
        content={
            "header": header(time_of(code, 2 * STEP_NS)),
            "format": stated,
            "data": data,
        },
        log_ns=time_of(code, 2 * STEP_NS) + 5_000_000,
    )


def plain(topic: str, kind: str, content: Content, number: int = 0, **times: int) -> Sent:
    """Return a message of any type, logged with the joint state of its number."""
    log_ns = times.get("log_ns", time_of(number) + 1_000_000)
    return Sent(topic=topic, kind=kind, content=content, log_ns=log_ns)


@lru_cache(maxsize=64)
def definition(kind: str) -> str:
    """Return the standard definition of a type, with all that it is made of."""
    return STORE.generate_msgdef(kind, ros_version=2)[0]


@lru_cache(maxsize=64)
def _encoder(kind: str, text: str) -> Callable[[Content], bytes]:
    return serialize_dynamic(kind, text)[kind]


def cdr(kind: str, content: Content, text: str | None = None) -> bytes:
    """Return a message as CDR."""
    return _encoder(kind, text or definition(kind))(content)


def ros1(kind: str, content: Content) -> bytes:
    """Return a message as ROS 1 writes it, with the sequence number of its header."""
    return bytes(STORE.cdr_to_ros1(cdr(kind, content), kind))


def write_mcap(
    path: Path,
    messages: Sequence[Sent],
    *,
    chunk_size: int = 1 << 20,
    compression: CompressionType = CompressionType.ZSTD,
    definitions: Mapping[str, str] | None = None,
    is_defined: bool = True,
    **options: bool | IndexType,
) -> Path:
    """Write an MCAP file as ROS 2 does, with the types' definitions or without; its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = definitions or {}
    with path.open("wb") as file:
        writer = Writer(file, chunk_size=chunk_size, compression=compression, **options)  # type: ignore[arg-type]
        writer.start("ros2", "test")
        schemas: dict[str, int] = {}
        channels: dict[str, int] = {}
        for sent in messages:
            text = texts.get(sent.kind) or definition(sent.kind)
            if sent.kind not in schemas:
                recorded = text.encode() if is_defined else b""
                schemas[sent.kind] = writer.register_schema(sent.kind, "ros2msg", recorded)
            if sent.topic not in channels:
                qos = {"offered_qos_profiles": QOS_LATCHED} if sent.is_latched else {}
                channels[sent.topic] = writer.register_channel(
                    sent.topic, "cdr", schemas[sent.kind], qos
                )
            publish_ns = sent.log_ns if sent.publish_ns is None else sent.publish_ns
            data = cdr(sent.kind, sent.content, text)
            writer.add_message(channels[sent.topic], sent.log_ns, data, publish_ns)
        writer.finish()  # type: ignore[no-untyped-call]
    return path.parent


def write_rosbag2(
    folder: Path,
    messages: Sequence[Sent],
    *,
    storage: StoragePlugin = StoragePlugin.SQLITE3,
    is_packed: bool = False,
) -> Path:
    """Write a rosbag2 folder; returns the folder that it lies in."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    writer = Bag2Writer(folder, version=9, storage_plugin=storage)
    if is_packed:
        writer.set_compression(CompressionMode.MESSAGE, CompressionFormat.ZSTD)
    with writer:
        connections = {
            sent.topic: writer.add_connection(sent.topic, sent.kind, typestore=STORE)
            for sent in {sent.topic: sent for sent in messages}.values()
        }
        for sent in messages:
            data = cdr(sent.kind, sent.content)
            writer.write(connections[sent.topic], sent.log_ns, data)
    return folder.parent


def write_rosbag1(
    path: Path,
    messages: Sequence[Sent],
    compression: Bag1Writer.CompressionFormat | None = None,
    chunk_size: int = 1 << 20,
) -> Path:
    """Write a ROS 1 bag; returns its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = Bag1Writer(path)
    writer.chunk_threshold = chunk_size
    if compression is not None:
        writer.set_compression(compression)
    with writer:
        connections = {
            sent.topic: writer.add_connection(
                sent.topic, sent.kind, typestore=ROS1_STORE, latching=int(sent.is_latched)
            )
            for sent in {sent.topic: sent for sent in messages}.values()
        }
        for sent in messages:
            writer.write(connections[sent.topic], sent.log_ns, ros1(sent.kind, sent.content))
    return path.parent
