"""What a reader was asked for: small, picklable, and all that another process needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from robot_data_platform.errors import ErrorKind, InvalidInputError

Output = Literal["numpy", "torch"]
PictureDtype = Literal["uint8", "float32"]
OnError = Literal["raise", "skip"]

DEFAULT_RAM_BYTES = 1 << 30
"""Memory for columns that are not pictures; see ``ram_budget_bytes``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSpec:
    """The arguments of a `RobotLanceDataset`, with every default resolved."""

    lake_root: str
    dataset: str
    release: str | None
    version: int | None
    split: str | None
    episodes: tuple[str | int, ...] | None
    filter: str | None
    delta_timestamps_s: Mapping[str, tuple[float, ...]]
    tolerance_s: float
    cameras: tuple[str, ...] | None
    columns: tuple[str, ...] | None
    image_size: tuple[int, ...] | None
    """Height and width."""
    rendition: str | None
    output: Output
    picture_dtype: PictureDtype
    channels_first: bool
    on_error: OnError
    ram_budget_bytes: int
    gop_cache_bytes: int | None
    zero_copy: bool

    def check(self) -> None:
        """Refuse arguments that contradict each other or name no choice.

        Raises
        ------
        InvalidInputError
            ``invalid-argument``.
        """
        _check_choice("output", self.output, ("numpy", "torch"))
        _check_choice("picture_dtype", self.picture_dtype, ("uint8", "float32"))
        _check_choice("on_error", self.on_error, ("raise", "skip"))
        _check_size(self.image_size)
        for name in ("ram_budget_bytes", "gop_cache_bytes"):
            if (getattr(self, name) or 0) < 0:
                raise _contradiction(f"{name}={getattr(self, name)} is negative: expected bytes.")
        if self.release is not None and self.version is not None:
            raise _contradiction(
                f"release={self.release!r} and version={self.version} are both given: expected "
                "one. A release pins the version."
            )
        if self.split is not None and self.release is None:
            raise _contradiction(
                f"split={self.split!r} is given without a release: expected release=..., whose "
                "split it is."
            )


def _check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise _contradiction(f"{name}={value!r} is unknown: expected one of {choices}.")


MAX_SIDE_PX = 16_384
"""Pixels; swscale's own limit."""


def _check_size(size: tuple[int, ...] | None) -> None:
    if size is None:
        return
    if len(size) != 2 or not all(1 <= side <= MAX_SIDE_PX for side in size):
        raise _contradiction(
            f"image_size={size} is no size: expected (height, width), each of 1 to {MAX_SIDE_PX} "
            "pixels."
        )


def _contradiction(message: str) -> InvalidInputError:
    return InvalidInputError(message, kind=ErrorKind.INVALID_ARGUMENT)
