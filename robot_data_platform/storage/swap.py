"""One compare-and-swap on a table's version, tried until it is made or known to be there."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import lance

from robot_data_platform.errors import CommitConflictError, NotFoundError, StorageError
from robot_data_platform.storage.attempts import Attempts
from robot_data_platform.storage.faults import store_errors
from robot_data_platform.storage.operations import Operation, commit
from robot_data_platform.storage.table import LakeTable, open_table

COMMIT_KEY = "rdp.commit"
"""Property by which a commit whose answer was lost is known again."""


@dataclass(frozen=True, slots=True)
class Committed:
    """How a change ended."""

    version: int
    """Version of the table that holds the change."""
    is_new: bool
    """False where the change was already there, so nothing was written."""


Guard = Callable[[LakeTable], bool]
"""Asked at the version that a commit would build on: is the change already there?"""

Build = Callable[[LakeTable], Operation | lance.Transaction | None]
"""Makes the change for a version; None where that version needs none."""


def compare_and_swap(
    uri: str, build: Build, properties: Mapping[str, str], is_done: Guard | None
) -> Committed:
    """Commit a change that was built on the latest version, and build it again where it was not.

    A commit whose answer was lost is known again by its mark, so it is made once.

    Parameters
    ----------
    uri : str
        The table.
    build : callable
        Makes the change for a version; may be called several times.
    properties : mapping of str to str
        Kept with the commit.
    is_done : callable, optional
        Guard against a second commit of the same change.

    Raises
    ------
    CommitConflictError
        ``commit-conflict``: other writers won too many times in a row.
    StorageError
        The store failed too often, or for a reason that stays.
    """
    attempts, mark = Attempts(uri), uuid.uuid4().hex
    named = {**properties, COMMIT_KEY: mark}
    base: int | None = None
    while True:
        try:
            table = open_table(uri)
            if base is not None and (own := _version_marked(table, base, mark)):
                return Committed(own, is_new=True)
            if is_done is not None and is_done(table):
                return Committed(table.version, is_new=False)
            change = build(table)
            if change is None:
                return Committed(table.version, is_new=False)
            base = table.version
            return Committed(commit(table, change, named), is_new=True)
        except (CommitConflictError, StorageError) as err:
            attempts.again(err)


def _version_marked(table: LakeTable, base: int, mark: str) -> int | None:
    """Return the version after ``base`` that a lost commit made all the same, None without one."""
    versions = range(base + 1, table.version + 1)
    return next((version for version in versions if _mark_of(table, version) == mark), None)


def _mark_of(table: LakeTable, version: int) -> str | None:
    try:
        with store_errors(table.uri):
            made = table.lance.read_transaction(version)
    except NotFoundError:
        return None  # Cleaned up, which happens long after a version was made.
    return (made.transaction_properties or {}).get(COMMIT_KEY) if made else None
