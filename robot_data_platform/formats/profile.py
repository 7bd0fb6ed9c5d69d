"""The profile: what the data does not say of itself, stated by a person in YAML."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from robot_data_platform.core.source import Source
from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.formats.yaml_lines import YamlError, line_of, load_yaml

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

PROFILE_FILE = "profile.yaml"
"""Name of the profile that a source carries in its root."""
MAX_PROFILE_BYTES = 1 << 20
"""Larger texts are refused unread; a written profile has a few kilobytes."""

Rate = Annotated[float, Field(strict=True, gt=0, le=1_000_000, allow_inf_nan=False)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Name = Annotated[str, Field(min_length=1)]
CameraName = Annotated[str, Field(pattern=r"^[a-z0-9_]+$")]


class _Stated(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Joints(_Stated):
    """The dimensions of the state, and of an action of the same width."""

    unit: Literal["rad", "deg", "m", "percent", "ticks"] | None = Field(
        default=None, description="Unit of every dimension; null = not known."
    )
    names: tuple[Name, ...] | None = Field(
        default=None, description="Name of every dimension in order, where the data names none."
    )
    sign: tuple[Literal[-1, 1], ...] | None = Field(
        default=None, description="Per dimension: the model's joint = sign * value + offset."
    )
    offset: tuple[Number, ...] | None = Field(
        default=None, description="Per dimension, in `unit`; see `sign`."
    )

    @model_validator(mode="after")
    def _one_entry_per_dimension(self) -> Self:
        lists = (self.names, self.sign, self.offset)
        lengths = {len(entries) for entries in lists if entries is not None}
        if len(lengths) > 1:
            raise ValueError(f"names, sign and offset have {sorted(lengths)} entries, not as many")
        return self


class Gripper(_Stated):
    """How gripper values read."""

    convention: Literal["zero_is_open", "zero_is_closed"] | None = Field(
        default=None, description="What the smallest value means; null = not known."
    )


class Camera(_Stated):
    """One camera, keyed by the name it has in the source."""

    fps: Rate | None = Field(default=None, description="Nominal pictures per second.")
    rename: CameraName | None = Field(default=None, description="Name to store it under.")


class Profile(_Stated):
    """Everything stated of one source; what is left out is unknown."""

    version: Literal[1] = Field(default=1, description="Version of these keys.")
    robot: Name | None = Field(default=None, description="Robot model; wins over the data's.")
    description: str | None = Field(default=None, description="Free text for people.")
    task: Name | None = Field(default=None, description="Task text where the data has none.")
    control_hz: Rate | None = Field(
        default=None, description="Rows per second, for formats that record no clock."
    )
    joints: Joints = Field(default=Joints(), description="Dimensions of state and action.")
    gripper: Gripper = Field(default=Gripper(), description="Gripper values.")
    picture_channel_order: Literal["rgb", "bgr"] | None = Field(
        default=None, description="Channel order of pictures that are not a video."
    )
    quaternion_order: Literal["wxyz", "xyzw"] | None = Field(
        default=None, description="Order of quaternions in the signals."
    )
    cameras: Mapping[str, Camera] = Field(
        default_factory=dict, description="Cameras that every episode should have, by name."
    )

    @model_validator(mode="after")
    def _one_camera_per_name(self) -> Self:
        names = [camera.rename or name for name, camera in self.cameras.items()]
        if len(set(names)) < len(names):
            raise ValueError(f"cameras {sorted(self.cameras)} get the names {sorted(names)}")
        return self

    def digest(self) -> str:
        """Return the sha256 of what is stated: equal statements, equal digest."""
        stated = self.model_dump(mode="json", exclude_defaults=True)
        text = json.dumps(stated, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()


def load_profile(profile: Path | str) -> Profile:
    """Return the profile in a YAML file (``Path``) or in a YAML text (``str``).

    Raises
    ------
    InvalidInputError
        ``invalid-profile``: no such file, not YAML, an unknown key, or a value that a key can't
        take; the message names the line and the key.
    """
    label = str(profile) if isinstance(profile, Path) else "profile"
    try:
        value, line_by_key = load_yaml(_text(profile))
        return Profile.model_validate({} if value is None else value)
    except (OSError, UnicodeDecodeError) as err:
        raise _invalid(label, 1, f"it can't be read ({err})") from err
    except YamlError as err:
        raise _invalid(label, err.line, str(err)) from err
    except ValidationError as err:
        first = err.errors(include_url=False)[0]
        raise _invalid(label, line_of(first["loc"], line_by_key), _error_text(first)) from err


def find_profile(source: Source, override: Profile | None = None) -> Profile:
    """Return ``override``, else the source's own ``profile.yaml``, else an empty profile.

    Raises
    ------
    InvalidInputError
        ``invalid-profile``: the source's profile is broken.
    """
    if override is not None:
        return override
    if PROFILE_FILE in source.list_files():
        return load_profile(source.local_path(PROFILE_FILE))
    return Profile()


def _text(profile: Path | str) -> str:
    if isinstance(profile, Path):
        if profile.stat().st_size > MAX_PROFILE_BYTES:
            raise YamlError(f"more than {MAX_PROFILE_BYTES} bytes", 1)
        return profile.read_text(encoding="utf-8-sig")
    return profile


def _error_text(error: ErrorDetails) -> str:
    key = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        return f"key {key!r} is not known"
    return f"key {key!r}: {error['msg']}, got {error['input']!r:.80}"


def _invalid(label: str, line: int, what: str) -> InvalidInputError:
    return InvalidInputError(
        f"Profile {label!r} line {line} is wrong: {what}. Correct it; docs/formats.md lists the "
        "keys.",
        kind=ErrorKind.INVALID_PROFILE,
        line=line,
    )
