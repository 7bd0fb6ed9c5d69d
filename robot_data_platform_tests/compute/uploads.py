"""Small uploads landed and ingested step by step, and what a lake shows of them afterwards.

As a program, with arguments LAKE LANDING UPLOAD NUM_WORKERS, it says that it waits, and ingests
the upload when it is given a line.
"""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robot_data_platform.compute.episodes_map import Fanout
from robot_data_platform.compute.findings import record_source_findings
from robot_data_platform.compute.frames import write_frames
from robot_data_platform.compute.gop_video import write_gop_video
from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.compute.publish import publish_episodes
from robot_data_platform.compute.quality import write_quality
from robot_data_platform.compute.registration import find_ingestion, register_upload
from robot_data_platform.compute.spatial import write_spatial
from robot_data_platform.core.finding import STATUS_QUARANTINED
from robot_data_platform.core.run import RunInfo
from robot_data_platform.curation.release import create_release
from robot_data_platform.curation.spec import SplitSpec
from robot_data_platform.reader import RobotLanceDataset
from robot_data_platform.reader.items import Item
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.predicate import equals
from robot_data_platform.testing.pictures import read_number
from robot_data_platform.testing.rawlog import RawlogEpisode, RawlogShape, write_rawlog
from robot_data_platform.video.settings import GopSettings
from robot_data_platform_tests.video.videos import write_video

SETTINGS = GopSettings(profile="anchored", gop_size=4, crf=12)
IN_PROCESS = Fanout(num_workers=1)
RUN = RunInfo(run_id="run-1", asset="test", code_version="0", created_ns=1_800_000_000 * 10**9)
TABLES = ("gops", "frames", "episodes", "quality", "spatial")
CATALOG = ("uploads", "releases", "lineage")

Step = Callable[[Workplace, str, Fanout, RunInfo], object]


def _register(place: Workplace, upload: str, fanout: Fanout, run: RunInfo) -> object:
    planned = register_upload(place, upload, SETTINGS, run)
    return record_source_findings(planned.ingestion, planned.findings, run)


def _cut(place: Workplace, upload: str, fanout: Fanout, run: RunInfo) -> object:
    return write_gop_video(find_ingestion(place, upload, SETTINGS), fanout, run)


def _align(place: Workplace, upload: str, fanout: Fanout, run: RunInfo) -> object:
    return write_frames(find_ingestion(place, upload, SETTINGS), fanout, run)


def _publish(place: Workplace, upload: str, fanout: Fanout, run: RunInfo) -> object:
    return publish_episodes(find_ingestion(place, upload, SETTINGS), fanout, run)


def _check(place: Workplace, upload: str, fanout: Fanout, run: RunInfo) -> object:
    return write_quality(find_ingestion(place, upload, SETTINGS), fanout, run)


def _check_space(place: Workplace, upload: str, fanout: Fanout, run: RunInfo) -> object:
    return write_spatial(find_ingestion(place, upload, SETTINGS), fanout, run)


STEPS: Mapping[str, Step] = {
    "raw_episodes": _register,
    "gop_video": _cut,
    "frames": _align,
    "episodes": _publish,
    "quality_results": _check,
    "spatial_results": _check_space,
}
"""What each asset of the graph calls, in the graph's order."""


def workplace(folder: Path) -> Workplace:
    return Workplace(lake_root=str(folder / "lake"), landing_root=str(folder / "landing"))


def land(
    place: Workplace,
    dataset: str,
    upload: str,
    shape: RawlogShape,
    profile: str | None = None,
) -> tuple[RawlogEpisode, ...]:
    """Land an upload; one of the same id is replaced, files first and its marker last."""
    landing = Path(place.landing_root)
    draft = landing / ".drafts" / upload
    episodes = write_rawlog(draft, shape, _write_video)
    (landing / "_uploads" / f"{upload}.json").unlink(missing_ok=True)
    shutil.rmtree(landing / dataset / upload, ignore_errors=True)
    place.landing.put(draft, dataset, upload, profile=profile)
    shutil.rmtree(draft)
    return episodes


def _write_video(path: Path, num_frames: int, draw: Callable[[int], np.ndarray]) -> Path:
    return write_video(path, num_frames, options={"preset": "ultrafast", "crf": "8"}, picture=draw)


def ingest(
    place: Workplace, upload: str, fanout: Fanout = IN_PROCESS, run: RunInfo = RUN
) -> dict[str, object]:
    """Run every step; return what each came to, by the asset's name."""
    return {name: step(place, upload, fanout, run) for name, step in STEPS.items()}


