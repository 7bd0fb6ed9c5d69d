"""What became of a recording's topics, and what did not become anything."""

from __future__ import annotations

from collections.abc import Iterator

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.formats.profile import Profile
from robot_data_platform.formats.ros.ros_types import store_of
from robot_data_platform.formats.ros.told import told
from robot_data_platform.formats.ros.topic_types import CAMERA_ROLES
from robot_data_platform.formats.ros.topics import Topics


def left_out(topics: Topics) -> dict[str, str]:
    """Return why nothing becomes of topics that have messages, by topic."""
    found = dict(topics.reasons)
    found |= {name: t.left_out for name, t in topics.by_name.items() if t.left_out is not None}
    found |= {
        name: f"no message fits its type: {topic.faults.first}"
        for name, topic in topics.by_name.items()
        if topic.faults.count and not topic.num_messages
    }
    return {name: reason for name, reason in found.items() if name in topics.log.seen}


def topic_findings(topics: Topics, profile: Profile) -> Iterator[Finding]:
    """Yield what was left out, what was taken from elsewhere, and what the profile says wrongly."""
    cameras = {n for n, topic in topics.by_name.items() if topic.role in CAMERA_ROLES}
    unread = {n: f"({reason})" for n, reason in left_out(topics).items() if n not in cameras}
    yield from told(
        topics.subject,
        unread,
        "topics were left out",
        rule="topics_are_read",
        severity=Severity.INFO,
    )
    yield from told(
        topics.subject,
        _assumed_types(topics),
        "topics are of types that the file does not define; the profile's `message_definitions` "
        f"and the standard types of {store_of(topics.log.ros_distro).value} were taken",
        rule="message_definitions_are_recorded",
        severity=Severity.INFO,
    )
    yield from _unmet(topics, profile)


def _unmet(topics: Topics, profile: Profile) -> Iterator[Finding]:
    unmet = {name: "(no message)" for name in profile.streams if name not in topics.log.seen}
    unmet |= {
        name: f"(no {topic.stated.clock} times)"
        for name, topic in topics.by_name.items()
        if topic.lacks_stated_clock
    }
    yield from told(
        topics.subject,
        unmet,
        "topics are not what the profile's `streams` say",
        rule="streams_as_profile_states",
        severity=Severity.WARN,
    )


def _assumed_types(topics: Topics) -> dict[str, str]:
    return {
        name: f"({channel.type_name})"
        for name, topic in topics.by_name.items()
        for channel, decoder in topic.decoder_by_channel.items()
        if not decoder.is_defined
    }
