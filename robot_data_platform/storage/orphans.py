"""Data files that no version names: what a task wrote that died before its commit.

A file may also wait for a commit that is about to come. So files are condemned before they are
removed: the table says up to which write time its unnamed files are given up, and a commit of
nothing makes every commit in the making start again, see the mark, and refuse what it condemns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from robot_data_platform.storage.commit import set_metadata
from robot_data_platform.storage.condemned import CONDEMNED_KEY, condemned_until_us
from robot_data_platform.storage.objects import object_store
from robot_data_platform.storage.table import open_table
from robot_data_platform.storage.table_files import DataGroup, data_groups, named_stems
from robot_data_platform.storage.upkeep import fence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from robot_data_platform.storage.table import LakeTable


def find_orphans(table: LakeTable, before_us: int) -> list[DataGroup]:
    """Return data files that no version names and that were all written before a time."""
    # Listed before the versions are read: what is committed meanwhile is then among those named.
    old = {s: g for s, g in data_groups(table).items() if g.newest_us < before_us}
    named = named_stems(table) if old else set()
    return [group for stem, group in old.items() if stem not in named]


def remove_orphans(uri: str, before_us: int, properties: Mapping[str, str]) -> list[DataGroup]:
    """Remove data files that no version names; return those removed.

    Parameters
    ----------
    uri : str
        The table.
    before_us : int
        Files of which any was written at or after this time stay, microseconds since 1970.
    properties : mapping of str to str
        Kept with the commit that condemns them.
    """
    found = find_orphans(open_table(uri), before_us)
    if not found:
        return []
    until_us = max(group.newest_us for group in found)
    set_metadata(uri, lambda held: _condemning(held, until_us))
    fenced = fence(uri, properties)
    named = named_stems(fenced)
    orphans = [group for group in found if group.stem not in named]
    object_store(uri).delete([file.path for group in orphans for file in group.files])
    return orphans


def _condemning(held: Mapping[str, str], until_us: int) -> dict[str, str]:
    return {CONDEMNED_KEY: str(until_us)} if until_us > condemned_until_us(held) else {}
