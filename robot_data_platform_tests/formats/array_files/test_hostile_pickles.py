"""Pickles that are programs: nothing of them runs, and none takes more than it has."""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.array_files.unpickler import ALLOWED, unpickled
from robot_data_platform.formats.profile import Profile
from robot_data_platform_tests.formats.pickle_files import PROTOCOLS, episode, write_pickle
from robot_data_platform_tests.formats.reading import refusal

PROFILE = Profile(control_hz=10.0, allow_pickle=True)
MAX_MIB = 64


class Command:
    """Runs a shell command as soon as it is unpickled."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> tuple[object, ...]:
        return os.system, (self.command,)


class Evaluated:
    """Evaluates an expression as soon as it is unpickled."""

    def __reduce__(self) -> tuple[object, ...]:
        return eval, ("__import__('os').getcwd()",)


def refused(data: bytes) -> DataFaultError:
    """Return the error, after checking that little memory was taken."""
    tracemalloc.start()
    try:
        with pytest.raises(DataFaultError) as caught:
            unpickled(data, "File 'x.pkl'")
        assert tracemalloc.get_traced_memory()[1] < MAX_MIB << 20
    finally:
        tracemalloc.stop()
    return caught.value


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("place", ["alone", "nested", "in an array"])
def test_a_command_is_refused_by_name_and_does_not_run(
    tmp_path: Path, protocol: int, place: str
) -> None:
    trace = tmp_path / "ran"
    command = Command(f"touch {trace}")
    values = {
        "alone": command,
        "nested": [episode() | {"infos": [{"deep": (command,)}]}],
        "in an array": {"actions": np.array([command], dtype=object)},
    }
    write_pickle(tmp_path / "data" / "demo.pkl", values[place], protocol)
    error = refusal(tmp_path / "data", "demo.pkl", PROFILE)
    assert error.kind is ErrorKind.UNREADABLE_FILE
    assert "it names 'posix.system'" in str(error)
    assert not trace.exists()


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (Evaluated(), "builtins.eval"),
        (os.path.join, "posixpath.join"),
        (np.random.default_rng, "numpy.random._generator.default_rng"),
        (np.load, "numpy.load"),
        (np.ma.MaskedArray([1]), "numpy.ma._mareconstruct"),
        ({"path": Path("/etc")}, "pathlib.PosixPath"),
        (1 + 2j, "builtins.complex"),
    ],
)
def test_whatever_else_a_pickle_names_is_refused_by_name(value: object, named: str) -> None:
    module, _, name = named.rpartition(".")
    text = str(refused(pickle.dumps(value, protocol=4)))
    assert module.split(".")[0] in text
    assert name in text


def test_a_name_below_an_allowed_one_is_refused() -> None:
    inner = b"\x80\x04\x8c\x05numpy\x8c\x10ndarray.__init__\x93."
    assert "numpy.ndarray.__init__" in str(refused(inner))


@pytest.mark.parametrize(("module", "name"), sorted(ALLOWED))
@pytest.mark.parametrize(
    "state",
    [
        b"N}\x8c\x08__call__\x8c\x01xs\x86b",  # attributes in a dict of slots
        b"}\x8c\x04made\x8c\x01xsb",
        b"N}\x8c\x04made\x8c\x01xs\x86b",
    ],
)
def test_nothing_that_is_named_can_be_changed(module: str, name: str, state: bytes) -> None:
    texts = [struct.pack("<BB", 0x8C, len(t)) + t.encode() for t in (module, name)]
    refused(b"\x80\x04" + texts[0] + texts[1] + b"\x93" + state + b".")
    whole = unpickled(pickle.dumps(np.arange(3.0), 4), "x")
    np.testing.assert_array_equal(whole.load("x"), [0, 1, 2])  # type: ignore[attr-defined]


def array_of(shape: bytes, content: bytes, kind: bytes = b"f8") -> bytes:
    """Return the pickle of an array that claims a shape."""
    made = b"\x80\x02cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R"
    typed = b"cnumpy\ndtype\nU" + bytes([len(kind)]) + kind + b"K\x00K\x01\x87R"
    typed += b"(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    return made + b"(K\x01" + shape + typed + b"\x89" + content + b"tb."


HUGE = b"\x8a\x06\x00\x00\x00\x00\x00\x01\x85"
"""The shape (2**40,)."""
NOTHING = b"U\x00"
EMPTY_LIST = b"]"


@pytest.mark.parametrize(
    "data",
    [
        array_of(HUGE, NOTHING),
        array_of(HUGE, NOTHING, b"S0"),
        array_of(HUGE, EMPTY_LIST, b"O8"),
        array_of(b"J\xff\xff\xff\xff\x85", NOTHING),
        array_of(b"K\x05\x85", EMPTY_LIST, b"O8"),
        array_of(b"K\x05\x85", b"U\x04abcd"),
    ],
)
def test_an_array_that_is_not_what_it_claims_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "demo.pkl").write_bytes(b"\x80\x02}U\x07actions" + data[2:-1] + b"s.")
    tracemalloc.start()
    error = refusal(tmp_path, "demo.pkl", PROFILE)
    assert tracemalloc.get_traced_memory()[1] < MAX_MIB << 20
    tracemalloc.stop()
    assert error.kind in (ErrorKind.SHAPE_MISMATCH, ErrorKind.UNREADABLE_FILE, ErrorKind.NO_ROWS)


def test_an_array_made_of_a_shape_at_once_is_refused() -> None:
    made = b"\x80\x02cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\n"
    assert "no plain one" in str(refused(made + HUGE + b"U\x01b\x87R."))


@pytest.mark.parametrize(
    "data",
    [
        b"\x80\x02r\xff\xff\xff\x7fN.",  # a memo entry far beyond the end
        b"\x80\x04]r\xff\xff\xff\x0f.",
        b"p4000000000\nN.",
        b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x0f.",  # bytes without end
        b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\x0f.",
        b"\x80\x04X\xff\xff\xff\x7f.",
        b"\x80\x02\x8b\xff\xff\xff\x7f.",  # an integer of two gigabytes
        b"\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\x0fN.",  # a frame
        b"\x80\x05\x97.",  # a buffer from elsewhere
        b"\x80\x02\x82\x01.",  # an extension code
        b"Pid\n.",  # a persistent id
        b"\x80\x09N.",
        b"N",
        b".",
        b"",
        b"\x80\x04N0N0.",
    ],
)
def test_claims_of_a_program_take_no_memory(data: bytes) -> None:
    assert refused(data).kind is ErrorKind.UNREADABLE_FILE


def test_a_deep_nest_of_tuples_ends() -> None:
    with contextlib.suppress(DataFaultError):
        unpickled(b"\x80\x02)" + b"\x85" * 5000 + b".", "x")


def test_keys_that_never_end_hashing_are_refused() -> None:
    doubled = b"\x80\x04)q\x00" + b"".join(
        b"h" + bytes([k]) + b"h" + bytes([k]) + b"\x86q" + bytes([k + 1]) for k in range(100)
    )
    assert "a key that is no text" in str(refused(doubled + b"}h\x64Ns."))
    assert "EMPTY_SET" in str(refused(doubled + b"\x8f(h\x64\x90."))
    assert "FROZENSET" in str(refused(doubled + b"(h\x64\x91."))


def test_numbers_made_to_collide_as_keys_are_refused() -> None:
    assert "a key that is no text" in str(
        refused(pickle.dumps({k * (2**61 - 1): 0 for k in (1, 2)}))
    )


def test_a_tree_that_doubles_at_each_level_ends(tmp_path: Path) -> None:
    value: object = {}
    for _ in range(100):
        value = {f"k{number}": value for number in range(30)}
    write_pickle(tmp_path / "demo.pkl", {"actions": np.zeros((3, 2)), "infos": value})
    error = refusal(tmp_path, "demo.pkl", PROFILE)
    assert (error.kind, "too large a tree" in str(error)) == (ErrorKind.UNREADABLE_FILE, True)


def test_a_value_that_holds_itself_ends(tmp_path: Path) -> None:
    loop: list[object] = []
    loop.append(loop)
    folder: dict[str, object] = {"actions": np.zeros((3, 2))}
    folder["self"] = folder
    folder["list"] = loop
    write_pickle(tmp_path / "demo.pkl", folder)
    error = refusal(tmp_path, "demo.pkl", PROFILE)
    assert error.kind is ErrorKind.UNREADABLE_FILE


@pytest.mark.parametrize("seed", range(50))
def test_random_damage_ends_in_a_typed_error_or_a_value(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = bytearray(pickle.dumps([episode()], protocol=seed % 6))
    for _ in range(int(rng.integers(1, 4))):
        data[int(rng.integers(len(data)))] = int(rng.integers(256))
    cut = bytes(data[: int(rng.integers(1, len(data)))] if seed % 3 == 0 else data)
    with contextlib.suppress(DataFaultError):
        unpickled(cut, "x")


def test_the_unpickler_reads_what_pickle_writes() -> None:
    value = {"a": [1, 2.5, None, True, "text", b"bytes", (1, 2)], "b": {"c": []}}
    for protocol in PROTOCOLS:
        buffer = io.BytesIO()
        pickle.dump(value, buffer, protocol=protocol)
        got = unpickled(buffer.getvalue(), "x")
        assert isinstance(got, dict)
        got["a"][5] = b"bytes"  # old protocols write bytes as text
        assert got == value
