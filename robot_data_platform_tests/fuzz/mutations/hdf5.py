"""Wrong types, absurd sizes and loops in HDF5 files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np

from robot_data_platform_tests.fuzz.mutations import bombs
from robot_data_platform_tests.fuzz.mutations.tree import Change, Mutation, Promise, Tree

SUFFIXES = (".hdf5", ".h5")
Edit = Callable[[h5py.File, str], tuple[str, Promise] | None]
"""Changes what is at a path, and says how; None = it can't be changed in this way."""
ATTRIBUTES: tuple[object, ...] = (
    10**12,
    -1,
    0,
    float("nan"),
    "text",
    b"\xff\xfe",
    "[" * 100_000,
    '{"env_kwargs": {"control_freq": 1e300}}',
    np.zeros((0, 3)),
    np.arange(7),
    h5py.Empty("f8"),
    np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]),
)


def members(path: Path, kind: type) -> list[str]:
    """Return the paths of a file's datasets or groups, sorted."""
    found: list[str] = []

    def visit(name: str, item: object) -> None:
        if isinstance(item, kind):
            found.append(name)

    with h5py.File(path, "r") as file:
        file.visititems(visit)
    return sorted(found)


def _edited(tree: Tree, edit: Edit, kind: type = h5py.Dataset) -> Change | None:
    relative = tree.pick(*SUFFIXES)
    if relative is None:
        return None
    names = members(tree.root / relative, kind)
    if not names:
        return None
    name = tree.random.choice(names)
    with h5py.File(tree.root / relative, "r+") as file:
        edited = edit(file, name)
    if edited is None:
        return None
    return Change(what=f"{relative}: {name} {edited[0]}", promise=edited[1])


def wrong_member(tree: Tree) -> Change | None:
    """Put something else in the place of a dataset."""

    def edit(file: h5py.File, name: str) -> tuple[str, Promise]:
        before = file[name]
        rows, shape = before.shape[:1], before.shape
        del file[name]
        kind = tree.random.choice(list(MEMBERS))
        MEMBERS[kind](file, name, rows[0] if rows else 0, shape)
        return f"became {kind}", PROMISES.get(kind, Promise.EQUAL)

    return _edited(tree, edit)


PROMISES = {
    "a group": Promise.PARTLY,  # as good as nothing
    "a type": Promise.PARTLY,
    "seven dimensions": Promise.TYPED,  # numbers by row, as before
}
Shape = tuple[int, ...]
MEMBERS: dict[str, Callable[[h5py.File, str, int, Shape], object]] = {
    "a group": lambda f, name, rows, shape: f.create_group(name),
    "a scalar": lambda f, name, rows, shape: f.create_dataset(name, data=1.5),
    "no values": lambda f, name, rows, shape: f.create_dataset(name, data=h5py.Empty("f8")),
    "texts": lambda f, name, rows, shape: f.create_dataset(name, data=["x"] * rows),
    "bytes": lambda f, name, rows, shape: f.create_dataset(name, data=np.array([b"x"] * rows)),
    "complex numbers": lambda f, name, rows, shape: f.create_dataset(name, shape, "c16"),
    "records": lambda f, name, rows, shape: f.create_dataset(name, (rows,), [("a", "f4")]),
    "opaque bytes": lambda f, name, rows, shape: f.create_dataset(name, (rows,), "V16"),
    "references": lambda f, name, rows, shape: f.create_dataset(name, (rows,), h5py.ref_dtype),
    "arrays": lambda f, name, rows, shape: f.create_dataset(name, (rows,), "(3,)f8"),
    "one row less": lambda f, name, rows, shape: f.create_dataset(
        name, (rows - 1, *shape[1:]), "f8"
    ),
    "no rows": lambda f, name, rows, shape: f.create_dataset(name, (0, *shape[1:]), "f8"),
    "no columns": lambda f, name, rows, shape: f.create_dataset(name, (rows, 0), "f8"),
    "seven dimensions": lambda f, name, rows, shape: f.create_dataset(name, (rows, *[1] * 6), "f8"),
    "10^12 rows": lambda f, name, rows, shape: f.create_dataset(
        name, (10**12, *shape[1:]), "f8", chunks=(1, *shape[1:])
    ),
    "10^12 columns": lambda f, name, rows, shape: f.create_dataset(
        name, (rows, 10**12), "u1", chunks=(1, 1 << 20)
    ),
    "an absurd chunk": lambda f, name, rows, shape: f.create_dataset(
        name, (rows, 1 << 31), "u1", chunks=(1, 1 << 31)
    ),
    "a link to nothing": lambda f, name, rows, shape: f.__setitem__(
        name, h5py.SoftLink("/nothing")
    ),
    "a link to itself": lambda f, name, rows, shape: f.__setitem__(name, h5py.SoftLink(f"/{name}")),
    "a type": lambda f, name, rows, shape: f.__setitem__(name, np.dtype("f8")),
    "the file itself": lambda f, name, rows, shape: f.__setitem__(name, f["/"]),
}


