"""Depth cameras on the command line: looked at, ingested, and shown in 16 bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from robot_data_platform.reader import RobotLanceDataset
from robot_data_platform_tests.cli.rdp import rdp
from robot_data_platform_tests.compute.depth_uploads import STILLS, VIDEO, rows_of, write_source


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a recording, and with the lake that was made of it by default settings."""
    folder = tmp_path_factory.mktemp("lab")
    write_source(folder / "recording")
    done = rdp(folder, "ingest", "recording", "--dataset", "robot", "--json")
    assert done.exit_code == 0, done.err
    return folder


def test_inspect_says_which_cameras_are_depth(folder: Path) -> None:
    (episode,) = rdp(folder, "inspect", "recording", "--json").json()["episodes"]
    found = {c["name"]: (c["is_depth"], c["codec"], c["pix_fmt"]) for c in episode["cameras"]}
    assert found == {
        "env": (False, "h264", "yuv420p"),
        STILLS: (True, None, None),
        VIDEO: (True, "hevc", "gray12le"),
    }
    shown = rdp(folder, "inspect", "recording").squeezed()
    assert f"{VIDEO}depthhevc64x48" in shown
    assert f"{STILLS}depthpictures" in shown


def test_a_video_of_depth_that_can_be_copied_is_and_the_rest_is_stored_without_loss(
    folder: Path,
) -> None:
    (episode,) = rdp(folder, "episodes", "robot", "--json").json()
    assert {name: c["profile"] for name, c in episode["cameras"].items()} == {
        "env": "copy",
        STILLS: "lossless",
        VIDEO: "copy",
    }
    rows = RobotLanceDataset(folder / ".rdp" / "lake", "robot")
    for camera in (STILLS, VIDEO):
        shown = np.stack([item[f"observation.images.{camera}"][..., 0] for item in rows[:]])
        np.testing.assert_array_equal(shown, rows_of(camera))


@pytest.mark.parametrize("camera", [STILLS, VIDEO])
def test_a_frame_of_depth_is_a_png_of_16_bits(folder: Path, camera: str) -> None:
    png = folder / f"{camera}.png"
    done = rdp(folder, "frame", "robot", 0, "--row", 11, "--camera", camera, "-o", png)
    assert done.exit_code == 0, done.err
    with Image.open(png) as picture:
        assert picture.mode == "I;16"
        np.testing.assert_array_equal(np.asarray(picture), rows_of(camera)[11])
