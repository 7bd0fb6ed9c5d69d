"""Message types of ROS from their definitions, and the messages of them.

``rosbags`` makes Python code of a definition and runs it. Definitions come from files that anybody
may have written, so every name is checked before, and sizes are bounded.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from rosbags.interfaces import Nodetype
from rosbags.serde import SerdeError
from rosbags.typesys import (
    Stores,
    TypesysError,
    get_types_from_idl,
    get_types_from_msg,
    get_typestore,
)
from rosbags.typesys.msg import normalize_msgtype

if TYPE_CHECKING:
    from rosbags.interfaces.typing import FieldDesc, Typesdict
    from rosbags.typesys.store import Typestore

MAX_UNROLLED = 1 << 10
"""Most texts or messages in an array of fixed size: code is made for each."""
MAX_NUMBERS = 1 << 28
"""Most numbers in an array of fixed size."""
MAX_DEFINITION_BYTES = 1 << 20
DEFAULT_DISTRO = "humble"
"""ROS 2 distribution whose standard types are taken where a bag names none."""
_TYPE = re.compile(r"[A-Za-z][A-Za-z0-9_]*(/[A-Za-z][A-Za-z0-9_]*)+")
_FIELD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_SEPARATOR = re.compile(r"^={3,}[ \t]*$", re.MULTILINE)
_IDL_HEADER = re.compile(r"^={80}\nIDL: \S+\n", re.MULTILINE)
_PARSE_ERRORS = (TypesysError, ValueError, KeyError, IndexError, AssertionError, RecursionError)
"""What the parsers raise on texts that are no definition."""
_BUILD_ERRORS = (*_PARSE_ERRORS, SyntaxError, NameError, TypeError)
"""What making code of odd but harmless names raises besides."""
DECODE_ERRORS = (
    SerdeError,
    struct.error,
    ValueError,
    KeyError,
    IndexError,
    TypeError,
    OverflowError,
    RecursionError,
)
"""What decoding damaged bytes raises."""


class DefinitionError(ValueError):
    """Why a message definition can't be used."""


Decode = Callable[[bytes], object]


class RosType:
    """One message type, ready to decode.

    Parameters
    ----------
    store : Typestore
        Holds the type and those that it is made of.
    name : str
        Its name in the store.
    is_cdr : bool
        Whether messages are CDR (ROS 2), or else ROS 1's own format.
    """

    def __init__(self, store: Typestore, name: str, *, is_cdr: bool) -> None:
        self._store = store
        self._type = store.get_msgdef(name)
        self._is_cdr = is_cdr
        self.num_long = 0
        """Messages decoded so far that go on after the end of their type."""

    def decode(self, data: bytes) -> object:
        """Return a message; bytes after its end are counted in ``num_long``.

        Raises
        ------
        SerdeError, ValueError, struct.error and others of ``DECODE_ERRORS``
            It does not fit the type.
        """
        if self._is_cdr:
            if len(data) < 4 or data[:2] not in (b"\0\0", b"\0\1"):
                raise ValueError(f"CDR header {data[:4].hex(' ')!r} is not known")
            is_little = data[1] == 1
            read = self._type.deserialize_cdr_le if is_little else self._type.deserialize_cdr_be
            message, end = read(memoryview(data)[4:], 0, self._type.cls, self._store)
            self.num_long += end + 4 + 3 < len(data)  # CDR pads to multiples of 4
            return message
        message, end = self._type.deserialize_ros1(data, 0, self._type.cls, self._store)
        self.num_long += end < len(data)
        return message


def recorded_type(name: str, encoding: str, definition: bytes, *, is_cdr: bool) -> RosType:
    """Return the type that a file defines itself.

    Raises
    ------
    DefinitionError
        The definition can't be read, or lacks a type.
    """
    if len(definition) > MAX_DEFINITION_BYTES:
        raise DefinitionError(f"it has {len(definition)} bytes, more than {MAX_DEFINITION_BYTES}")
    store = _recorded_store(name, encoding, definition)
    return _ros_type(store, normalize_msgtype(name), is_cdr=is_cdr)


