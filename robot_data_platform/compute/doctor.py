"""What is wrong with a lake, and how to mend it. Looks at everything and changes nothing.

(One object is written: where there is no table yet, the probe of conditional PUT.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from robot_data_platform.compute.doctor_finding import Ailment, fail, warn
from robot_data_platform.compute.doctor_references import look_at_references
from robot_data_platform.compute.doctor_releases import (
    look_at_ingestions,
    look_at_landing,
    look_at_releases,
)
from robot_data_platform.compute.doctor_tables import look_at_table, open_or_tell
from robot_data_platform.compute.scrub import scrub
from robot_data_platform.compute.scrub_share import ScrubShare
from robot_data_platform.core.measurement_schema import MEASUREMENTS
from robot_data_platform.core.schema import CATALOG_TABLES, TABLES
from robot_data_platform.errors import RobotDataError
from robot_data_platform.storage.objects import check_conditional_put, store_clock_s

if TYPE_CHECKING:
    from collections.abc import Iterator

    from robot_data_platform.compute.upkeep_policy import UpkeepPolicy
    from robot_data_platform.storage.lake import Lake
    from robot_data_platform.storage.landing import Landing
    from robot_data_platform.storage.table import LakeTable

SAMPLED_GOPS = 256
"""GOPs of a dataset that are hashed; `rdp maintain --scrub all` hashes every one."""


MAX_SKEW_S = 300
"""Ages of files and ingestions are counted in days, so minutes do no harm yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """One look at a lake."""

    lake: Lake
    landing: Landing | None
    """None = uploads are not looked at."""
    policy: UpkeepPolicy
    now_ns: int

    @property
    def before_ns(self) -> int:
        """What is younger than this may be of a run that still goes on."""
        return self.now_ns - int(self.policy.grace.total_seconds() * 1e9)


def examine(visit: Visit) -> list[Ailment]:
    """Return everything that is wrong with a lake; what can't be looked at is told as well."""
    found = list(_store(visit.lake)) or _guarded(visit.lake.root, _clock(visit))
    tables, told = _open_all(visit.lake.catalog_uri(name) for name in CATALOG_TABLES)
    found += told
    for table in tables.values():
        found += _guarded(table.uri, _table(visit, table))
    if any(ailment.where == visit.lake.catalog_uri("uploads") for ailment in found):
        return found
    for dataset in _guarded_datasets(visit.lake, found):
        found += _dataset(visit, dataset)
    if visit.landing is not None:
        found += _guarded(visit.landing.root, look_at_landing(visit.lake, visit.landing))
    return found


def _store(lake: Lake) -> Iterator[Ailment]:
    try:
        check_conditional_put(lake.root)
    except RobotDataError as err:
        mend = "Use a store that honours If-None-Match, or correct the address and keys in AWS_*."
        yield fail("store_is_safe", lake.root, str(err), mend)


def _clock(visit: Visit) -> Iterator[Ailment]:
    stated_s = store_clock_s(visit.lake.root)
    ahead_s = 0.0 if stated_s is None else visit.now_ns / 1e9 - stated_s
    if abs(ahead_s) > MAX_SKEW_S:
        said = f"This machine's clock is {ahead_s:+.0f} s from the store's: expected {MAX_SKEW_S}."
        mend = "Set the clock (NTP). S3 refuses requests that are 15 minutes off."
        yield warn("clocks_agree", visit.lake.root, said, mend)


def _guarded_datasets(lake: Lake, found: list[Ailment]) -> list[str]:
    try:
        return lake.datasets()
    except RobotDataError as err:
        found.append(_not_looked_at(lake.root, err))
        return []


def _open_all(uris: Iterator[str]) -> tuple[dict[str, LakeTable], list[Ailment]]:
    tables, told = {}, []
    for uri in uris:
        table, ailments = open_or_tell(uri)
        told += ailments
        if table is not None:
            tables[uri.rpartition("/")[2].removesuffix(".lance")] = table
    return tables, told


def _table(visit: Visit, table: LakeTable) -> Iterator[Ailment]:
    return look_at_table(table, visit.before_ns // 1000, visit.policy.index_min_rows)


def _dataset(visit: Visit, dataset: str) -> list[Ailment]:
    lake = visit.lake
    names = (*TABLES, MEASUREMENTS)
    tables, found = _open_all(lake.table_uri(dataset, name) for name in names)
    if found:
        return found
    for table in tables.values():
        found += _guarded(table.uri, _table(visit, table))
    found += _guarded(dataset, look_at_references(tables))
    found += _guarded(dataset, look_at_releases(lake, dataset, visit.before_ns))
    found += _guarded(dataset, look_at_ingestions(lake, dataset, visit.before_ns))
    return found + _guarded(dataset, _sample(visit, dataset, tables.get("gops")))


def _sample(visit: Visit, dataset: str, gops: LakeTable | None) -> Iterator[Ailment]:
    if gops is None:
        return
    share = ScrubShare(max(1, gops.count_rows() // SAMPLED_GOPS))
    for gop in scrub(visit.lake, dataset, share, visit.now_ns).damaged:
        yield fail(
            "gops_have_their_hash",
            f"{dataset}/{gop.episode_id or gop.episode_index}",
            f"GOP {gop.gop_index} of camera {gop.camera!r} has other bytes than were written, or "
            f"can't be read; releases that hold it: {gop.releases or 'none'}.",
            "Restore the table from a backup (docs/operations.md), or ingest the upload again "
            "under a corrected marker and release anew. `rdp maintain --scrub all` lists all.",
        )


def _guarded(where: str, ailments: Iterator[Ailment]) -> list[Ailment]:
    """Return what a look finds, and what stops it."""
    found: list[Ailment] = []
    try:
        found.extend(ailments)
    except RobotDataError as err:
        found.append(_not_looked_at(where, err))
    return found


def _not_looked_at(where: str, error: RobotDataError) -> Ailment:
    mend = "Mend what is told above it first, or the store, then look again."
    return fail("it_can_be_looked_at", where, str(error), mend)
