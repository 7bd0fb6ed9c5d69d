"""The profile: what the data does not say of itself, stated by a person in YAML."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from pydantic import Field, ValidationError, model_validator

from robot_data_platform.core.source import Source
from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.formats.camera_keys import Camera, ChannelOrder
from robot_data_platform.formats.joint_keys import Gripper, Joints
from robot_data_platform.formats.profile_keys import Name, Rate, Stated, key_path
from robot_data_platform.formats.rawlog_keys import Rawlog
from robot_data_platform.formats.stream_keys import MessageDefinitions, Streams
from robot_data_platform.formats.yaml_lines import YamlError, line_of, load_yaml

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

PROFILE_FILE = "profile.yaml"
"""Name of the profile that a source carries in its root."""
MAX_PROFILE_BYTES = 1 << 20
"""Larger texts are refused unread; a written profile has a few kilobytes."""


class Profile(Stated):
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
    picture_channel_order: ChannelOrder | None = Field(
        default=None, description="Channel order of pictures that are not a video."
    )
    quaternion_order: Literal["wxyz", "xyzw"] | None = Field(
        default=None, description="Order of quaternions in the signals."
    )
    cameras: Mapping[str, Camera] = Field(
        default_factory=dict, description="Cameras that every episode should have, by name."
    )
    streams: Streams = Field(
        default_factory=dict, description="What becomes of recorded topics, by topic."
    )
    message_definitions: MessageDefinitions = Field(
        default_factory=dict, description="Text of `.msg` files that the data lacks, by type."
    )
    rawlog: Rawlog | None = Field(
        default=None, description="Where a raw log of another layout has its files."
    )
    allow_pickle: bool = Field(
        default=False, strict=True, description="Permits to read Python pickles; see `pickle`."
    )

    @model_validator(mode="after")
    def _one_camera_per_name(self) -> Self:
        names = [camera.rename or name for name, camera in self.cameras.items()]
        if len(set(names)) < len(names):
            raise ValueError(f"cameras {sorted(self.cameras)} get the names {sorted(names)}")
        return self

    @property
    def described_format(self) -> str | None:
        """Name of the format whose layout the profile describes; None = it describes none."""
        return "rawlog" if self.rawlog else None

    def channel_order(self, camera: str) -> ChannelOrder | None:
        """Return the stated order of a camera's pictures that are not a video, by its name."""
        stated = self.cameras.get(camera)
        return (stated and stated.channel_order) or self.picture_channel_order

    def digest(self) -> str:
        """Return the sha256 of what is stated: equal statements, equal digest."""
        stated = self.model_dump(mode="json", exclude_defaults=True)
        if self.joints.order is not None:
            stated["joints"]["order"] = list(self.joints.order.items())  # its order says something
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
        line = line_of(key_path(first["loc"]), line_by_key)
        raise _invalid(label, line, _error_text(first)) from err


def find_profile(source: Source, override: Profile | None = None) -> Profile:
    """Return ``override``, else the source's own ``profile.yaml``, else an empty profile.

    Raises
    ------
    InvalidInputError
        ``invalid-profile``: the source's profile is broken, or permits its own pickles.
    """
    if override is not None:
        return override
    if PROFILE_FILE not in source.list_files():
        return Profile()
    own = load_profile(source.local_path(PROFILE_FILE))
    if own.allow_pickle:
        label, what = f"{PROFILE_FILE} of {source.label}", "a source can't permit its own pickles"
        raise _invalid(label, 1, f"{what}: who reads it does, with `--allow-pickle`")
    return own


def _text(profile: Path | str) -> str:
    if isinstance(profile, Path):
        if profile.stat().st_size > MAX_PROFILE_BYTES:
            raise YamlError(f"more than {MAX_PROFILE_BYTES} bytes", 1)
        return profile.read_text(encoding="utf-8-sig")
    return profile


def _error_text(error: ErrorDetails) -> str:
    key = ".".join(str(part) for part in key_path(error["loc"]))
    if error["type"] == "extra_forbidden":
        return f"key {key!r} is not known"
    what = error["msg"].removeprefix("Value error, ").removesuffix(".")
    return f"key {key!r}: {what}, got {error['input']!r:.80}"


def _invalid(label: str, line: int, what: str) -> InvalidInputError:
    return InvalidInputError(
        f"Profile {label!r} line {line} is wrong: {what}. Correct it; docs/formats.md lists the "
        "keys.",
        kind=ErrorKind.INVALID_PROFILE,
        line=line,
    )