def known_type(
    name: str, distro: str | None, definitions: Mapping[str, str], *, is_cdr: bool
) -> RosType:
    """Return a type of the profile's definitions, or a standard one of a ROS distribution.

    Raises
    ------
    DefinitionError
        It is neither, or a definition can't be read.
    """
    store = _known_store(store_of(distro), tuple(sorted(definitions.items())))
    return _ros_type(store, normalize_msgtype(name), is_cdr=is_cdr)


def store_of(distro: str | None) -> Stores:
    """Return the standard types of a ROS 2 distribution; of ``DEFAULT_DISTRO`` if not known."""
    known = {store.value: store for store in Stores}
    return known.get(f"ros2_{distro}", known[f"ros2_{DEFAULT_DISTRO}"])


def _ros_type(store: Typestore, name: str, *, is_cdr: bool) -> RosType:
    if name not in store.fielddefs:
        raise DefinitionError(f"type {name!r} is not defined")
    try:
        return RosType(store, name, is_cdr=is_cdr)
    except _BUILD_ERRORS as err:
        raise DefinitionError(f"type {name!r} lacks a type that it is made of ({err})") from err


@lru_cache(maxsize=256)
def _recorded_store(name: str, encoding: str, definition: bytes) -> Typestore:
    store = get_typestore(Stores.EMPTY)
    try:
        text = definition.decode().replace("\r\n", "\n")
        _register(store, _from_idl(text) if encoding == "ros2idl" else _from_msg(text, name))
    except _BUILD_ERRORS as err:
        raise DefinitionError(f"it can't be read ({_one_line(err)})") from err
    return store


@lru_cache(maxsize=8)
def _known_store(base: Stores, definitions: tuple[tuple[str, str], ...]) -> Typestore:
    store = get_typestore(base)
    for name, text in definitions:
        try:
            _register(store, _from_msg(text.replace("\r\n", "\n"), name))
        except _BUILD_ERRORS as err:
            what = f"`message_definitions` of {name!r} can't be read ({_one_line(err)})"
            raise DefinitionError(what) from err
    return store


def _from_msg(text: str, name: str) -> Typesdict:
    return get_types_from_msg(_SEPARATOR.sub("=" * 80, text), name)


def _from_idl(text: str) -> Typesdict:
    types: Typesdict = {}
    for part in _IDL_HEADER.split(text):
        types.update(get_types_from_idl(part) if part.strip() else {})
    return types


def _register(store: Typestore, types: Typesdict) -> None:
    for name, (constants, members) in types.items():
        _check(_TYPE, name)
        for constant, _, value in constants:
            _check(_FIELD, constant)
            if not isinstance(value, bool | int | float | str):
                raise DefinitionError(f"constant {constant!r} is no plain value")
        for field, kind in members:
            _check(_FIELD, field)
            _check_kind(kind)
    store.register(types)


def _check(pattern: re.Pattern[str], name: str) -> None:
    if not pattern.fullmatch(name):
        raise DefinitionError(f"{name!r:.80} is no name")


def _check_kind(kind: FieldDesc) -> None:
    if kind[0] == Nodetype.NAME:
        _check(_TYPE, str(kind[1]))
    elif kind[0] in (Nodetype.ARRAY, Nodetype.SEQUENCE):
        element, size = kind[1]
        _check_kind(element)
        is_unrolled = element[0] == Nodetype.NAME or element[1][0] == "string"
        most = MAX_UNROLLED if is_unrolled else MAX_NUMBERS
        if kind[0] == Nodetype.ARRAY and not 0 < int(str(size)) <= most:
            raise DefinitionError(f"an array of {size} is none of 1 to {most}")


def _one_line(err: BaseException) -> str:
    return " ".join(f"{type(err).__name__}: {err}".split())[:200]
