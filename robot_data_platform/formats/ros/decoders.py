"""From the bytes of a channel's messages to fields, by encoding."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from google.protobuf.message import DecodeError
from mcap.exceptions import McapError
from mcap.records import Schema
from mcap_protobuf.decoder import DecoderFactory

from robot_data_platform.formats.ros import ros_types
from robot_data_platform.formats.ros.messages import Channel
from robot_data_platform.formats.ros.ros_types import Decode, DefinitionError, RosType

ROS_ENCODINGS = ("cdr", "ros1")
ENCODINGS = (*ROS_ENCODINGS, "protobuf", "json")
"""Encodings of messages that are read."""
DECODE_ERRORS = (*ros_types.DECODE_ERRORS, DecodeError)
"""What decoding damaged bytes raises."""
_SCHEMA_ID = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeSource:
    """Where definitions come from that a file lacks."""

    ros_distro: str | None
    """ROS 2 distribution that recorded; its standard types are known."""
    definitions: Mapping[str, str]
    """Text of a ``.msg`` file by type, from the profile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoder:
    """How the messages of one channel are read."""

    decode: Decode
    is_defined: bool
    """Whether the file defines the type itself."""
    ros_type: RosType | None = None
    """Where messages are ROS'."""


def decoder_of(channel: Channel, types: TypeSource) -> Decoder:
    """Return how a channel's messages are decoded.

    Raises
    ------
    DefinitionError
        Its encoding is not known, or its type isn't.
    """
    match channel.encoding:
        case "cdr" | "ros1":
            return _ros_decoder(channel, types)
        case "json":
            return Decoder(decode=_decode_json, is_defined=True)
        case "protobuf" if channel.definition_encoding == "protobuf":
            return Decoder(decode=_protobuf_decode(channel), is_defined=True)
        case "protobuf":
            raise DefinitionError("the file has no protobuf descriptor of its type")
        case encoding:
            raise DefinitionError(f"its encoding {encoding!r} is none of {', '.join(ENCODINGS)}")


def _ros_decoder(channel: Channel, types: TypeSource) -> Decoder:
    is_cdr = channel.encoding == "cdr"
    is_defined = bool(channel.definition.strip())
    if is_defined:
        encoding, definition = channel.definition_encoding, channel.definition
        found = ros_types.recorded_type(channel.type_name, encoding, definition, is_cdr=is_cdr)
    else:
        found = ros_types.known_type(
            channel.type_name, types.ros_distro, types.definitions, is_cdr=is_cdr
        )
    return Decoder(decode=found.decode, is_defined=is_defined, ros_type=found)


def _decode_json(data: bytes) -> object:
    message = json.loads(data)
    if not isinstance(message, dict):
        raise ValueError(f"a JSON {type(message).__name__}, not an object")  # noqa: TRY004
    return message


def _protobuf_decode(channel: Channel) -> Decode:
    schema = Schema(
        id=_SCHEMA_ID,
        name=channel.type_name,
        encoding=channel.definition_encoding,
        data=channel.definition,
    )
    try:
        decode = DecoderFactory().decoder_for(channel.encoding, schema)
    except (McapError, DecodeError, TypeError, ValueError, KeyError, RecursionError) as err:
        raise DefinitionError(f"its protobuf descriptor can't be read ({err})") from err
    return cast("Callable[[bytes], object]", decode)
