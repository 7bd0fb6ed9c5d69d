"""The same camera over a session of DROID episodes, told apart by serial numbers."""

from __future__ import annotations

import json
from pathlib import Path

import h5py
import numpy as np
import pytest

from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.compute.listed_findings import FindingFacts, list_findings
from robot_data_platform_tests.compute.uploads import ingest, workplace
from robot_data_platform_tests.formats.droid_files import (
    EXT1,
    EXT1_VECTOR,
    EXT2,
    WRIST,
    write_episode,
)

RULE = "same_camera_stays_put"
HOUR_MS = 3_600_000


def recorded(folder: Path, *, shift_m: float = 0.0, later_ms: int = 0) -> None:
    """Write an episode whose first camera is declared elsewhere, or that was recorded later."""
    write_episode(folder, described={})
    with h5py.File(folder / "trajectory.h5", "r+") as file:
        vector = np.array(EXT1_VECTOR) + np.array([shift_m, 0, 0, 0, 0, 0])
        file[f"observation/camera_extrinsics/{EXT1}_left"][:] = vector
        times = file["observation/timestamp"]
        for name in ("robot_state/read_start", "robot_state/read_end", "control/step_start"):
            times[name][:] += later_ms
        for name in times["cameras"]:
            times[f"cameras/{name}"][:] += later_ms


def ingested(folder: Path, **second: float) -> tuple[Workplace, list[FindingFacts]]:
    place = workplace(folder)
    recorded(folder / "source" / "a")
    recorded(folder / "source" / "b", **second)  # type: ignore[arg-type]
    place.landing.put(folder / "source", "droid", "u1")
    ingest(place, "u1")
    return place, list_findings(place.lake, "droid", rule=RULE)


def test_a_serial_number_is_kept_with_its_camera(tmp_path: Path) -> None:
    place, found = ingested(tmp_path)
    rows = place.lake.open("droid", "episodes").read(["calibrations_json"]).to_pylist()
    for row in rows:
        cameras = json.loads(row["calibrations_json"])
        assert {name: known["serial"] for name, known in cameras.items()} == {
            "ext1": EXT1,
            "ext2": EXT2,
            "wrist": WRIST,
        }
    assert found == []


def test_a_camera_that_is_declared_elsewhere_in_the_same_session_is_told(tmp_path: Path) -> None:
    place, found = ingested(tmp_path, shift_m=0.02)
    (told,) = found
    assert (told["episode_index"], told["severity"], told["unit"]) == (1, "warn", "m")
    assert told["value"] == pytest.approx(0.02, abs=1e-6)
    assert told["where"].startswith(f"camera serial={EXT1} ")
    verdicts = place.lake.open("droid", "episodes").read(["s_verdict"])["s_verdict"].to_pylist()
    assert verdicts == [None, "warn"]


def test_after_a_pause_it_may_be_elsewhere(tmp_path: Path) -> None:
    assert ingested(tmp_path, shift_m=0.02, later_ms=2 * HOUR_MS)[1] == []
