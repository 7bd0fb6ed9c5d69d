"""One recording of messages as an episode."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import PurePosixPath

from robot_data_platform.core.recording import EpisodeRef, Recording
from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.data_files import unreadable
from robot_data_platform.formats.natural_order import shortened
from robot_data_platform.formats.profile import Profile
from robot_data_platform.formats.ros.bag_metadata import (
    METADATA_FILE,
    BagMetadata,
    read_metadata,
)
from robot_data_platform.formats.ros.camera_findings import camera_findings
from robot_data_platform.formats.ros.clock_findings import clock_findings
from robot_data_platform.formats.ros.number_topics import MAX_TEXT, NumberTopic
from robot_data_platform.formats.ros.recording_files import RecordingFiles
from robot_data_platform.formats.ros.signal_findings import signal_findings
from robot_data_platform.formats.ros.streams import Streams, build_streams
from robot_data_platform.formats.ros.topic_findings import left_out, topic_findings
from robot_data_platform.formats.ros.topics import Topics
from robot_data_platform.formats.ros.whole_findings import whole_findings
from robot_data_platform.formats.timing import check_rows


def read_recording(source: Source, ref: EpisodeRef, profile: Profile) -> Recording:
    """Return a recording's episode; its pictures are read from the files again on demand.

    Raises
    ------
    DataFaultError
        ``missing-file``, ``unreadable-file``: a file can't be opened, or a topic not decoded;
        ``no-rows``: no topic holds numbers; ``shape-mismatch``, ``metadata-contradiction``,
        ``time-not-increasing``, ``video-unreadable``: what a topic says contradicts itself.
    InvalidInputError
        ``invalid-profile``: the profile makes something of a topic that it is not.
    """
    topics = Topics(profile, f"Episode {ref.source_key!r} of {source.label!r}")
    metadata, files = _files(source, ref)
    topics.log.ros_distro = metadata.ros_distro
    topics.gather(files)
    _check_readable(topics, files)
    streams = build_streams(topics, files, profile)
    if not streams.signals:
        raise _no_signals(topics)
    num_rows = max(len(signal.timestamp_ns) for signal in streams.signals)
    return Recording(
        ref=ref,
        signals=streams.signals,
        cameras=streams.cameras,
        task=None,
        robot=None,
        findings=(
            *check_rows(num_rows, topics.subject),
            *whole_findings(topics, metadata.num_messages, _unmerged(source, files)),
            *clock_findings(topics, streams),
            *topic_findings(topics, profile),
            *signal_findings(topics, streams),
            *camera_findings(topics, profile, streams),
        ),
        metadata=_texts(topics, streams),
    )


def _files(source: Source, ref: EpisodeRef) -> tuple[BagMetadata, RecordingFiles]:
    described = [path for path in ref.files if PurePosixPath(path).name == METADATA_FILE]
    if not described:
        nothing = BagMetadata(files=(), num_messages=Counter())
        return nothing, RecordingFiles(source=source, files=ref.files)
    metadata = read_metadata(source, described[0])
    names = tuple(str(PurePosixPath(described[0]).parent / name) for name in metadata.files)
    if not names:
        raise unreadable(source, described[0], "got no file in it, expected the recording's files")
    for name in names:
        source.local_path(name)  # a recording of which a part is missing is refused
    return metadata, RecordingFiles(source=source, files=names, is_packed=metadata.is_packed)


def _unmerged(source: Source, files: RecordingFiles) -> list[str]:
    """Return the logs of SQLite files that were not closed: what is in them is not read."""
    there = set(source.list_files())
    logs = [f"{path}-wal" for path in files.files if f"{path}-wal" in there]
    return [path for path in logs if source.size_bytes(path)]


def _check_readable(topics: Topics, files: RecordingFiles) -> None:
    if not topics.log.seen and topics.log.losses:
        what, loss = next(iter(topics.log.losses.items()))
        got = f"got {what} ({loss.where}), expected at least one whole message"
        raise unreadable(files.source, files.files[0], got)
    if topics.undecodable:
        raise _undecodable(topics)
    for name, topic in topics.by_name.items():
        if topic.left_out is not None and topic.stated.signal is not None:
            raise DataFaultError(
                f"{topics.subject} topic {name!r} is no signal: got {topic.left_out}, expected "
                "the same numbers in every message. Take it out of the profile's `streams`.",
                kind=ErrorKind.SHAPE_MISMATCH,
                topic=name,
            )


def _undecodable(topics: Topics) -> DataFaultError:
    named = [f"{topic!r} ({reason})" for topic, reason in topics.undecodable.items()]
    first = next(iter(topics.undecodable))
    return DataFaultError(
        f"{topics.subject} has topics that can't be decoded: got {shortened(named, 3)}, expected "
        "CDR, ROS 1, protobuf or JSON messages of a defined type. State the type in the profile's "
        f"`message_definitions`, or leave the topic out: `streams: {{{first}: {{skip: true}}}}`.",
        kind=ErrorKind.UNREADABLE_FILE,
        topics=list(topics.undecodable),
    )


def _no_signals(topics: Topics) -> DataFaultError:
    reasons = [f"{topic} ({reason})" for topic, reason in sorted(left_out(topics).items())]
    return DataFaultError(
        f"{topics.subject} has no rows: got {shortened(reasons, 5) or 'no message'}, expected a "
        "topic of numbers by time. Leave it out of the upload, or record the robot's joints too.",
        kind=ErrorKind.NO_ROWS,
    )


def _texts(topics: Topics, streams: Streams) -> dict[str, str]:
    """Return what the files and constant fields of messages say in words."""
    texts = {key: text for key, text in topics.log.metadata.items() if len(text) <= MAX_TEXT}
    for topic, numbers in topics.of(NumberTopic):
        named = numbers.constants.items()
        texts |= {f"{topic.channel.topic}.{field}": text for field, text in named}
    if topics.transforms.text is not None:
        texts["tf_static"] = topics.transforms.text
    texts["clock"] = json.dumps(streams.clock_by_name)
    return texts
