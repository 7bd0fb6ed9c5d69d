"""A lake copied file by file while others write to it; the copy is a lake that opens anywhere.

Every file of a table but its tags is written once, and whatever a manifest names is written before
it. So the manifests are listed first, then all other files are copied, and last the manifests that
were listed: a copy that ends half way shows less, and never half of a version. Tables are listed
in the order in which readers open them, releases first; ``uploads``, which reserves what all
others use, comes last.
"""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from robot_data_platform.core.measurement_schema import MEASUREMENTS
from robot_data_platform.errors import ErrorKind, InvalidInputError, NotFoundError, StorageError
from robot_data_platform.storage.lake import CATALOG
from robot_data_platform.storage.objects import object_store
from robot_data_platform.storage.uri import join

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from robot_data_platform.storage.lake import Lake
    from robot_data_platform.storage.objects import ObjectStore

NUM_COPIES_AT_ONCE = 8
MANIFESTS, TAGS = "_versions", "_refs"

_END = ".manifest"
"""Ending of manifests. The hint beside them, which version may be the latest, moves; a table opens
without it."""

_READ_FIRST = ("releases", "models", "lineage", "calibrations")
_OF_DATASETS = ("splits", "episodes", "quality", "spatial", MEASUREMENTS, "frames", "gops")
_READ_LAST = ("uploads", "retirements")


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """What a copy wrote."""

    num_files: int
    num_bytes: int
    num_files_there: int
    """Files that an earlier copy had brought."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listed:
    """What a table says of its versions; size in bytes by key."""

    folder: str
    tags: Mapping[str, int]
    manifests: Mapping[str, int]


def copy_lake(source: Lake, target: Lake) -> Copied:
    """Copy a lake to an empty place, or bring an older copy of it up to date.

    Parameters
    ----------
    source, target : Lake
        Each on this machine or on an object store.

    Raises
    ------
    InvalidInputError
        ``already-exists``: the target holds what the source does not; nothing is written.
    StorageError
        ``store-failed``: a file went away meanwhile, as in a clean-up. Copy again.
    """
    store, other = object_store(source.root), object_store(target.root)
    tables = [_list(store, folder) for folder in _folders(source)]
    there = {key: size for t in tables for key, size in other.list_sizes(t.folder).items()}
    for table in tables:
        _refuse_other(store, other, table, there)
    rest = {k: size for t in tables for k, size in store.list_sizes(t.folder).items()}
    copied: dict[str, int] = {}
    num_there = 0
    for part in _parts(tables, rest):
        new = {key: size for key, size in part.items() if there.get(key) != size}
        _copy(store, other, new)
        copied |= new
        num_there += len(part) - len(new)
    return Copied(num_files=len(copied), num_bytes=sum(copied.values()), num_files_there=num_there)


def _folders(lake: Lake) -> Iterator[str]:
    """Yield the folders of all tables, in the order in which they are listed."""
    yield from (f"{CATALOG}/{name}.lance" for name in _READ_FIRST)
    for dataset in lake.datasets():
        yield from (f"{dataset}/{name}.lance" for name in _OF_DATASETS)
    yield from (f"{CATALOG}/{name}.lance" for name in _READ_LAST)


def _list(store: ObjectStore, folder: str) -> _Listed:
    # A tag's version was there before it.
    tags = store.list_sizes(f"{folder}/{TAGS}")
    manifests = store.list_sizes(f"{folder}/{MANIFESTS}")
    manifests = {key: size for key, size in manifests.items() if key.endswith(_END)}
    return _Listed(folder=folder, tags=tags, manifests=manifests)


def _parts(tables: list[_Listed], rest: Mapping[str, int]) -> Iterator[Mapping[str, int]]:
    """Yield what is copied one after the other: what is named before what names it."""
    yield {k: size for k, size in rest.items() if k.split("/")[2] not in (MANIFESTS, TAGS)}
    for table in reversed(tables):
        yield table.manifests
        yield table.tags


def _refuse_other(
    source: ObjectStore, target: ObjectStore, table: _Listed, there: Mapping[str, int]
) -> None:
    """Refuse a target with a version that the source lacks, or has otherwise.

    Names of manifests count down, so that the newest one sorts first. Older ones may be there that
    the source has cleaned up.
    """
    held = {k for k in there if k.startswith(f"{table.folder}/{MANIFESTS}/") and k.endswith(_END)}
    common = held & set(table.manifests)
    is_newer = min(held, default="~") < min(table.manifests, default="~")
    if is_newer or (common and _differ(source, target, min(common))):
        uri = join(target.root, table.folder)
        raise InvalidInputError(
            f"{uri!r} holds a version that the lake to copy has not: expected an empty place, or "
            "an older copy of the same lake. Choose another place.",
            kind=ErrorKind.ALREADY_EXISTS,
            uri=uri,
        )


def _differ(source: ObjectStore, target: ObjectStore, key: str) -> bool:
    return source.get_bytes(key) != target.get_bytes(key)


def _copy(source: ObjectStore, target: ObjectStore, keys: Mapping[str, int]) -> None:
    def copy(number_and_key: tuple[int, str]) -> None:
        local = Path(folder, str(number_and_key[0]))
        _fetch(source, number_and_key[1], local)
        target.put_file(local, number_and_key[1])
        local.unlink()

    with (
        tempfile.TemporaryDirectory(prefix="rdp-copy-") as folder,
        ThreadPoolExecutor(NUM_COPIES_AT_ONCE) as pool,
    ):
        # To the end, so that an error of any of them is raised.
        list(pool.map(copy, enumerate(keys)))


def _fetch(source: ObjectStore, key: str, local: Path) -> None:
    try:
        source.fetch(key, local)
    except NotFoundError as err:
        raise StorageError(
            f"{join(source.root, key)!r} went away while the lake was copied, as in a clean-up. "
            "Run the same command again.",
            kind=ErrorKind.STORE_FAILED,
            uri=join(source.root, key),
        ) from err
