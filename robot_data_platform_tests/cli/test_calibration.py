"""`rdp calibration show | accept`, and `rdp frame --overlay`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from robot_data_platform_tests.cli.golden_lab import DATASET, FRONT, accepted, golden_lab
from robot_data_platform_tests.cli.rdp import rdp

for package in ("cv2", "mujoco", "numba"):
    pytest.importorskip(package, reason="it is needed for measuring")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return golden_lab(tmp_path_factory.mktemp("calibration") / "lab")


def test_a_person_reads_the_cause_and_what_is_proposed(folder: Path) -> None:
    done = rdp(folder, "calibration", "show", DATASET)
    assert done.exit_code == 0
    assert FRONT in done.out
    assert "the transform is base_from_cam" in done.out


def test_an_accepted_calibration_is_checked_again(folder: Path) -> None:
    said = accepted(folder)
    assert (said["camera"], said["accepted_by"]) == (FRONT, "somebody")
    copy = folder.with_name("lab-accepted")
    assert rdp(copy, "calibration", "show", DATASET, "--json").json() == []


def test_what_is_not_proposed_is_refused(folder: Path) -> None:
    done = rdp(folder, "calibration", "accept", DATASET, "--episode", 0, "--camera", "wrist_left")
    assert done.exit_code == 1
    assert "no proposed calibration" in done.err


def test_an_overlay_is_written_as_a_picture(folder: Path) -> None:
    options = ("--row", 200, "--camera", FRONT, "-o", "x.png", "--overlay")
    assert rdp(folder, "frame", DATASET, 0, *options).exit_code == 0
    picture = np.asarray(Image.open(folder / "x.png"))
    assert (picture == (40, 255, 40)).all(axis=2).any()
