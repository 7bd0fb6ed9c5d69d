"""The mark of a table that says which files without a version are given up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robot_data_platform.errors import ErrorKind, StorageError
from robot_data_platform.storage.table_files import data_groups, stem_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lance.fragment import FragmentMetadata

    from robot_data_platform.storage.table import LakeTable

CONDEMNED_KEY = "rdp.condemned_until_us"
"""Schema metadata: files without a version that were written up to then may be gone."""


def condemned_until_us(metadata: Mapping[str, str]) -> int:
    """Return the time that a table's metadata states; -1 where nothing was condemned."""
    return int(metadata.get(CONDEMNED_KEY, "-1"))


def refuse_condemned(table: LakeTable, fragments: Sequence[FragmentMetadata]) -> None:
    """Refuse to commit files that maintenance has given up; looks only where it has given up any.

    Raises
    ------
    StorageError
        ``store-failed``: written too long ago. The step has to write them again.
    """
    until_us = condemned_until_us(table.metadata)
    if until_us < 0 or not fragments:
        return
    there = data_groups(table)
    for stem in sorted({stem_of(file.path) for fragment in fragments for file in fragment.files}):
        group = there.get(stem)
        if group is None or group.oldest_us <= until_us:
            raise _given_up(table, stem)


def _given_up(table: LakeTable, stem: str) -> StorageError:
    return StorageError(
        f"Data file {stem!r} of {table.uri!r} waited for its commit so long that maintenance took "
        "it for one of a dead task: nothing of this commit is visible. Run the step again.",
        kind=ErrorKind.STORE_FAILED,
        uri=table.uri,
        file=stem,
    )
