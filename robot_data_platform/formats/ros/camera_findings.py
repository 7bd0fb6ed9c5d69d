"""What is doubtful about a recording's cameras."""

from __future__ import annotations

from collections.abc import Iterator

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.formats.profile import Profile
from robot_data_platform.formats.ros.lens_topics import LensTopic
from robot_data_platform.formats.ros.picture_topics import PictureTopic
from robot_data_platform.formats.ros.pixels import UNSTATED_ORDER
from robot_data_platform.formats.ros.streams import Streams
from robot_data_platform.formats.ros.told import told
from robot_data_platform.formats.ros.topic_findings import left_out
from robot_data_platform.formats.ros.topic_types import CAMERA_ROLES
from robot_data_platform.formats.ros.topics import Topics


def camera_findings(topics: Topics, profile: Profile, streams: Streams) -> Iterator[Finding]:
    """Yield what was left out of the cameras, and what is not known of them."""
    yield from _cameras_left_out(topics)
    yield from _pictures_left_out(topics, streams)
    yield from _unstated_order(topics, profile, streams)
    yield from _calibrations(topics, streams)


def _cameras_left_out(topics: Topics) -> Iterator[Finding]:
    reasons = {
        name: f"({reason})"
        for name, reason in left_out(topics).items()
        if name in topics.by_name and topics.by_name[name].role in CAMERA_ROLES
    }
    reasons |= {
        topic.channel.topic: f"(no message has a whole picture: {pictures.faults.first})"
        for topic, pictures in topics.of(PictureTopic)
        if not pictures.index
    }
    yield from told(
        topics.subject,
        reasons,
        "cameras were left out",
        rule="cameras_are_read",
        severity=Severity.WARN,
        unit="cameras",
    )


def _pictures_left_out(topics: Topics, streams: Streams) -> Iterator[Finding]:
    faults = {
        topic.channel.topic: pictures.faults
        for topic, pictures in topics.of(PictureTopic)
        if pictures.faults.count and pictures.index
    }
    yield from told(
        topics.subject,
        {name: found.first for name, found in faults.items()},
        "messages hold no whole picture and were left out",
        rule="pictures_are_whole",
        severity=Severity.WARN,
        count=sum(found.count for found in faults.values()),
        unit="pictures",
    )
    yield from told(
        topics.subject,
        {name: f"({count})" for name, count in streams.num_skipped.items()},
        "frames before the first key frame can't be decoded and were left out",
        rule="video_starts_at_key_frame",
        severity=Severity.WARN,
        count=sum(streams.num_skipped.values()),
        unit="frames",
    )


def _unstated_order(topics: Topics, profile: Profile, streams: Streams) -> Iterator[Finding]:
    unstated = {
        topic.channel.topic: ""
        for topic, pictures in topics.of(PictureTopic)
        if pictures.kinds[UNSTATED_ORDER]
        and profile.channel_order(streams.camera_by_topic[topic.channel.topic]) is None
    }
    yield from told(
        topics.subject,
        unstated,
        f"cameras of encoding {UNSTATED_ORDER} were read as RGB, since nothing states the order of "
        "their channels",
        rule="channel_order_is_stated",
        severity=Severity.INFO,
        unit="cameras",
    )


def _calibrations(topics: Topics, streams: Streams) -> Iterator[Finding]:
    changes = {topic.channel.topic: lens.num_others for topic, lens in topics.of(LensTopic)}
    yield from told(
        topics.subject,
        {name: f"({count})" for name, count in changes.items() if count},
        "messages change the lens of a camera; what the first one says was taken",
        rule="calibration_is_constant",
        severity=Severity.WARN,
        count=sum(changes.values()),
        unit="messages",
    )
    facts = streams.facts_by_topic
    yield from told(
        topics.subject,
        {name: f"({known.fault})" for name, known in facts.items() if known.fault},
        "cameras have a calibration that can't be one; it was left out",
        rule="calibration_is_readable",
        severity=Severity.WARN,
        unit="cameras",
    )
    used = {known.lens_topic for known in facts.values()}
    yield from told(
        topics.subject,
        {name: "" for name in changes if name not in used},
        "topics describe the lens of no camera that was read",
        rule="calibration_is_used",
        severity=Severity.INFO,
    )
