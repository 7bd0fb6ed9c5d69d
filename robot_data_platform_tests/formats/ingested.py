"""A folder of recordings in any format, ingested into a lake of its own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robot_data_platform.compute.findings import record_source_findings
from robot_data_platform.compute.frames import write_frames
from robot_data_platform.compute.gop_video import write_gop_video
from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.compute.listed_findings import FindingFacts, list_findings
from robot_data_platform.compute.publish import publish_episodes
from robot_data_platform.compute.quality import write_quality
from robot_data_platform.compute.registration import register_upload
from robot_data_platform.core.recording import FloatArray, Picture
from robot_data_platform.reader import RobotLanceDataset
from robot_data_platform.reader.items import Item
from robot_data_platform.video.settings import GopSettings
from robot_data_platform_tests.compute.uploads import (
    IN_PROCESS,
    RUN,
    SETTINGS,
    Published,
    published,
    workplace,
)
from robot_data_platform_tests.formats.coded_video import code_of

DATASET, UPLOAD = "robot", "u1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    """What an upload became."""

    place: Workplace
    shown: dict[str, Published]
    """By source key."""

    def codes(self, key: str, camera: str) -> list[int]:
        """Return the numbers that a camera's pictures spell, row by row, as a reader gives them."""
        return [code_of(picture) for picture in self.pictures(key, camera)]

    def pictures(self, key: str, camera: str, step: int = 1) -> list[Picture]:
        """Return a camera's pictures at every so many rows, as a reader gives them."""
        return [item[f"observation.images.{camera}"] for item in self._items(key, [camera], step)]

    def values(self, key: str, feature: str = "observation.state") -> FloatArray:
        """Return the values of a feature, (N, D), as a reader gives them."""
        return np.stack([item[feature] for item in self._items(key, [])])

    def _items(self, key: str, cameras: list[str], step: int = 1) -> list[Item]:
        index = self.shown[key].episode_index
        rows = RobotLanceDataset(self.place.lake_root, DATASET, episodes=[index], cameras=cameras)
        return rows.__getitems__(range(0, len(rows), step))

    def findings(self, rule: str) -> list[FindingFacts]:
        """Return what one rule found."""
        return list_findings(self.place.lake, DATASET, rule=rule)


def ingest_folder(root: Path, folder: Path, settings: GopSettings = SETTINGS) -> Ingested:
    """Land a folder of recordings and ingest it."""
    place = workplace(folder)
    place.landing.put(root, DATASET, UPLOAD)
    planned = register_upload(place, UPLOAD, settings, RUN)
    record_source_findings(planned.ingestion, planned.findings, RUN)
    for step in (write_gop_video, write_frames, publish_episodes, write_quality):
        step(planned.ingestion, IN_PROCESS, RUN)
    return Ingested(place=place, shown=published(place, DATASET, UPLOAD))