def released(folder: Path, shape: RawlogShape, name: str) -> Workplace:
    """Return a lake of one upload, ``u1``, and a release of it."""
    place = workplace(folder)
    land(place, "robot", "u1", shape)
    ingest(place, "u1")
    create_release(place.lake, "robot", SplitSpec(), RUN, name=name)
    return place


def copied(place: Workplace, folder: Path) -> Workplace:
    """Return a copy of a lake and its landing folder, to be changed by one test."""
    shutil.copytree(Path(place.lake_root).parent, folder, dirs_exist_ok=True)
    return workplace(folder)


def versions(lake: Lake, *datasets: str) -> dict[str, int]:
    """Return the latest version of every table of some datasets and of the catalog."""
    found = {f"{name}/{table}": lake.find(name, table) for name in datasets for table in TABLES}
    found |= {name: lake.find_catalog(name) for name in CATALOG}
    return {name: table.version for name, table in found.items() if table is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """One row of ``episodes``."""

    episode_id: str
    episode_index: int
    source_key: str
    status: str
    status_reason: str | None
    content_digest: str


def published(place: Workplace, dataset: str, upload: str) -> dict[str, Published]:
    """Return what an upload shows in ``episodes``, by source key."""
    table = Lake(place.lake_root).find(dataset, "episodes")
    if table is None:
        return {}
    rows = table.read(list(Published.__slots__), equals("upload", upload)).to_pylist()
    assert len({row["source_key"] for row in rows}) == len(rows)
    return {row["source_key"]: Published(**row) for row in rows}


def assert_holds(
    place: Workplace, dataset: str, upload: str, episodes: Iterable[RawlogEpisode]
) -> None:
    """Hold every row and picture of an upload, as a reader gives them, against what was written."""
    shown = published(place, dataset, upload)
    found = {key: row for key, row in shown.items() if row.status != STATUS_QUARANTINED}
    expected = {episode.source_key: episode for episode in episodes}
    assert found.keys() == expected.keys()
    for key, episode in expected.items():
        assert_episode(place, dataset, found[key].episode_index, episode)


def assert_episode(
    place: Workplace, dataset: str, episode_index: int, episode: RawlogEpisode
) -> None:
    cameras = list(episode.picture_number)
    rows = RobotLanceDataset(place.lake_root, dataset, episodes=[episode_index], cameras=cameras)
    items = rows.__getitems__(range(len(rows)))
    np.testing.assert_array_equal([item["observation.state"] for item in items], episode.state)
    np.testing.assert_array_equal([item["action"] for item in items], episode.action)
    for camera, numbers in episode.picture_number.items():
        shown = [read_number(item[f"observation.images.{camera}"]) for item in items]
        assert shown == numbers.tolist(), f"camera {camera} of {episode.source_key}"
    assert {item["task"] for item in items} == {episode.task}


def assert_same_items(items: Sequence[Item], expected: Sequence[Item]) -> None:
    """Hold what a reader gives against what it gave before: the same keys, the same bytes."""
    assert len(items) == len(expected) > 0
    for item, before in zip(items, expected, strict=True):
        assert item.keys() == before.keys()
        for key, value in before.items():
            np.testing.assert_array_equal(item[key], value, err_msg=key)


def doubled(lake: Lake, dataset: str) -> dict[str, list[tuple[object, ...]]]:
    """Return the keys that a table holds more than once, whether visible or not."""
    keys = {
        "gops": ["gop_key"],
        "frames": ["episode_index", "frame_index"],
        "episodes": ["episode_index"],
    }
    twice = {}
    for name, columns in keys.items():
        rows = lake.open(dataset, name).read(columns)
        counts = Counter(zip(*(rows[column].to_pylist() for column in columns), strict=True))
        twice[name] = [key for key, count in counts.items() if count > 1]
    return {name: found for name, found in twice.items() if found}


def main(arguments: Sequence[str]) -> None:
    lake_root, landing_root, upload, num_workers = arguments
    place = Workplace(lake_root=lake_root, landing_root=landing_root)
    print("waiting", flush=True)  # noqa: T201 (the parent waits for it)
    sys.stdin.readline()
    ingest(place, upload, Fanout(num_workers=int(num_workers)))


if __name__ == "__main__":
    main(sys.argv[1:])
