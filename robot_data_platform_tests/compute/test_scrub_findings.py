"""What a scrub finds, in ``quality``: once, and only of what is published."""

from __future__ import annotations

from pathlib import Path

import pytest

from robot_data_platform.compute.listed_findings import list_findings
from robot_data_platform.compute.maintenance import maintain_dataset
from robot_data_platform.compute.scrub_findings import record_damaged_gops
from robot_data_platform.core.run import RunInfo
from robot_data_platform.storage.lake import Lake
from robot_data_platform.telemetry.episode_figures import episode_figures
from robot_data_platform.testing.lake import build_lake
from robot_data_platform.testing.lake_model import LakeModel, LakeShape
from robot_data_platform_tests.reader.test_faults import SECOND_GOP, replace_gop

RUN = RunInfo(run_id="r", asset="maintenance", code_version="0", created_ns=0)
DAMAGED = (1 << 28) + 1
"""``gop_key`` of the second GOP of the second episode's only camera."""


@pytest.fixture
def model(tmp_path: Path) -> LakeModel:
    shape = LakeShape(num_rows=20, cameras=("env",), width_px=64, height_px=48, gop_size=4)
    return build_lake(tmp_path, num_episodes=2, shape=shape)


def test_a_damaged_gop_is_a_finding_of_its_episode_and_counted(model: LakeModel) -> None:
    replace_gop(model, SECOND_GOP, is_hashed=False, change=slice(0, 20))
    lake = Lake(model.root)
    report = maintain_dataset(lake, model.dataset, RUN)
    assert report.damaged_gops == [DAMAGED]
    (finding,) = list_findings(lake, model.dataset, rule="gop_hash_matches")
    assert (finding["episode_index"], finding["severity"]) == (1, "fail")
    assert finding["where"] == f"camera=env gop_key={DAMAGED}"
    assert episode_figures(lake, model.dataset).damaged_gops == {"scrub": 1}


def test_damage_is_written_once(model: LakeModel) -> None:
    lake = Lake(model.root)
    for _ in range(3):
        record_damaged_gops(lake, model.dataset, [DAMAGED], RUN)
    assert lake.open(model.dataset, "quality").count_rows() == 1


def test_damage_of_rows_that_nothing_names_is_not_written(model: LakeModel) -> None:
    lake = Lake(model.root)
    where = "episode_index = 1"
    lake.open(model.dataset, "episodes").lance.delete(where)
    quality = record_damaged_gops(lake, model.dataset, [DAMAGED], RUN)
    assert quality is not None
    assert quality.count_rows() == 0


def test_without_damage_nothing_is_made(model: LakeModel) -> None:
    lake = Lake(model.root)
    assert record_damaged_gops(lake, model.dataset, [], RUN) is None
    assert lake.find(model.dataset, "quality") is None
