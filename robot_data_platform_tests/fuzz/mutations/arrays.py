"""Wrong types and absurd sizes in npz archives and pickles."""

from __future__ import annotations

import io
import pickle
import zipfile
from collections.abc import Callable
from random import Random

import numpy as np

from robot_data_platform_tests.fuzz.mutations import bombs
from robot_data_platform_tests.fuzz.mutations.tree import Change, Mutation, Promise, Tree


def npy(descr: str, shape: str, *, data: bytes = b"") -> bytes:
    """Return an npy file that claims a type and a shape."""
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"
    header = (text + " " * (118 - len(text) % 64) + "\n").encode()
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data


def _saved(values: object) -> bytes:
    sink = io.BytesIO()
    np.save(sink, values, allow_pickle=True)  # type: ignore[arg-type]
    return sink.getvalue()


MEMBERS: dict[str, Callable[[int], bytes]] = {
    "10^12 rows": lambda rows: npy("'<f8'", "(1000000000000, 2)"),
    "10^12 columns": lambda rows: npy("'<f8'", f"({rows}, 1000000000000)"),
    "a negative shape": lambda rows: npy("'<f8'", "(-1, 2)"),
    "a shape of text": lambda rows: npy("'<f8'", "('a', 2)"),
    "an unknown type": lambda rows: npy("'<q9'", f"({rows},)"),
    "a type of types": lambda rows: npy("[" * 50 + "]" * 50, f"({rows},)"),
    "a claim without content": lambda rows: npy("'<f8'", f"({rows}, 2)"),
    "objects": lambda rows: _saved(np.array([{"a": 1}] * rows, dtype=object)),
    "texts": lambda rows: _saved(np.array(["x"] * rows)),
    "one row less": lambda rows: _saved(np.zeros((rows - 1, 2))),
    "no rows": lambda rows: _saved(np.zeros((0, 2))),
    "no columns": lambda rows: _saved(np.zeros((rows, 0))),
    "a scalar": lambda rows: _saved(np.float64(1.0)),
    "complex numbers": lambda rows: _saved(np.zeros((rows, 2), np.complex128)),
    "records": lambda rows: _saved(np.zeros(rows, [("a", "f4")])),
    "times": lambda rows: _saved(np.zeros(rows, "M8[ns]")),
    "no npy file": lambda rows: b"text",
}


def wrong_array(tree: Tree) -> Change | None:
    """Put another array in the place of one of an archive's."""
    relative = tree.pick(".npz")
    if relative is None:
        return None
    path = tree.root / relative
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    name = tree.random.choice(sorted(content))
    rows = len(np.load(io.BytesIO(content[name])))
    kind = tree.random.choice(list(MEMBERS))
    content[name] = MEMBERS[kind](rows)
    with zipfile.ZipFile(path, "w") as archive:
        for member, data in content.items():
            archive.writestr(member, data)
    return Change(what=f"{relative}: {name} became {kind}", promise=_promise(kind))


def zip_bomb(tree: Tree) -> Change | None:
    """Put an archive that unpacks to more than memory in the place of one."""
    relative = tree.pick(".npz")
    if relative is None:
        return None
    rows = tree.random.choice([bombs.NUM_BYTES, 3])
    head = npy("'|u1'", f"({rows}, {bombs.NUM_BYTES // rows})")
    (tree.root / relative).write_bytes(bombs.zip_of("state.npy", head))
    return Change(what=f"{relative}: became a zip bomb of {rows} rows", promise=Promise.EQUAL)


def _loop() -> object:
    held: list[object] = []
    held.append(held)
    return held


def _deep() -> object:
    value: object = 1.0
    for _level in range(200):
        value = [value]
    return value


VALUES: dict[str, Callable[[Random], object]] = {
    "nothing": lambda random: None,
    "a text": lambda random: "x" * random.choice([1, 5000]),
    "half a letter": lambda random: "\ud800",
    "halves of letters": lambda random: {"\ud800": np.zeros((6, 1)), "a": ["\ud800"] * 6},
    "texts": lambda random: ["x"] * 6,
    "uneven lists": lambda random: [[0.0] * (k % 3) for k in range(6)],
    "a list of itself": lambda random: _loop(),
    "a deep list": lambda random: _deep(),
    "an absurd number": lambda random: 10**400,
    "an empty array": lambda random: np.zeros((0, 2)),
    "one row less": lambda random: np.zeros((5, 2)),
    "no columns": lambda random: np.zeros((6, 0)),
    "complex numbers": lambda random: np.zeros((6, 2), np.complex128),
    "objects": lambda random: np.array([{1}] * 6, dtype=object),
    "texts in an array": lambda random: np.array(["x"] * 6),
    "times": lambda random: np.zeros(6, "M8[ns]"),
    "a mapping": lambda random: {"a": {"b": np.zeros((6, 1))}},
    "a class": lambda random: Random,
    "an instance": lambda random: random,
    "a function": lambda random: print,
}


def wrong_value(tree: Tree) -> Change | None:
    """Put another value in the place of one of a demonstration's."""
    relative = tree.pick(".pkl")
    if relative is None:
        return None
    path = tree.root / relative
    demos = pickle.loads(path.read_bytes())
    number = tree.random.randrange(len(demos))
    key = tree.random.choice(sorted(demos[number]))
    kind = tree.random.choice(list(VALUES))
    demos[number][key] = VALUES[kind](tree.random)
    path.write_bytes(pickle.dumps(demos, tree.random.randrange(pickle.HIGHEST_PROTOCOL + 1)))
    return Change(what=f"{relative}: {number} {key} became {kind}", promise=_promise(kind))


def _promise(kind: str) -> Promise:
    """Return the promise for another value: some are as usual as what they replace."""
    usual = {
        "one row less": Promise.TYPED,  # an observation after the last action
        "a text": Promise.PARTLY,  # what is said of the episode
        "a scalar": Promise.PARTLY,
        "half a letter": Promise.PARTLY,
        "halves of letters": Promise.TYPED,
        "nothing": Promise.PARTLY,
        "a mapping": Promise.TYPED,  # of numbers by row
    }
    return usual.get(kind, Promise.EQUAL)


PROGRAMS = {
    "an absurd text": b"\x80\x04\x8d" + (10**12).to_bytes(8, "little") + b"x.",
    "an absurd frame": b"\x80\x04\x95" + (2**62).to_bytes(8, "little") + b"N.",
    "an absurd place": b"\x80\x04Nr" + (2**32 - 1).to_bytes(4, "little") + b".",
    "an absurd integer": b"\x80\x04\x8b" + (2**31 - 1).to_bytes(4, "little") + b"\x01.",
    "marks": b"\x80\x04" + b"(" * 1_000_000 + b".",
    "nested lists": b"\x80\x04" + b"]" * 100_000 + b"a" * 99_999 + b".",
    "a command": b"cos\nsystem\n(S'exit 1'\ntR.",
    "a doubled list": b"]q\x00" + b"(h\x00h\x00e" * 10 + b".",
    "a stack that is empty": b"0000.",
}


def program(tree: Tree) -> Change | None:
    """Put a pickle that does something else in the place of one."""
    relative = tree.pick(".pkl")
    if relative is None:
        return None
    kind = tree.random.choice(list(PROGRAMS))
    (tree.root / relative).write_bytes(PROGRAMS[kind])
    return Change(what=f"{relative}: became {kind}", promise=Promise.EQUAL)


ARRAYS: dict[str, Mutation] = {
    "wrong_array": wrong_array,
    "zip_bomb": zip_bomb,
    "wrong_value_of_a_pickle": wrong_value,
    "program": program,
}
