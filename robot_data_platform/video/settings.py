"""How camera streams are cut into GOPs: typed settings with their defaults and limits."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

from robot_data_platform.errors import ErrorKind, InvalidInputError

GopProfile = Literal["auto", "copy", "anchored", "chain"]
"""``copy``: the source's packets, not decoded. ``anchored``: re-encoded with bounded decode depth.
``chain``: re-encoded, each picture refers to the one before it. ``auto``: ``copy`` where it is
possible, else ``anchored``."""

PROFILES = ("auto", "copy", "anchored", "chain")
PRESETS = (
    "ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow", "slower", "veryslow",
)  # fmt: skip
"""libx264's presets, fastest first."""

MAX_GOP_SIZE = 128
"""Frames; a longer GOP costs more to read than it saves in bytes."""
MAX_ANCHOR_DISTANCE = 17
"""Frames; libx264 puts at most 16 B-frames in a row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GopSettings:
    """Settings of one ingestion; plain values, so that they can be part of a fingerprint."""

    profile: GopProfile = "auto"
    """Which profile to cut with. Default ``auto``."""
    gop_size: int = 8
    """Frames of a re-encoded GOP, 1 to 128. Default 8: longer ones save few bytes, and a random
    frame fetches and decodes more of them."""
    anchor_distance: int = 4
    """``anchored``: most frames from one reference picture to the next, 1 to 17. Default 4; less
    decodes more per random frame, more costs bytes where the picture moves."""
    crf: int = 20
    """libx264's constant rate factor, 1 (best) to 51. Default 20: about 40 dB on robot cameras."""
    preset: str = "veryfast"
    """libx264's preset. Default ``veryfast``; slower ones save some bytes for several times the
    time, and change nothing for the reader."""
    tune_fastdecode: bool = True
    """``anchored``: code without arithmetic coding and deblocking, which are half of a decoder's
    work, for some more bytes. Default True. ``chain`` never does."""
    copy_budget_frames: int = 16
    """``copy``: longest closed GOP that is copied, and most frames in one blob, 1 to 128.
    Default 16."""

    def __post_init__(self) -> None:
        """Refuse values that the encoder or the reader can't work with."""
        _check_choice("profile", self.profile, PROFILES)
        _check_choice("preset", self.preset, PRESETS)
        _check_range("gop_size", self.gop_size, 1, MAX_GOP_SIZE)
        _check_range("anchor_distance", self.anchor_distance, 1, MAX_ANCHOR_DISTANCE)
        _check_range("crf", self.crf, 1, 51)
        _check_range("copy_budget_frames", self.copy_budget_frames, 1, MAX_GOP_SIZE)

    @property
    def num_b_frames(self) -> int:
        """B-frames in a row in the ``anchored`` profile; the last frame of a GOP is never one."""
        return max(0, min(self.gop_size - 2, self.anchor_distance - 1))

    def as_dict(self) -> dict[str, str | int | bool]:
        """Return the settings as plain values, by field name."""
        return asdict(self)


def _check_choice(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise InvalidInputError(
            f"GOP setting {name!r} is unknown: got {value!r}, expected one of "
            f"{', '.join(allowed)}. Correct the setting.",
            kind=ErrorKind.INVALID_ARGUMENT,
            name=name,
            value=str(value),
        )


def _check_range(name: str, value: object, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InvalidInputError(
            f"GOP setting {name!r} is out of range: got {value!r}, expected an integer from {low} "
            f"to {high}. Correct the setting.",
            kind=ErrorKind.INVALID_ARGUMENT,
            name=name,
            value=str(value),
        )
