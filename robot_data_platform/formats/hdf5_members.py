"""Members of HDF5 files that stay inside them: links and storage that lead out are refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.hdf5_files import absurd

if TYPE_CHECKING:
    import h5py

MAX_DEPTH = 16
"""Groups inside each other that are followed; recorders use up to five."""
MAX_MEMBERS = 10_000
"""Datasets of one episode that are looked at; recorders write up to a few hundred."""


def datasets(group: h5py.Group | None, where: str) -> Iterator[tuple[str, h5py.Dataset]]:
    """Yield the datasets right below a group, by name; groups are passed over.

    Raises
    ------
    DataFaultError
        ``unsafe-path``: one of them lies outside of the file. ``unreadable-file``: a link leads
        to nothing.
    """
    import h5py

    for name, item in members(group, where):
        if isinstance(item, h5py.Dataset):
            yield name, item


def datasets_below(group: h5py.Group | None, where: str) -> Iterator[tuple[str, h5py.Dataset]]:
    """Yield every dataset below a group, however deep, with its path from there.

    Raises
    ------
    DataFaultError
        As `datasets`; ``shape-mismatch``: groups inside each other, or datasets, without end.
    """
    pending = [("", group)]
    num_found = 0
    while pending:
        prefix, current = pending.pop()
        if prefix.count("/") > MAX_DEPTH:
            raise absurd(where, f"groups {prefix.count('/')} deep", f"{MAX_DEPTH}")
        for name, item in members(current, where):
            if _is_group(item):
                pending.append((f"{prefix}{name}/", item))
                continue
            num_found += 1
            if num_found > MAX_MEMBERS:
                raise absurd(where, f"over {MAX_MEMBERS} datasets", f"{MAX_MEMBERS}")
            yield f"{prefix}{name}", item


def members(
    group: h5py.Group | None, where: str
) -> Iterator[tuple[str, h5py.Group | h5py.Dataset]]:
    """Yield the groups and datasets right below a group, by name; `datasets` has the refusals."""
    import h5py

    for name in group if group is not None else ():
        item = member(group, name, where)
        if isinstance(item, h5py.Group | h5py.Dataset):
            yield name, item


def member(group: h5py.Group, name: str, where: str) -> object:
    """Return what a group holds under a name; `datasets` has the refusals."""
    import h5py

    link = group.get(name, getlink=True)
    if isinstance(link, h5py.ExternalLink):
        raise _leads_out(where, name, f"a link to {link.filename!r}")
    item = group.get(name)
    if item is None:
        raise _member_error(where, name, "leads to nothing", "a link without a target")
    if isinstance(item, h5py.Dataset) and (item.external or item.is_virtual):
        raise _leads_out(where, name, "storage in other files")
    return item


def group_at(file: h5py.Group, path: str) -> h5py.Group | None:
    """Return a group below another, or None where there is none at that path."""
    item = _item_at(file, path)
    return item if _is_group(item) else None


def dataset_at(file: h5py.Group, path: str, where: str) -> h5py.Dataset | None:
    """Return a dataset below a group, or None where there is none at that path.

    Raises
    ------
    DataFaultError
        ``unsafe-path``: it lies outside of the file.
    """
    import h5py

    parent, _, name = path.strip("/").rpartition("/")
    group = group_at(file, parent) if parent else file
    item = member(group, name, where) if group is not None and name in group else None
    return item if isinstance(item, h5py.Dataset) else None


def names_dataset(file: h5py.Group, path: str) -> bool:
    """Return whether a path leads to a dataset, or out of the file, which reading it refuses."""
    import h5py

    return isinstance(_item_at(file, path), h5py.Dataset | h5py.ExternalLink)


def _item_at(file: h5py.Group, path: str) -> object:
    """Return what lies at a path; the link itself where it leads out of the file."""
    import h5py

    item: object = file
    for part in path.strip("/").split("/"):
        link = item.get(part, getlink=True) if isinstance(item, h5py.Group) else None
        if link is None or isinstance(link, h5py.ExternalLink):
            return link
        item = item.get(part) if isinstance(item, h5py.Group) else None
    return item


def _is_group(item: object) -> bool:
    import h5py

    return isinstance(item, h5py.Group)


def _leads_out(where: str, name: str, got: str) -> DataFaultError:
    return DataFaultError(
        f"{where} member {name!r} leads out of the file: got {got}, expected its content. "
        "Copy the content into the file.",
        kind=ErrorKind.UNSAFE_PATH,
        dataset=name,
    )


def _member_error(where: str, name: str, what: str, got: str) -> DataFaultError:
    return DataFaultError(
        f"{where} member {name!r} {what}: got {got}, expected its content. Upload the file again "
        "from where it was recorded.",
        kind=ErrorKind.UNREADABLE_FILE,
        dataset=name,
    )
