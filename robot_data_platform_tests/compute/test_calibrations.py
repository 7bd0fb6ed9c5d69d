"""What is known of each camera is kept with the episode; pictures stay as they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.compute.listed_findings import list_findings
from robot_data_platform.core.calibration import CameraCalibration
from robot_data_platform.core.calibration_json import calibrations_from_json
from robot_data_platform.storage.predicate import equals
from robot_data_platform.testing.rawlog import CAMERA_DELAY_NS, RawlogShape
from robot_data_platform_tests.compute.uploads import ingest, land, published, workplace
from robot_data_platform_tests.formats import droid_files
from robot_data_platform_tests.formats.examples import write_example

SHAPE = RawlogShape(num_episodes=2, num_rows=12)
PLACE = [[0, 0, -1, 1], [1, 0, 0, 0], [0, -1, 0, 0.5], [0, 0, 0, 1]]
PROFILE = f"""
cameras:
  env:
    rename: scene
    intrinsics: {{width_px: 64, height_px: 48, fx: 60, fy: 61, cx: 31.5, cy: 23.5}}
    extrinsics: {{direction: base_from_cam, axes: opencv, matrix: {PLACE}}}
  wrist:
    extrinsics:
      direction: cam_from_base
      axes: opengl
      parent: hand
      xyz_m: [0, 0, 0.1]
      quaternion: {{order: wxyz, values: [1, 0, 0, 0]}}
"""


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    return workplace(tmp_path)


def calibrations(place: Workplace, upload: str) -> list[dict[str, CameraCalibration] | None]:
    """Return what ``episodes`` holds of an upload's cameras, episode by episode."""
    table = place.lake.open("robot", "episodes").read(
        ["calibrations_json"], equals("upload", upload)
    )
    return [
        text and calibrations_from_json(text) for text in table["calibrations_json"].to_pylist()
    ]


def test_every_episode_keeps_its_cameras_under_the_names_they_are_stored_by(
    place: Workplace,
) -> None:
    land(place, "robot", "u1", SHAPE, PROFILE)
    ingest(place, "u1")
    for known in calibrations(place, "u1"):
        assert known is not None
        assert sorted(known) == ["scene", "wrist"]
        scene, wrist = known["scene"], known["wrist"]
        np.testing.assert_array_equal(scene.base_from_cam, PLACE)
        np.testing.assert_array_equal(
            scene.intrinsics_px, [[60, 0, 31.5], [0, 61, 23.5], [0, 0, 1]]
        )
        assert (scene.width_px, scene.height_px) == (64, 48)
        # Where the camera's own +z, backward, is at 0.1 m, the hand is: 0.1 m forward of it.
        np.testing.assert_array_equal(
            wrist.base_from_cam, [[1, 0, 0, 0], [0, -1, 0, 0], [0, 0, -1, -0.1], [0, 0, 0, 1]]
        )
        assert (wrist.parent_frame, wrist.stated_direction, wrist.stated_axes) == (
            "hand",
            "cam_from_base",
            "opengl",
        )


def test_what_the_data_says_of_its_cameras_is_kept_too(place: Workplace, tmp_path: Path) -> None:
    source = write_example(tmp_path / "droid", "droid")
    place.landing.put(source, "robot", "u1", profile="cameras: {ext1: {rename: scene}}")
    ingest(place, "u1")
    (known,) = calibrations(place, "u1")
    assert known is not None
    np.testing.assert_array_equal(known["scene"].intrinsics_px, droid_files.INTRINSICS)
    place_m = known["scene"].base_from_cam
    assert place_m is not None
    assert place_m[:3, 3].tolist() == droid_files.EXT1_VECTOR[:3]
    assert (known["scene"].intrinsics_origin, known["scene"].pose_origin) == ("data", "data")


def test_an_episode_of_which_nobody_knows_a_camera_holds_null(place: Workplace) -> None:
    land(place, "robot", "u1", SHAPE)
    ingest(place, "u1")
    assert calibrations(place, "u1") == [None, None]


def test_a_calibration_changes_no_byte_of_the_video(place: Workplace) -> None:
    hashes = {}
    for dataset, profile in (("plain", None), ("stated", PROFILE.replace("rename: scene", ""))):
        land(place, dataset, f"u-{dataset}", SHAPE, profile)
        ingest(place, f"u-{dataset}")
        rows = place.lake.open(dataset, "gops").read(["gop_key", "sha256"]).sort_by("gop_key")
        hashes[dataset] = rows["sha256"].to_pylist()
    assert hashes["plain"] == hashes["stated"] != []


def test_another_calibration_is_other_content(place: Workplace) -> None:
    digests = []
    for x_m in (1.0, 1.1):
        land(place, "robot", "u1", SHAPE, PROFILE.replace("-1, 1]", f"-1, {x_m}]"))
        ingest(place, "u1")
        digests.append({e.content_digest for e in published(place, "robot", "u1").values()})
    assert digests[0].isdisjoint(digests[1])


def test_a_time_offset_moves_every_picture_of_its_camera_alone(place: Workplace) -> None:
    offset_ns = -3_000_000
    land(place, "robot", "u1", SHAPE, f"cameras: {{env: {{time_offset_ns: {offset_ns}}}}}")
    ingest(place, "u1")
    frames = place.lake.open("robot", "frames").read()
    picture_rows = frames["frame_index"].to_numpy() % SHAPE.rows_per_picture == 0
    offsets = {
        camera: frames[f"observation_images_{camera}_offset_ns"].to_numpy()[picture_rows]
        for camera in SHAPE.cameras
    }
    assert set(offsets["wrist"].tolist()) == {CAMERA_DELAY_NS}
    assert set(offsets["env"].tolist()) == {CAMERA_DELAY_NS + offset_ns}
    told = list_findings(place.lake, "robot", rule="camera_times_are_shifted")
    assert [(f["where"], f["value"], f["unit"]) for f in told] == [("camera=env", -3.0, "ms")] * 2
