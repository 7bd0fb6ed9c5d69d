"""Every recording that nobody here made becomes rows of a lake, or is refused for its own reason.

What each holds was counted with other libraries: see the tests of its format for values and frames.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from robot_data_platform.core.finding import STATUS_QUARANTINED
from robot_data_platform.errors import DataFaultError, ErrorKind, InvalidInputError
from robot_data_platform.reader import RobotLanceDataset
from robot_data_platform_tests.compute.uploads import ingest, published, workplace
from robot_data_platform_tests.formats.rawlog.test_real_data import GO2, OPENARM


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A source and what becomes of it."""

    path: str
    profile: str | None = None
    format: str | None = None
    converted: int
    rows: int
    quarantined: int = 0


RECORDED = (
    Recorded(path="hdf5_isaaclab_franka_stack", profile="control_hz: 20", converted=26, rows=5_899),
    Recorded(path="lerobot_minimal_fixtures/datasets/lerobotv2", converted=2, rows=6),
    Recorded(path="lerobot_minimal_fixtures/datasets/lerobotv2-image", converted=2, rows=6),
    Recorded(path="lerobot_minimal_fixtures/datasets/lerobotv3", converted=2, rows=6),
    Recorded(path="lerobot_v1_arrow/aloha_sim_insertion_human", converted=1, rows=500),
    Recorded(path="lerobot_v1_arrow/aloha_sim_transfer_cube_human", converted=1, rows=400),
    Recorded(path="lerobot_v1_arrow/pusht", converted=1, rows=161),
    Recorded(path="lerobot_v1_arrow/umi_cup_in_the_wild", converted=1, rows=400),
    Recorded(path="lerobot_v1_arrow/xarm_lift_medium", converted=1, rows=25),
    Recorded(path="openarm_raw_multirate", profile=OPENARM, converted=2, rows=745 + 203),
    Recorded(
        path="pickle_adroit_door",
        profile="{control_hz: 25, allow_pickle: true}",
        converted=25,
        rows=6_729,
    ),
    Recorded(path="rlds_bridge_octo", profile="control_hz: 5", converted=25, rows=250),
    Recorded(path="rosbag2_go2_vicon", profile=GO2, converted=1, rows=11_162),
)
REFUSED = {
    "lerobot_minimal_fixtures/invalid/v2-missing-episodes": ErrorKind.MISSING_FILE,
    "lerobot_minimal_fixtures/invalid/v3-missing-episodes-parquet": ErrorKind.MISSING_FILE,
    "pickle_adroit_door": ErrorKind.INVALID_PROFILE,
    "video_edge_torchcodec": ErrorKind.UNKNOWN_FORMAT,
}
ELSEWHERE = (
    *("lerobot_v20_gr1_sim", "lerobot_v21_g1_inspire", "lerobot_v30_piper_2cam"),  # test_real_data
    *("mcap_ros2_sensor_msgs", "rosbag2_small"),  # formats/ros/test_real_data
)


def folder_of(shared_data: Path, path: str) -> Path:
    folder = shared_data / path
    if not folder.is_dir():
        pytest.skip(f"no recordings in {folder}")
    return folder


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda recorded: recorded.path)
def test_every_row_of_every_episode_arrives(
    shared_data: Path, tmp_path: Path, recorded: Recorded
) -> None:
    folder = folder_of(shared_data, recorded.path)
    place = workplace(tmp_path)
    place.landing.put(folder, "real", "u1", profile=recorded.profile, format_hint=recorded.format)
    ingest(place, "u1")
    episodes = published(place, "real", "u1").values()
    lost = [e.source_key for e in episodes if e.status == STATUS_QUARANTINED]
    assert (len(lost), len(episodes) - len(lost)) == (recorded.quarantined, recorded.converted)
    rows = RobotLanceDataset(place.lake_root, "real")
    assert len(rows) == recorded.rows
    first, last = rows[0], rows[len(rows) - 1]
    assert first.keys() == last.keys()


@pytest.mark.parametrize("path", REFUSED)
def test_what_is_no_recording_is_refused_for_its_own_reason(
    shared_data: Path, tmp_path: Path, path: str
) -> None:
    place = workplace(tmp_path)
    place.landing.put(folder_of(shared_data, path), "real", "u1")
    with pytest.raises((DataFaultError, InvalidInputError)) as caught:
        ingest(place, "u1")
    assert caught.value.kind is REFUSED[path]
    assert place.lake.find("real", "episodes") is None


def test_every_folder_has_its_test(shared_data: Path) -> None:
    named = {path.split("/")[0] for path in (*(r.path for r in RECORDED), *REFUSED, *ELSEWHERE)}
    assert {folder.name for folder in shared_data.iterdir() if folder.is_dir()} <= named
