"""Streams that have everything but their times, which are chosen for all of them together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from robot_data_platform.core.recording import CameraStream, Signal
from robot_data_platform.formats.ros.clocks import ChosenTimes, MessageTimes

S = TypeVar("S", Signal, CameraStream)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft(Generic[S]):
    """A signal or a camera to be."""

    name: str
    times: MessageTimes
    """Of the messages that it is made of."""
    build: Callable[[ChosenTimes], S]
    """Makes it, once its times are chosen."""
