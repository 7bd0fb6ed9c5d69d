"""Old versions of a table: which may go, and clean-up of those and of files only they named."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from robot_data_platform.storage.faults import store_errors
from robot_data_platform.storage.upkeep import retrying

if TYPE_CHECKING:
    from datetime import timedelta

    from robot_data_platform.storage.table import LakeTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaned:
    """What a clean-up removes."""

    num_versions: int
    num_bytes: int


NOTHING = Cleaned(num_versions=0, num_bytes=0)


def expired_versions(table: LakeTable, older_than: timedelta) -> list[int]:
    """Return the versions that were replaced by the next one before that, tagged ones included.

    A version counts from when it stopped being the latest: whoever opened it as the latest, to
    read or to release it, has as long to do so.
    """
    limit_s = (_now() - older_than).timestamp()
    made = sorted(_times(table).items())
    return [older for (older, _), (_, made_s) in itertools.pairwise(made) if made_s <= limit_s]


def _now() -> datetime:
    # The clock of this machine, by which Lance stamps versions.
    return datetime.now(UTC)


def _times(table: LakeTable) -> dict[int, float]:
    """Return when each version was made, in seconds since 1970."""
    times = {}
    with store_errors(table.uri):
        for version in table.lance.versions():
            made = version["timestamp"]
            assert isinstance(made, datetime)
            times[int(str(version["version"]))] = made.timestamp()
    return times


def plan_clean_up(table: LakeTable, older_than: timedelta) -> Cleaned:
    """Return what `clean_up` would remove of a table as it is."""
    expired = expired_versions(table, older_than)
    if not expired:
        return NOTHING
    with store_errors(table.uri):
        stats = table.lance.explain_cleanup_old_versions(
            versions=expired, error_if_tagged_old_versions=False
        ).stats
    return Cleaned(num_versions=int(stats.old_versions), num_bytes=int(stats.bytes_removed))


def clean_up(uri: str, older_than: timedelta) -> Cleaned:
    """Remove versions replaced before that, and files only they named; tagged versions stay."""

    def work(table: LakeTable) -> Cleaned:
        expired = expired_versions(table, older_than)
        if not expired:
            return NOTHING
        stats = table.lance.cleanup_old_versions(
            versions=expired, error_if_tagged_old_versions=False
        )
        return Cleaned(num_versions=int(stats.old_versions), num_bytes=int(stats.bytes_removed))

    return retrying(uri, work)
