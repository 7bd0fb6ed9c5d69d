"""The signals of a recording, from its topics of joints and of other numbers."""

from __future__ import annotations

from functools import partial

from robot_data_platform.core.recording import STATE, Signal
from robot_data_platform.formats.names import unique_names
from robot_data_platform.formats.profile import Profile
from robot_data_platform.formats.ros.clocks import ChosenTimes
from robot_data_platform.formats.ros.drafts import Draft
from robot_data_platform.formats.ros.joint_topics import JointTopic
from robot_data_platform.formats.ros.number_topics import NumberTopic
from robot_data_platform.formats.ros.samples import Samples
from robot_data_platform.formats.ros.topic import Topic
from robot_data_platform.formats.ros.topic_names import signal_name, with_suffix
from robot_data_platform.formats.ros.topic_types import Role
from robot_data_platform.formats.ros.topics import Topics


def signal_drafts(topics: Topics, profile: Profile) -> list[Draft[Signal]]:
    """Return the signals of a recording, by topic.

    Raises
    ------
    DataFaultError
        ``metadata-contradiction``: two get the same name.
    """
    state = state_topic(topics, profile)
    drafts: dict[str, Draft[Signal]] = {}
    gathered: list[tuple[Topic, JointTopic | NumberTopic]] = []
    gathered += [*topics.of(JointTopic), *topics.of(NumberTopic)]
    for topic, gatherer in sorted(gathered, key=lambda item: item[0].channel.topic):
        for samples in gatherer.samples():
            name = _name(topic, samples.suffix, state)
            drafts[f"{topic.channel.topic} {samples.suffix}".rstrip()] = Draft(
                name=name,
                times=topic.times(samples.index),
                build=partial(_signal, name, samples),
            )
    unique_names(drafts, lambda key: drafts[key].name, topics.subject)
    return list(drafts.values())


def state_topic(topics: Topics, profile: Profile) -> str | None:
    """Return the topic that is the robot's state although the profile does not say so.

    That is the only topic of joint states that the profile makes nothing else of.
    """
    if any(stream.signal == STATE for stream in profile.streams.values()):
        return None
    unnamed = joint_topics(topics)
    return unnamed[0] if len(unnamed) == 1 else None


def joint_topics(topics: Topics) -> list[str]:
    """Return the topics of joint states that the profile names no signal for."""
    found = [topic for topic, _ in topics.of(JointTopic) if topic.role is Role.JOINTS]
    return [topic.channel.topic for topic in found if topic.stated.signal is None]


def _name(topic: Topic, suffix: str, state: str | None) -> str:
    if topic.stated.signal is not None:
        return with_suffix(topic.stated.signal, suffix)
    if topic.channel.topic == state:
        return with_suffix(STATE, suffix)
    return signal_name(topic.channel.topic, suffix)


def _signal(name: str, samples: Samples, chosen: ChosenTimes) -> Signal:
    return Signal(
        name=name,
        timestamp_ns=chosen.timestamp_ns,
        values=samples.values[chosen.index],
        names=samples.names,
    )
