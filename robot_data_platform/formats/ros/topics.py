"""One pass over a recording: each topic's messages go to what gathers them."""

from __future__ import annotations

from typing import TypeVar

from robot_data_platform.errors import DataFaultError, ErrorKind, InvalidInputError
from robot_data_platform.formats.profile import Profile
from robot_data_platform.formats.ros.decoders import Decoder, TypeSource, decoder_of
from robot_data_platform.formats.ros.joint_topics import JointTopic
from robot_data_platform.formats.ros.lens_topics import LensTopic
from robot_data_platform.formats.ros.messages import Channel, ReadLog
from robot_data_platform.formats.ros.number_topics import AUTO_WIDTH, MAX_WIDTH, NumberTopic
from robot_data_platform.formats.ros.picture_topics import PictureTopic
from robot_data_platform.formats.ros.recording_files import RecordingFiles
from robot_data_platform.formats.ros.ros_types import DefinitionError
from robot_data_platform.formats.ros.topic import Gatherer, Topic
from robot_data_platform.formats.ros.topic_types import CAMERA_ROLES, SIGNAL_ROLES, Role, role_of
from robot_data_platform.formats.ros.transform_topics import TransformTopics
from robot_data_platform.formats.stream_keys import Stream

G = TypeVar("G", bound=Gatherer)
MAX_SIGNAL_BYTES = 1 << 30
"""Most bytes of the messages that become signals, which are held in memory: a day of ten joints at
100 Hz, or half an hour of a legged robot's whole low-level state at 500 Hz."""


