"""A lake with one upload whose front camera is declared the wrong way round."""

from __future__ import annotations

import functools
import json
import shutil
from pathlib import Path

from robot_data_platform_tests.cli.rdp import Json, rdp
from robot_data_platform_tests.golden.reading import CAMERAS, upload_folder
from robot_data_platform_tests.spatial.test_robot_loader import robot_or_skip

DATASET = "golden"
FRONT = CAMERAS["aloha"][0]


@functools.cache
def golden_lab(folder: Path) -> Path:
    """Return a folder with such a lake, made once."""
    robot_or_skip("aloha")
    folder.mkdir()
    shutil.copytree(upload_folder("aloha"), folder / "recording")
    path = folder / "recording" / "profile.yaml"
    profile = json.loads(path.read_text())
    profile["cameras"][FRONT]["extrinsics"]["direction"] = "cam_from_base"
    path.write_text(json.dumps(profile))
    rdp(folder, "ingest", "recording", "--dataset", DATASET, "--json").json()
    return folder


def accepted(folder: Path) -> Json:
    """Accept what is proposed for the front camera, in a copy, and return what is printed."""
    copy = folder.with_name(f"{folder.name}-accepted")
    shutil.copytree(golden_lab(folder), copy, dirs_exist_ok=True)
    options = ("--episode", 0, "--camera", FRONT, "--by", "somebody", "--json")
    return rdp(copy, "calibration", "accept", DATASET, *options).json()
