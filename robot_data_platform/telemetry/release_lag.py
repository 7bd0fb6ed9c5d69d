"""How long uploads take until a release has them, from the catalog alone."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from robot_data_platform.core.time_base import NS_PER_S
from robot_data_platform.storage.catalog import versions_of
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.predicate import all_of, equals

_TIME = re.compile(r"(\d{8}t\d{6}z)-")


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """When a release was made, and of which version of ``episodes``."""

    created_ns: int
    episodes_version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """One upload: when it came, and the versions of ``episodes`` that published it."""

    uploaded_ns: int
    versions: tuple[tuple[int, int], ...]
    """(version, time of its run), lowest version first; empty = not published."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LagFigures:
    """Uploads of a dataset on their way into a release."""

    lags_s: tuple[float, ...]
    """Of each upload that a release has: from its upload to the first release that has it."""
    waiting_since_ns: int | None
    """When the oldest upload came that the latest release should have and hasn't; None = none."""
    num_uploads: int
    num_unpublished: int
    """Uploads that were registered and never published: their run failed, or is under way."""
    last_release_ns: int | None
    last_publish_ns: int | None


def lag_figures(lake: Lake, dataset: str, ok_uploads: Collection[str]) -> LagFigures:
    """Return the figures of a dataset.

    Parameters
    ----------
    lake : Lake
        The lake.
    dataset : str
        Its name.
    ok_uploads : collection of str
        Uploads with something to release; the others wait for nothing.
    """
    releases, uploads = _releases(lake, dataset), _uploads(lake, dataset)
    published = [upload for upload in uploads.values() if upload.versions]
    return LagFigures(
        lags_s=tuple(lag for upload in published for lag in _lag_s(upload, releases)),
        waiting_since_ns=_waiting_since_ns(
            (upload for name, upload in uploads.items() if name in ok_uploads), releases
        ),
        num_uploads=len(uploads),
        num_unpublished=len(uploads) - len(published),
        last_release_ns=max((r.created_ns for r in releases), default=None),
        last_publish_ns=max((u.versions[-1][1] for u in published), default=None),
    )


def upload_time_ns(upload: str, registered_ns: int) -> int:
    """Return when an upload came: the time in its id, or else when it was registered."""
    stamp = _TIME.match(upload)
    if stamp is None:
        return registered_ns
    try:
        told = datetime.strptime(stamp[1], "%Y%m%dt%H%M%Sz").replace(tzinfo=UTC)
    except ValueError:
        return registered_ns
    return int(told.timestamp()) * NS_PER_S


def _lag_s(upload: Published, releases: Sequence[Release]) -> Iterable[float]:
    """Return the time to the first release that has the upload, or nothing."""
    first = upload.versions[0][0]
    place = bisect_left(releases, first, key=lambda release: release.episodes_version)
    return [
        max(0, release.created_ns - upload.uploaded_ns) / NS_PER_S
        for release in releases[place : place + 1]
    ]


def _waiting_since_ns(uploads: Iterable[Published], releases: Iterable[Release]) -> int | None:
    latest = max((release.episodes_version for release in releases), default=-1)
    waiting = []
    for upload in uploads:
        late = [time_ns for version, time_ns in upload.versions if version > latest]
        if late:
            is_new = len(late) == len(upload.versions)
            waiting.append(upload.uploaded_ns if is_new else late[0])
    return min(waiting, default=None)


def _releases(lake: Lake, dataset: str) -> list[Release]:
    """Return the releases of a dataset, by their version of ``episodes``."""
    table = lake.find_catalog("releases")
    if table is None:
        return []
    rows = table.read(["tables", "created_ns"], equals("dataset", dataset)).to_pylist()
    releases = [
        Release(
            created_ns=row["created_ns"], episodes_version=versions_of(row["tables"])["episodes"]
        )
        for row in rows
    ]
    return sorted(releases, key=lambda r: (r.episodes_version, r.created_ns))


def _uploads(lake: Lake, dataset: str) -> dict[str, Published]:
    table = lake.find_catalog("uploads")
    if table is None:
        return {}
    registered: dict[str, int] = {}
    rows = table.read(["upload", "created_ns"], equals("dataset", dataset))
    for row in rows.sort_by("created_ns").to_pylist():
        registered.setdefault(row["upload"], row["created_ns"])
    versions = _publications(lake, dataset)
    return {
        upload: Published(
            uploaded_ns=upload_time_ns(upload, time_ns),
            versions=tuple(sorted(versions.get(upload, {}).items())),
        )
        for upload, time_ns in registered.items()
    }


def _publications(lake: Lake, dataset: str) -> Mapping[str, Mapping[int, int]]:
    """Return by upload the versions of ``episodes`` that published it, with their time."""
    found: defaultdict[str, dict[int, int]] = defaultdict(dict)
    table = lake.find_catalog("lineage")
    if table is not None:
        where = all_of(equals("dataset", dataset), equals("asset", "episodes"))
        rows = table.read(["partition", "output_version", "created_ns"], where).to_pylist()
        for row in rows:
            found[row["partition"]].setdefault(row["output_version"], row["created_ns"])
    return found
