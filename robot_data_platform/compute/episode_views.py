"""What the cameras of a dataset show in its episodes, as small pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from robot_data_platform.core.finding import STATUS_QUARANTINED
from robot_data_platform.core.measurement_schema import MEASUREMENTS
from robot_data_platform.quality.measurement_rows import thumbnail_of
from robot_data_platform.quality.measurements import MEASUREMENTS_VERSION
from robot_data_platform.quality.rules.views import UsualView, usual_view
from robot_data_platform.storage.predicate import in_range, is_in

if TYPE_CHECKING:
    from robot_data_platform.quality.look import Thumbnail
    from robot_data_platform.storage.lake import Lake
    from robot_data_platform.storage.table import LakeTable

MOST_BEFORE = 64
"""Episodes before the upload, the latest ones, whose views are compared with."""
ONE_BY_ONE = 16
"""Up to so many episodes, each is left out of the usual view that it is compared with."""


@dataclass(frozen=True, slots=True)
class DatasetViews:
    """Small pictures by ``episode_index`` and camera."""

    _views: dict[int, dict[str, Thumbnail]]
    _shared: dict[str, UsualView]
    """The usual view of all, where leaving one out makes no difference."""

    @classmethod
    def read(cls, lake: Lake, dataset: str, episodes: LakeTable, indices: set[int]) -> DatasetViews:
        """Return the views of some episodes and of the latest before them."""
        chosen = _digests(episodes, [*_latest_before(episodes, min(indices)), *sorted(indices)])
        by_digest = _by_digest(lake.open(dataset, MEASUREMENTS), set(chosen.values()))
        views = {index: by_digest.get(digest, {}) for index, digest in chosen.items()}
        shared = _usual(views) if len(views) > ONE_BY_ONE else {}
        return cls(views, shared)

    def of_episode(self, index: int) -> dict[str, Thumbnail]:
        """Return an episode's small pictures by camera."""
        return self._views.get(index, {})

    def usual(self, index: int) -> dict[str, UsualView]:
        """Return what each camera shows in the other episodes."""
        if self._shared:
            return self._shared
        return _usual({other: v for other, v in self._views.items() if other != index})

    def before(self, index: int) -> dict[str, UsualView]:
        """Return what each camera shows in the episodes before one."""
        return _usual({other: v for other, v in self._views.items() if other < index})


def _latest_before(episodes: LakeTable, index: int) -> list[int]:
    """Return the last episodes before one, rising, without those in quarantine."""
    rows = episodes.read(["episode_index", "status"], in_range("episode_index", 0, index))
    rows = rows.filter(pc.not_equal(rows["status"], STATUS_QUARANTINED))
    latest: list[int] = np.sort(rows["episode_index"].to_numpy())[-MOST_BEFORE:].tolist()
    return latest


def _digests(episodes: LakeTable, indices: list[int]) -> dict[int, str]:
    """Return the content of some episodes by index, in the order given, where it is usable."""
    columns = ["episode_index", "content_digest", "status"]
    held = {
        row["episode_index"]: row["content_digest"]
        for row in episodes.read(columns, is_in("episode_index", indices)).to_pylist()
        if row["status"] != STATUS_QUARANTINED
    }
    return {index: held[index] for index in indices if index in held}


def _by_digest(table: LakeTable, digests: set[str]) -> dict[str, dict[str, Thumbnail]]:
    columns = ["content_digest", "measurements_version", "camera", "thumbnail"]
    views: dict[str, dict[str, Thumbnail]] = {}
    for row in table.read(columns, is_in("content_digest", sorted(digests))).to_pylist():
        view = thumbnail_of(row["thumbnail"])
        if view is not None and row["measurements_version"] == MEASUREMENTS_VERSION:
            views.setdefault(row["content_digest"], {})[row["camera"]] = view
    return views


def _usual(views: dict[int, dict[str, Thumbnail]]) -> dict[str, UsualView]:
    by_camera: dict[str, list[Thumbnail]] = {}
    for shown in views.values():
        for camera, view in shown.items():
            by_camera.setdefault(camera, []).append(view)
    return {camera: usual_view(np.stack(seen)) for camera, seen in by_camera.items()}