class Topics:
    """The topics of a recording, each gathered as its type and the profile say.

    Parameters
    ----------
    profile : Profile
        States what becomes of topics.
    subject : str
        How errors name the episode.
    """

    def __init__(self, profile: Profile, subject: str) -> None:
        self._profile = profile
        self.subject = subject
        self.log = ReadLog()
        self.by_name: dict[str, Topic] = {}
        self.reasons: dict[str, str] = {}
        """Why topics are not gathered at all."""
        self.undecodable: dict[str, str] = {}
        """Why topics that are wanted can't be decoded."""
        self.transforms = TransformTopics()
        self._is_wanted: dict[Channel, bool] = {}
        self._num_signal_bytes = 0

    def gather(self, files: RecordingFiles) -> None:
        """Read all messages once.

        Raises
        ------
        DataFaultError
            ``missing-file``, ``unreadable-file``: a file can't be opened. Others: see `Topic.take`.
        InvalidInputError
            ``invalid-profile``: the profile makes a camera of numbers, or a signal of pictures.
        """
        for position, message in files.messages(self.is_wanted, self.log):
            topic = self.by_name[message.channel.topic]
            decoder = topic.decoder_by_channel.get(message.channel)
            if decoder is None and topic.channel.topic not in self.undecodable:
                decoder = self._decoder(topic, message.channel)
            if decoder is not None:
                self._check_size(topic, len(message.data))
                topic.take(position, message, decoder.decode)

    def _check_size(self, topic: Topic, num_bytes: int) -> None:
        """Refuse a recording whose signals memory can't hold."""
        if topic.role in SIGNAL_ROLES and topic.left_out is None:
            self._num_signal_bytes += num_bytes
        if self._num_signal_bytes > MAX_SIGNAL_BYTES:
            raise DataFaultError(
                f"{self.subject} has too many numbers: got over {MAX_SIGNAL_BYTES} bytes of "
                "messages that become signals, expected less. Cut the recording, or skip topics "
                "in the profile's `streams`.",
                kind=ErrorKind.SHAPE_MISMATCH,
                num_bytes=self._num_signal_bytes,
            )

    def is_wanted(self, channel: Channel) -> bool:
        """Return whether the messages of a channel are to be read."""
        if channel not in self._is_wanted:
            self._is_wanted[channel] = self._add(channel)
        return self._is_wanted[channel]

    def of(self, kind: type[G]) -> list[tuple[Topic, G]]:
        """Return the topics of one kind of gatherer that something becomes of, by name."""
        return [
            (topic, topic.gatherer)
            for _, topic in sorted(self.by_name.items())
            if isinstance(topic.gatherer, kind) and topic.num_messages and topic.left_out is None
        ]

    @property
    def num_long(self) -> dict[str, int]:
        """Messages that go on after the end of their type, by topic; without those of none."""
        counts = {
            name: sum(d.ros_type.num_long for d in topic.decoder_by_channel.values() if d.ros_type)
            for name, topic in self.by_name.items()
        }
        return {name: count for name, count in counts.items() if count}

    @property
    def types(self) -> TypeSource:
        """Where types come from that the files don't define."""
        return TypeSource(
            ros_distro=self.log.ros_distro, definitions=self._profile.message_definitions
        )

    def _decoder(self, topic: Topic, channel: Channel) -> Decoder | None:
        try:
            decoder = topic.decoder_by_channel[channel] = decoder_of(channel, self.types)
        except DefinitionError as err:
            self.undecodable[channel.topic] = f"{channel.type_name or 'no type'}: {err}"
            return None
        return decoder

    def _add(self, channel: Channel) -> bool:
        stated = self._profile.streams.get(channel.topic, Stream())
        role, reason = _role(channel, stated)
        if reason is not None:
            self.reasons[channel.topic] = reason
            return False
        self._check_stated(channel.topic, role, stated)
        known = self.by_name.get(channel.topic)
        if known is None:
            gatherer = self._gatherer(channel.topic, role, stated)
            self.by_name[channel.topic] = Topic(channel, role, stated, gatherer)
        elif known.channel.type_name != channel.type_name:
            raise DataFaultError(
                f"{self.subject} topic {channel.topic!r} has two types: got "
                f"{known.channel.type_name!r} and {channel.type_name!r}, expected one. Record them "
                "under two names, or skip the topic in the profile's `streams`.",
                kind=ErrorKind.METADATA_CONTRADICTION,
                topic=channel.topic,
            )
        return True

    def _gatherer(self, topic: str, role: Role, stated: Stream) -> Gatherer:
        if role in CAMERA_ROLES:
            return PictureTopic(role)
        if role in (Role.JOINTS, Role.TRAJECTORY):
            return JointTopic(f"{self.subject} topic {topic!r}")
        if role is Role.CALIBRATION:
            return LensTopic()
        if role is Role.TRANSFORMS:
            return self.transforms
        return NumberTopic(AUTO_WIDTH if stated.signal is None else MAX_WIDTH)

    def _check_stated(self, topic: str, role: Role, stated: Stream) -> None:
        is_wrong_camera = stated.camera is not None and role not in CAMERA_ROLES
        is_wrong_signal = stated.signal is not None and role not in SIGNAL_ROLES
        if is_wrong_camera or is_wrong_signal:
            raise InvalidInputError(
                f"The profile's `streams` make topic {topic!r} a "
                f"{'camera' if is_wrong_camera else 'signal'}: got a topic of "
                f"{'no pictures' if is_wrong_camera else 'no numbers'}, expected the other. "
                "Correct its entry.",
                kind=ErrorKind.INVALID_PROFILE,
                topic=topic,
            )


def _role(channel: Channel, stated: Stream) -> tuple[Role, str | None]:
    """Return what a channel is, and why it is not read; None = it is."""
    role = role_of(channel.type_name)
    if stated.skip:
        return role, "the profile skips it"
    if role is Role.NOTHING and stated.signal is not None:
        return Role.NUMBERS, None
    if role is Role.NOTHING:
        return role, f"type {channel.type_name} says nothing of the robot's body"
    is_static = channel.is_latched or channel.topic.endswith("tf_static")
    if role is Role.TRANSFORMS and not is_static:
        return role, "transforms that change are no signal"
    return role, None
