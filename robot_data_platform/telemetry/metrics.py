"""The figures of a lake as Prometheus metrics; its tables are the record, nothing is counted twice.

A dataset is computed again only where one of its tables has another version than before.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from prometheus_client.core import GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from robot_data_platform.core.finding import STATUS_FLAGGED, STATUS_OK, STATUS_QUARANTINED
from robot_data_platform.core.schema import TABLES
from robot_data_platform.core.time_base import NS_PER_S
from robot_data_platform.errors import RobotDataError
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.table_sizes import stored_bytes
from robot_data_platform.telemetry.episode_figures import EpisodeFigures, episode_figures
from robot_data_platform.telemetry.release_lag import LagFigures, lag_figures

LOG = logging.getLogger(__name__)

STATUSES = (STATUS_OK, STATUS_FLAGGED, STATUS_QUARANTINED)
LAG_BOUNDS_S = (60, 300, 900, 3600, 4 * 3600, 24 * 3600, 7 * 24 * 3600)
CATALOG = ("uploads", "lineage", "releases")
"""Tables of the catalog that the figures come from."""

Key = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetFigures:
    """All figures of one dataset."""

    dataset: str
    versions: dict[str, int]
    bytes_by_table: dict[str, int]
    episodes: EpisodeFigures
    lag: LagFigures


class LakeCollector(Collector):
    """Computes the metrics when it is asked; any thread may ask."""

    def __init__(self, lake: Lake, now_ns: Callable[[], int] = time.time_ns) -> None:
        self._lake = lake
        self._now_ns = now_ns
        self._lock = threading.Lock()
        self._known: dict[str, tuple[Key, DatasetFigures]] = {}

    def collect(self) -> Iterator[Metric]:
        """Yield every metric; where the lake can't be read, only that it can't."""
        is_up = GaugeMetricFamily("rdp_lake_up", "Whether the lake could be read: 1 or 0.")
        try:
            with self._lock:
                figures = list(self._figures())
        except RobotDataError as err:
            LOG.error("The lake could not be read: %s", err, extra={"error_kind": err.kind.value})  # noqa: TRY400
            is_up.add_metric([], 0)
            yield is_up
            return
        is_up.add_metric([], 1)
        yield is_up
        yield from metrics_of(figures, self._now_ns())

    def _figures(self) -> Iterator[DatasetFigures]:
        catalog = self._catalog_versions()
        for dataset in self._lake.datasets():
            versions = self._versions(dataset)
            # A dataset whose first upload is still on its way has nothing to tell.
            if "episodes" not in versions:
                continue
            key = (*catalog, *versions.items())
            if dataset not in self._known or self._known[dataset][0] != key:
                self._known[dataset] = (key, self._compute(dataset, versions))
            yield self._known[dataset][1]

    def _catalog_versions(self) -> Key:
        found = {name: self._lake.find_catalog(name) for name in CATALOG}
        return tuple((name, table.version) for name, table in found.items() if table is not None)

    def _versions(self, dataset: str) -> dict[str, int]:
        found = {name: self._lake.find(dataset, name) for name in TABLES}
        return {name: table.version for name, table in found.items() if table is not None}

    def _compute(self, dataset: str, versions: dict[str, int]) -> DatasetFigures:
        episodes = episode_figures(self._lake, dataset)
        return DatasetFigures(
            dataset=dataset,
            versions=versions,
            bytes_by_table={
                name: stored_bytes(self._lake.open(dataset, name)) for name in versions
            },
            episodes=episodes,
            lag=lag_figures(self._lake, dataset, episodes.ok_uploads),
        )


def metrics_of(figures: Iterable[DatasetFigures], now_ns: int) -> Iterator[Metric]:
    """Yield the metrics of some datasets."""
    listed = list(figures)
    yield from _episode_metrics(listed)
    yield from _table_metrics(listed)
    yield from _lag_metrics(listed, now_ns)


def _episode_metrics(figures: list[DatasetFigures]) -> Iterator[Metric]:
    episodes = _gauge("rdp_episodes", "Published episodes.", "status")
    ratio = _gauge("rdp_quarantine_ratio", "Share of published episodes in quarantine, 0 to 1.")
    rows = _gauge("rdp_rows", "Control steps of published episodes.")
    frames = _gauge("rdp_frames", "Pictures of published episodes.", "camera")
    seconds = _gauge("rdp_recorded_seconds", "Recorded time of published episodes.")
    findings = _gauge("rdp_findings", "Findings that hold for them.", "stage", "severity")
    damaged = _gauge("rdp_damaged_gops", "GOPs that can't be read, by who found it.", "stage")
    for each in figures:
        name, found = each.dataset, each.episodes
        for status in STATUSES:
            episodes.add_metric([name, status], found.by_status[status])
        num_episodes = found.by_status.total()
        num_lost = found.by_status[STATUS_QUARANTINED]
        ratio.add_metric([name], num_lost / num_episodes if num_episodes else 0)
        rows.add_metric([name], found.num_rows)
        seconds.add_metric([name], found.seconds)
        for camera, num_frames in sorted(found.frames_by_camera.items()):
            frames.add_metric([name, camera], num_frames)
        for (stage, severity), number in sorted(found.findings.items()):
            findings.add_metric([name, stage, severity], number)
        for stage in sorted({"quality_results", "scrub", *found.damaged_gops}):
            damaged.add_metric([name, stage], found.damaged_gops[stage])
    yield from (episodes, ratio, rows, frames, seconds, findings, damaged)


def _table_metrics(figures: list[DatasetFigures]) -> Iterator[Metric]:
    versions = _gauge("rdp_table_version", "Latest version of a table.", "table")
    sizes = _gauge("rdp_table_bytes", "Bytes of its files, earlier versions included.", "table")
    for each in figures:
        for table, version in each.versions.items():
            versions.add_metric([each.dataset, table], version)
            sizes.add_metric([each.dataset, table], each.bytes_by_table[table])
    yield from (versions, sizes)


def _lag_metrics(figures: list[DatasetFigures], now_ns: int) -> Iterator[Metric]:
    uploads = _gauge("rdp_uploads", "Uploads that were registered.")
    unpublished = _gauge("rdp_unpublished_uploads", "Those of them that were never published.")
    waiting = _gauge("rdp_oldest_waiting_upload_seconds", "Age of the oldest upload to release.")
    released = _gauge("rdp_last_release_timestamp_seconds", "When the latest release was made.")
    published = _gauge("rdp_last_publish_timestamp_seconds", "When an upload was published last.")
    lags = HistogramMetricFamily(
        "rdp_release_lag_seconds",
        "From upload to the first release that has it, of all released uploads.",
        labels=["dataset"],
    )
    for each in figures:
        name, lag = each.dataset, each.lag
        uploads.add_metric([name], lag.num_uploads)
        unpublished.add_metric([name], lag.num_unpublished)
        since_ns = now_ns if lag.waiting_since_ns is None else lag.waiting_since_ns
        waiting.add_metric([name], max(0, now_ns - since_ns) / NS_PER_S)
        lags.add_metric([name], _buckets(lag.lags_s), sum(lag.lags_s))
        if lag.last_release_ns is not None:
            released.add_metric([name], lag.last_release_ns / NS_PER_S)
        if lag.last_publish_ns is not None:
            published.add_metric([name], lag.last_publish_ns / NS_PER_S)
    yield from (uploads, unpublished, waiting, lags, released, published)


def _buckets(lags_s: tuple[float, ...]) -> list[tuple[str, float]]:
    bounds = [(str(float(bound)), bound) for bound in LAG_BOUNDS_S]
    counts = [(text, float(sum(lag <= bound for lag in lags_s))) for text, bound in bounds]
    return [*counts, ("+Inf", float(len(lags_s)))]


def _gauge(name: str, text: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, text, labels=["dataset", *labels])
