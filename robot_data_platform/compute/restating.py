"""What ``frames`` says of its numbers, held to what the published uploads state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robot_data_platform.compute.conventions import published_conventions
from robot_data_platform.core.conventions import first_stated
from robot_data_platform.core.schema import camera_fields, depth_cameras, signal_names
from robot_data_platform.core.stated_metadata import column_entries, depth_entries, table_entries
from robot_data_platform.storage.column_metadata import restate

if TYPE_CHECKING:
    from robot_data_platform.storage.lake import Lake
    from robot_data_platform.storage.table import LakeTable


def restate_frames(lake: Lake, dataset: str, episodes: LakeTable) -> None:
    """Make ``frames`` say what the uploads say that a version of ``episodes`` publishes.

    Published uploads never contradict each other; where one of them is corrected, the statement
    follows. Of what some leave unsaid, the first one to say it counts.
    """
    published = published_conventions(lake, dataset, episodes)
    stated = first_stated(published.values())
    if stated:
        frames = lake.open(dataset, "frames")
        of_columns = {name: column_entries(stated, name) for name in signal_names(frames.schema)}
        for camera in depth_cameras(frames.schema):
            entries = depth_entries(stated, camera)
            of_columns |= {field.name: entries for field in camera_fields(camera)}
        restate(frames.uri, table_entries(stated), of_columns)
