"""What is doubtful about a recording's signals."""

from __future__ import annotations

from collections.abc import Iterator

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import ACTION, STATE
from robot_data_platform.formats.natural_order import shortened
from robot_data_platform.formats.ros.joint_topics import JointTopic
from robot_data_platform.formats.ros.number_topics import NumberTopic
from robot_data_platform.formats.ros.signal_drafts import joint_topics
from robot_data_platform.formats.ros.streams import Streams
from robot_data_platform.formats.ros.told import told
from robot_data_platform.formats.ros.topics import Topics


def signal_findings(topics: Topics, streams: Streams) -> Iterator[Finding]:
    """Yield what is ambiguous, left out or rounded among the signals."""
    yield from _unknown_roles(topics, streams)
    sets = {topic.channel.topic: joints.joint_sets for topic, joints in topics.of(JointTopic)}
    yield from told(
        topics.subject,
        {name: str([list(names) for names in s]) for name, s in sets.items() if len(s) > 1},
        "topics have messages that name different joints; each set became a signal of its own",
        rule="joint_names_are_constant",
        severity=Severity.WARN,
    )
    yield from _fields(topics)


def _fields(topics: Topics) -> Iterator[Finding]:
    left_out = [
        f"{topic.channel.topic}.{field}"
        for topic, numbers in topics.of(NumberTopic)
        for field in numbers.fields_left_out
    ]
    yield from told(
        topics.subject,
        dict.fromkeys(left_out, ""),
        "fields are no numbers and were left out",
        rule="columns_are_read",
        severity=Severity.INFO,
        unit="fields",
    )
    rounded = [
        f"{topic.channel.topic}.{field}"
        for topic, numbers in topics.of(NumberTopic)
        for field in numbers.rounded_integers
    ]
    yield from told(
        topics.subject,
        dict.fromkeys(rounded, ""),
        "fields hold integers that float32 can't, which are rounded in `frames`",
        rule="integers_fit_float32",
        severity=Severity.INFO,
        unit="fields",
    )


def _unknown_roles(topics: Topics, streams: Streams) -> Iterator[Finding]:
    names = {signal.name for signal in streams.signals}
    missing = [name for name in (STATE, ACTION) if name not in names]
    if not missing:
        return
    candidates = joint_topics(topics)
    is_ambiguous = STATE in missing and len(candidates) > 1
    yield Finding(
        rule="state_and_action_are_known",
        severity=Severity.WARN if is_ambiguous else Severity.INFO,
        message=(
            f"{topics.subject}: no topic is known to be {' or '.join(missing)}; there are joint "
            f"states in {shortened(candidates) or 'no topic'}. Say it in the profile: "
            f"`streams: {{<topic>: {{signal: {missing[0]}}}}}`."
        ),
        value=len(candidates),
        unit="topics",
    )
