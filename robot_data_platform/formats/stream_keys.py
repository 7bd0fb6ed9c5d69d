"""Profile keys of recorded streams: what becomes of a topic, and on which clock."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from robot_data_platform.formats.names import RESERVED_COLUMNS
from robot_data_platform.formats.profile_keys import CameraName, Name, Stated

MAX_OFFSET_NS = 1 << 61
"""Largest time offset, 73 years: sums of it and a time stay within int64."""


class Clock(StrEnum):
    """Which of a message's times counts."""

    HEADER = "header"
    """When the sensor took it, as the message itself says (``header.stamp``, ``timestamp``)."""
    PUBLISH = "publish"
    """When it was sent."""
    LOG = "log"
    """When the recorder got it."""


def _not_reserved(name: str) -> str:
    if name in RESERVED_COLUMNS:
        raise ValueError(f"{name!r} is another column of `frames`; expected another name")
    return name


SignalName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$"), AfterValidator(_not_reserved)]
Offset = Annotated[int, Field(strict=True, ge=-MAX_OFFSET_NS, le=MAX_OFFSET_NS)]
TypeName = Annotated[
    str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*(/(msg|action))?/[A-Za-z][A-Za-z0-9_]*$")
]


class Stream(Stated):
    """One topic or table, keyed by its name in the source."""

    signal: SignalName | None = Field(default=None, description="Signal that it becomes.")
    camera: CameraName | None = Field(default=None, description="Camera that it becomes.")
    skip: bool = Field(default=False, strict=True, description="Whether it is left out.")
    clock: Clock | None = Field(default=None, description="Which times count.")
    time_offset_ns: Offset = Field(default=0, description="Added to each of its times.")

    @model_validator(mode="after")
    def _becomes_one_thing(self) -> Self:
        if sum((self.signal is not None, self.camera is not None, self.skip)) > 1:
            raise ValueError("a stream is a signal, a camera or skipped, not several of these")
        return self


def _one_stream_per_name(streams: Mapping[str, Stream]) -> Mapping[str, Stream]:
    for role in ("signal", "camera"):
        names = [getattr(stream, role) for stream in streams.values()]
        twice = sorted({name for name in names if name is not None and names.count(name) > 1})
        if twice:
            raise ValueError(f"several streams become the {role} {twice[0]!r}; expected one")
    return streams


Streams = Annotated[Mapping[str, Stream], AfterValidator(_one_stream_per_name)]
"""By topic or table."""
MessageDefinitions = Mapping[TypeName, Name]
"""Text of a ``.msg`` file by the type's name."""
