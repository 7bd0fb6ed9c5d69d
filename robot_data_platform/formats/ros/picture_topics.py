"""Topics of pictures: where each lies, found in one pass; the pictures themselves, in another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from robot_data_platform.core.recording import AnyPicture, Int64Array
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.ros.decoders import DECODE_ERRORS, TypeSource, decoder_of
from robot_data_platform.formats.ros.faults import Faults
from robot_data_platform.formats.ros.fields import frame_id_of
from robot_data_platform.formats.ros.messages import Channel
from robot_data_platform.formats.ros.picture_messages import (
    DEPTH_KINDS,
    PictureFaultError,
    kind_of,
    payload,
    picture_of,
)
from robot_data_platform.formats.ros.recording_files import RecordingFiles
from robot_data_platform.formats.ros.topic_types import Role


class PictureTopic:
    """Which of a topic's messages hold a whole picture.

    Parameters
    ----------
    role : Role
        One of the roles of cameras.
    """

    def __init__(self, role: Role) -> None:
        self._role = role
        self.index: list[int] = []
        """Numbers of the messages with a whole picture."""
        self.kinds: Counter[str] = Counter()
        """What the pictures are, as ``kind_of`` says."""
        self.faults = Faults()
        """The other messages."""
        self.frame_id = ""
        """The camera's optical frame, as the first message names it."""
        self._num_messages = 0

    def add(self, message: object) -> None:
        """Look at the next message.

        Raises
        ------
        NotACameraError
            Its encoding is none that becomes video.
        """
        self.frame_id = self.frame_id or frame_id_of(message)
        try:
            kind = self._kind(message)
        except PictureFaultError as err:
            self.faults.add(f"message {self._num_messages} has {err}")
        else:
            self.kinds[kind] += 1
            self.index.append(self._num_messages)
        self._num_messages += 1

    @property
    def is_depth(self) -> bool:
        """Whether its pictures are depth maps."""
        return bool(DEPTH_KINDS & self.kinds.keys())

    def _kind(self, message: object) -> str:
        kind = kind_of(message, self._role)
        if self.kinds and self.is_depth != (kind in DEPTH_KINDS):
            raise PictureFaultError("a depth map among pictures, or a picture among depth maps")
        return kind


@dataclass(frozen=True, slots=True, kw_only=True)
class PicturePlaces:
    """The pictures of one topic, to be read from its recording at any time."""

    files: RecordingFiles
    channel: Channel
    types: TypeSource
    role: Role
    places: Int64Array
    """(F, 4) int64, in the order of the pictures."""
    channel_order: str | None
    """``bgr`` says that blue comes first where the encoding does not say."""

    def read(self) -> Iterator[AnyPicture]:
        """Yield the pictures one at a time: (H, W, 3) uint8 RGB, or (H, W) uint16 of depth.

        Raises
        ------
        DataFaultError
            ``unreadable-file``: a picture is damaged, or the file has changed.
        """
        for number, message in enumerate(self._messages()):
            where = f"Picture {number} of {self.label}"
            yield picture_of(message, self.role, where, self.channel_order)

    def frames(self) -> Iterator[bytes]:
        """Yield the coded frames of a video stream."""
        return map(payload, self._messages())

    @property
    def label(self) -> str:
        """How errors name the topic."""
        return f"topic {self.channel.topic!r} of {self.files.source.label!r}"

    def _messages(self) -> Iterator[object]:
        decode = decoder_of(self.channel, self.types).decode
        for number, data in enumerate(self.files.fetch(self.places)):
            try:
                message = decode(data)
                kind_of(message, self.role)
            except DECODE_ERRORS as err:
                raise self._damaged(number, err) from err
            yield message

    def _damaged(self, number: int, err: Exception) -> DataFaultError:
        return DataFaultError(
            f"Picture {number} of {self.label} can't be read again: got {err}, expected the "
            "message that was there before. Leave the files alone while they are ingested.",
            kind=ErrorKind.UNREADABLE_FILE,
            topic=self.channel.topic,
        )