def packed_zeros(tree: Tree) -> Change | None:
    """Put a dataset whose chunk unpacks to more than memory in the place of another."""

    def edit(file: h5py.File, name: str) -> tuple[str, Promise] | None:
        rows = file[name].shape[:1]
        if not rows:
            return None
        del file[name]
        shape = (rows[0], bombs.NUM_BYTES)
        data = file.create_dataset(name, shape, "u1", chunks=(1, shape[1]), compression="gzip")
        data.id.write_direct_chunk((0, 0), bombs.zlib_stream())
        return "became packed zeros", Promise.EQUAL

    return _edited(tree, edit)


def missing_member(tree: Tree) -> Change | None:
    """Leave a dataset or a group out."""

    def edit(file: h5py.File, name: str) -> tuple[str, Promise]:
        del file[name]
        return "is gone", Promise.PARTLY

    return _edited(tree, edit, tree.random.choice([h5py.Dataset, h5py.Group]))


def misnamed_member(tree: Tree) -> Change | None:
    """Give a dataset or a group a name that is no text."""

    def edit(file: h5py.File, name: str) -> tuple[str, Promise]:
        parent, _, last = name.rpartition("/")
        new = f"{parent}/{last[:1]}".encode() + b"\xff"
        file.move(name, new.lstrip(b"/"))
        return f"was renamed to {new!r}", Promise.TYPED

    return _edited(tree, edit, tree.random.choice([h5py.Dataset, h5py.Group]))


def wrong_attribute(tree: Tree) -> Change | None:
    """Put another value in the place of an attribute."""

    def edit(file: h5py.File, name: str) -> tuple[str, Promise] | None:
        holders = [holder for holder in (file[name], file) if len(holder.attrs)]
        if not holders:
            return None
        holder = tree.random.choice(holders)
        key = tree.random.choice(sorted(holder.attrs))
        value = tree.random.choice(ATTRIBUTES)
        del holder.attrs[key]
        try:
            holder.attrs[key] = value
        except RuntimeError:  # more than an attribute can hold
            return f"has no attribute {key!r}", Promise.PARTLY
        return f"has attribute {key!r}: {value!r:.40}", Promise.EQUAL

    return _edited(tree, edit, h5py.Group)


def deep_groups(tree: Tree) -> Change | None:
    """Nest groups deeper than a program can follow."""

    def edit(file: h5py.File, name: str) -> tuple[str, Promise]:
        group = file[name]
        for _ in range(3000):
            group = group.create_group("g")
        return "holds 3,000 groups in each other", Promise.EQUAL

    return _edited(tree, edit, h5py.Group)


HDF5: dict[str, Mutation] = {
    "wrong_member": wrong_member,
    "packed_zeros": packed_zeros,
    "missing_member": missing_member,
    "misnamed_member": misnamed_member,
    "wrong_attribute": wrong_attribute,
    "deep_groups": deep_groups,
}
