"""Links and paths that lead out of the source, to whole files that would fit."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

import h5py
import pyarrow as pa

from robot_data_platform_tests.formats.lerobot_v1_files import (
    REFERENCE,
    read_stream,
    write_stream,
)
from robot_data_platform_tests.fuzz.mutations import documents, hdf5
from robot_data_platform_tests.fuzz.mutations.tree import Change, Mutation, Promise, Tree

FIELD = re.compile(r"\{[^{}]*\}")
"""A field of a path template."""


def link(tree: Tree) -> Change | None:
    """Put a link to a file outside in the place of the file."""
    relative = tree.pick()
    if relative is None:
        return None
    path = tree.root / relative
    (target,) = _move_out(tree, tree.root, [path])
    tree.make_twin()
    if tree.random.random() < 0.1:
        target = Path("/dev/zero")
    path.symlink_to(_spelled(tree, path.parent, target))
    return Change(what=f"{relative}: became a link to {target.name}", promise=Promise.INSIDE)


def link_folder(tree: Tree) -> Change | None:
    """Put a link to a folder outside in the place of the folder."""
    relative = tree.pick()
    if relative is None or "/" not in relative:
        return None
    folder = (tree.root / relative).parent
    tree.outside.mkdir(exist_ok=True)
    target = folder.rename(tree.outside / folder.name)
    tree.make_twin()
    folder.symlink_to(_spelled(tree, folder.parent, target))
    what = folder.relative_to(tree.root).as_posix()
    return Change(what=f"{what}/: became a link", promise=Promise.INSIDE)


def path(tree: Tree) -> Change | None:
    """Let a document name files outside, where they are, and not inside any more."""
    relative = tree.pick(*documents.SUFFIXES)
    if relative is None:
        return None
    document = tree.root / relative
    value = documents.read(document)
    named = [
        (place, base, files)
        for place in documents.places(value)
        for base, files in _named(tree, document, place.value)
    ]
    if not named:
        return None
    place, base, files = tree.random.choice(named)
    _move_out(tree, base, files)
    tree.make_twin()
    text = f"{_spelled(tree, base, tree.outside)}/{place.value}"
    place.put(text)
    documents.write(document, value)
    return Change(what=f"{relative}: {place.key!r} leads to {text}", promise=Promise.INSIDE)


def _named(tree: Tree, document: Path, text: object) -> list[tuple[Path, list[Path]]]:
    """Return the files that a text names: seen from the root, or from the document's folder."""
    if not isinstance(text, str) or not text.strip("*/. ") or text.startswith(("/", "..")):
        return []
    pattern = FIELD.sub("*", text)
    found = [
        (base, sorted(file for file in base.glob(pattern) if file.is_file()))
        for base in dict.fromkeys((tree.root, document.parent))
    ]
    return [(base, files) for base, files in found if files]


def reference(tree: Tree) -> Change | None:
    """Let the rows of a LeRobot v1 dataset name a video outside."""
    relative, video = tree.pick(".arrow"), tree.pick(".mp4")
    if relative is None or video is None:
        return None
    _move_out(tree, tree.root, [tree.root / video])
    tree.make_twin()
    stream = tree.root / relative
    table = read_stream(stream)
    name = next(
        name
        for name, kind in zip(table.column_names, table.schema.types, strict=True)
        if kind == REFERENCE
    )
    outside = f"{_spelled(tree, tree.root, tree.outside)}/{video}"
    rows = [
        {**row, "path": outside} if row["path"] == video else row for row in table[name].to_pylist()
    ]
    at = table.column_names.index(name)
    write_stream(stream, table.set_column(at, name, pa.array(rows, REFERENCE)))
    return Change(what=f"{relative}: rows name {outside}", promise=Promise.INSIDE)


def member(tree: Tree) -> Change | None:
    """Put a link to the same dataset of a file outside in the place of a dataset."""
    relative = tree.pick(*hdf5.SUFFIXES)
    if relative is None:
        return None
    whole = tree.root / relative
    name = tree.random.choice(hdf5.members(whole, h5py.Dataset))
    outside = tree.outside / relative
    outside.parent.mkdir(parents=True, exist_ok=True)
    outside.write_bytes(whole.read_bytes())
    with h5py.File(whole, "r+") as file:
        shape, dtype = file[name].shape, file[name].dtype
        del file[name]
    tree.make_twin()
    target = _spelled(tree, whole.parent, outside)
    kind = tree.random.choice(["a link", "a view", "raw bytes"])
    with h5py.File(whole, "r+") as file:
        if kind == "a link" or dtype.kind == "O":
            file[name] = h5py.ExternalLink(target, f"/{name}")
        elif kind == "a view":
            layout = h5py.VirtualLayout(shape, dtype)
            layout[...] = h5py.VirtualSource(target, name, shape, dtype)
            file.create_virtual_dataset(name, layout)
        else:
            file.create_dataset(name, shape, dtype, external=[(target, 0, h5py.h5f.UNLIMITED)])
    return Change(what=f"{relative}: {name} became {kind} of {target}", promise=Promise.INSIDE)


def _move_out(tree: Tree, base: Path, files: Sequence[Path]) -> list[Path]:
    targets = [tree.outside / file.relative_to(base) for file in files]
    for file, target in zip(files, targets, strict=True):
        target.parent.mkdir(parents=True, exist_ok=True)
        file.rename(target)
    return targets


def _spelled(tree: Tree, start: Path, target: Path) -> str:
    """Return the path of a target as an absolute one, or as one that climbs."""
    is_absolute = tree.random.random() < 0.5
    return str(target) if is_absolute else os.path.relpath(target, start)


OUTSIDE: dict[str, Mutation] = {
    "link": link,
    "link_folder": link_folder,
    "path": path,
    "reference": reference,
    "member": member,
}
