"""One topic: its messages go to what gathers them, and their times are kept."""

from __future__ import annotations

from array import array
from collections.abc import Callable

import numpy as np

from robot_data_platform.core.recording import Int64Array
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.ros.clocks import MessageTimes
from robot_data_platform.formats.ros.decoders import DECODE_ERRORS, Decoder
from robot_data_platform.formats.ros.faults import Faults
from robot_data_platform.formats.ros.fields import stamp_ns
from robot_data_platform.formats.ros.joint_topics import JointTopic
from robot_data_platform.formats.ros.leaves import TooManyNumbersError
from robot_data_platform.formats.ros.lens_topics import LensTopic
from robot_data_platform.formats.ros.messages import Channel, Message
from robot_data_platform.formats.ros.number_topics import NotASignalError, NumberTopic
from robot_data_platform.formats.ros.picture_messages import NotACameraError
from robot_data_platform.formats.ros.picture_topics import PictureTopic
from robot_data_platform.formats.ros.recording_files import FULL_PLACE
from robot_data_platform.formats.ros.topic_types import CAMERA_ROLES, Role
from robot_data_platform.formats.ros.transform_topics import TransformTopics
from robot_data_platform.formats.stream_keys import Clock, Stream

_INT64_END = 1 << 63
Gatherer = JointTopic | NumberTopic | PictureTopic | LensTopic | TransformTopics


class Topic:
    """What was gathered from the messages of one topic.

    Parameters
    ----------
    channel : Channel
        The first channel of the topic.
    role : Role
        What becomes of it.
    stated : Stream
        What the profile says of it.
    gatherer : Gatherer
        Takes its messages.
    """

    def __init__(self, channel: Channel, role: Role, stated: Stream, gatherer: Gatherer) -> None:
        self.channel = channel
        self.role = role
        self.stated = stated
        self.gatherer = gatherer
        self.left_out: str | None = None
        """Why nothing becomes of it after all."""
        self.faults = Faults()
        """Messages that can't be decoded."""
        self.decoder_by_channel: dict[Channel, Decoder] = {}
        is_plan = role is Role.TRAJECTORY and isinstance(gatherer, JointTopic)
        self._gather = gatherer.add_trajectory if is_plan else gatherer.add  # type: ignore[union-attr]
        self._header_ns, self._publish_ns, self._log_ns = array("q"), array("q"), array("q")
        self._places = array("q")
        self._has_stamps = False

    @property
    def num_messages(self) -> int:
        """Messages that were taken."""
        return len(self._log_ns)

    @property
    def lacks_stated_clock(self) -> bool:
        """Whether the profile states a clock that its messages don't have."""
        lacks_publish = len(self._publish_ns) < self.num_messages
        lacks = {Clock.HEADER: not self._has_stamps, Clock.PUBLISH: lacks_publish}
        return self.stated.clock is not None and lacks.get(self.stated.clock, False)

    def take(self, position: int, message: Message, decode: Callable[[bytes], object]) -> None:
        """Decode and gather the next message, of the file at ``position``.

        Raises
        ------
        DataFaultError
            What it says contradicts itself: ``shape-mismatch``, ``metadata-contradiction``;
            ``time-not-increasing``: a time beyond int64.
        """
        if self.left_out is not None:
            return
        try:
            decoded = decode(message.data)
            self._gather(decoded)
        except (NotASignalError, NotACameraError, TooManyNumbersError) as err:
            self.left_out = str(err)
        except DECODE_ERRORS as err:
            number = self.num_messages + self.faults.count
            self.faults.add(f"message {number}: {err!r:.160}")
        else:
            self._keep_times(position, message, stamp_ns(decoded))

    def _keep_times(self, position: int, message: Message, stamp: int | None) -> None:
        log_ns, publish_ns = message.log_ns, message.publish_ns
        if log_ns >= _INT64_END or (publish_ns is not None and publish_ns >= _INT64_END):
            raise self._beyond_int64(max(log_ns, publish_ns or 0))
        self._header_ns.append(stamp or 0)
        self._has_stamps |= stamp is not None
        self._log_ns.append(log_ns)
        if publish_ns is not None:
            self._publish_ns.append(publish_ns)
        if self.role in CAMERA_ROLES:
            self._places.extend((position, *message.place))

    def _beyond_int64(self, time_ns: int) -> DataFaultError:
        return DataFaultError(
            f"Message {self.num_messages} of topic {self.channel.topic!r} has a time that is no "
            f"int64 nanoseconds: got {time_ns}, expected less than {_INT64_END}. Write the "
            "clock's integers as they are.",
            kind=ErrorKind.TIME_NOT_INCREASING,
            topic=self.channel.topic,
        )

    def times(self, index: Int64Array) -> MessageTimes:
        """Return the times of some of its messages, by number."""
        has_publish = len(self._publish_ns) == self.num_messages
        return MessageTimes(
            label=self.channel.topic,
            header_ns=_array(self._header_ns)[index] if self._has_stamps else None,
            publish_ns=_array(self._publish_ns)[index] if has_publish else None,
            log_ns=_array(self._log_ns)[index],
            may_repeat=self.role is not Role.VIDEO,
            stated=self.stated.clock,
            offset_ns=self.stated.time_offset_ns,
        )

    def places(self, index: Int64Array) -> Int64Array:
        """Return where some of its pictures lie: (N, 4) int64."""
        return _array(self._places).reshape(-1, FULL_PLACE)[index]


def _array(values: array[int]) -> Int64Array:
    return np.frombuffer(values, dtype=np.int64) if values else np.empty(0, dtype=np.int64)
