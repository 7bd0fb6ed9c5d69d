"""Spatial checks of an upload in a lake: what is written, what is not, and accepted proposals."""

from __future__ import annotations

import io
import json
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from robot_data_platform.compute.calibrations import accept, proposals
from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.compute.listed_findings import list_findings
from robot_data_platform.compute.overlays import overlay_picture
from robot_data_platform.compute.registration import find_ingestion
from robot_data_platform.compute.spatial import SpatialResult, write_spatial
from robot_data_platform.core.calibration_json import calibrations_from_json
from robot_data_platform.errors import InvalidInputError, NotFoundError
from robot_data_platform.spatial.robot_loader import robot_named
from robot_data_platform.spatial.thresholds import THRESHOLDS, Band, SpatialThresholds
from robot_data_platform.testing.rawlog import RawlogShape
from robot_data_platform_tests.compute.uploads import (
    IN_PROCESS,
    RUN,
    SETTINGS,
    ingest,
    land,
    versions,
    workplace,
)
from robot_data_platform_tests.golden.reading import CAMERAS, upload_folder
from robot_data_platform_tests.spatial.test_robot_loader import robot_or_skip

for package in ("cv2", "mujoco", "numba"):
    pytest.importorskip(package, reason="it is needed for measuring")

FRONT, ABOVE, WRIST = CAMERAS["aloha"]
Profile = dict[str, dict[str, dict[str, dict[str, object]]]]


def checked(place: Workplace, dataset: str, change: Callable[[Profile], None]) -> SpatialResult:
    """Ingest the golden recording with a changed profile as an upload of its own."""
    source = Path(place.landing_root).parent / f"source-{dataset}"
    shutil.copytree(upload_folder("aloha"), source)
    profile = json.loads((source / "profile.yaml").read_text())
    change(profile)
    (source / "profile.yaml").write_text(json.dumps(profile))
    place.landing.put(source, dataset, f"u-{dataset}")
    result = ingest(place, f"u-{dataset}")["spatial_results"]
    assert isinstance(result, SpatialResult)
    return result


def invert_front(profile: Profile) -> None:
    profile["cameras"][FRONT]["extrinsics"]["direction"] = "cam_from_base"


def check_again(place: Workplace, upload: str) -> SpatialResult:
    return write_spatial(find_ingestion(place, upload, SETTINGS), IN_PROCESS, RUN)


def columns(place: Workplace, dataset: str, *names: str) -> dict[str, object]:
    (row,) = place.lake.open(dataset, "episodes").read(list(names)).to_pylist()
    return dict(row)


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workplace, SpatialResult]:
    robot_or_skip("aloha")
    place = workplace(tmp_path_factory.mktemp("clean"))
    return place, checked(place, "clean", lambda profile: None)


@pytest.fixture(scope="module")
def inverted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workplace, SpatialResult]:
    robot_or_skip("aloha")
    place = workplace(tmp_path_factory.mktemp("inverted"))
    return place, checked(place, "inverted", invert_front)


@pytest.fixture
def mine(inverted: tuple[Workplace, SpatialResult], tmp_path: Path) -> Workplace:
    """A copy of the lake with the inverted camera, to write to."""
    shutil.copytree(Path(inverted[0].lake_root).parent, tmp_path, dirs_exist_ok=True)
    return workplace(tmp_path)


def test_true_calibrations_are_found_ok(clean: tuple[Workplace, SpatialResult]) -> None:
    found = columns(clean[0], "clean", "status", "s_verdict", "s_cameras_ok", "s_num_warn")
    assert found == {
        "status": "ok",
        "s_verdict": "ok",
        "s_cameras_ok": sorted(CAMERAS["aloha"]),
        "s_num_warn": 0,
    }


def test_a_wrong_calibration_flags_its_episode_and_names_the_cause(
    inverted: tuple[Workplace, SpatialResult],
) -> None:
    found = columns(inverted[0], "inverted", "status", "s_verdict", "s_cause", "s_cameras_ok")
    assert found == {
        "status": "flagged",
        "s_verdict": "fail",
        "s_cause": "pose_is_inverted",
        "s_cameras_ok": sorted({ABOVE, WRIST}),
    }


def test_findings_of_space_are_listed_with_the_others(
    inverted: tuple[Workplace, SpatialResult],
) -> None:
    told = list_findings(inverted[0].lake, "inverted", severity="fail")
    assert [(f["rule"], f["where"]) for f in told] == [("robot_is_in_view", f"camera={FRONT}")]


def test_an_overlay_of_each_camera_is_a_small_picture(
    inverted: tuple[Workplace, SpatialResult],
) -> None:
    sheets = inverted[1].overlays
    assert sorted(sheets) == sorted(CAMERAS["aloha"])
    for sheet in sheets.values():
        assert len(sheet) <= 30_000
        assert Image.open(io.BytesIO(sheet)).format == "JPEG"


def test_checking_again_writes_nothing(inverted: tuple[Workplace, SpatialResult]) -> None:
    before = versions(inverted[0].lake, "inverted")
    assert not check_again(inverted[0], "u-inverted").is_new
    assert versions(inverted[0].lake, "inverted") == before


def test_an_accepted_proposal_stands_in_for_what_stays_declared(mine: Workplace) -> None:
    before = columns(mine, "inverted", "calibrations_json")
    accept(mine.lake, "inverted", 0, FRONT, "somebody", RUN)
    check_again(mine, "u-inverted")
    after = columns(mine, "inverted", "calibrations_json", "s_verdict", "s_cause", "status")
    assert after == {**before, "s_verdict": "ok", "s_cause": None, "status": "ok"}


def test_an_acceptance_says_who_and_from_which_finding_once(mine: Workplace) -> None:
    for _ in range(2):
        accept(mine.lake, "inverted", 0, FRONT, "somebody", RUN)
    (row,) = mine.lake.ensure_catalog("calibrations").read().to_pylist()
    version = columns(mine, "inverted", "s_version")["s_version"]
    said = {name: row[name] for name in ("camera", "accepted_by", "cause", "rules_version")}
    assert said == {
        "camera": FRONT,
        "accepted_by": "somebody",
        "cause": "pose_is_inverted",
        "rules_version": version,
    }


def test_what_is_accepted_is_the_true_place(
    mine: Workplace, clean: tuple[Workplace, SpatialResult]
) -> None:
    accepted = accept(mine.lake, "inverted", 0, FRONT, "somebody", RUN)
    truth = calibrations_from_json(
        str(columns(clean[0], "clean", "calibrations_json")["calibrations_json"])
    )
    pose = calibrations_from_json(accepted.calibration_json)[FRONT].base_from_cam
    expected = truth[FRONT].base_from_cam
    assert pose is not None
    assert expected is not None
    np.testing.assert_allclose(pose, expected, atol=1e-9)


def test_a_camera_without_a_proposal_can_not_be_accepted(mine: Workplace) -> None:
    with pytest.raises(NotFoundError, match="no proposed calibration"):
        accept(mine.lake, "inverted", 0, ABOVE, "somebody", RUN)


def test_proposals_tell_cause_and_evidence(inverted: tuple[Workplace, SpatialResult]) -> None:
    (facts,) = proposals(inverted[0].lake, "inverted")
    assert (facts["camera"], facts["cause"]) == (FRONT, "pose_is_inverted")
    assert facts["score_best"] > facts["score_second"] + 0.3 > facts["score_declared"]


def test_a_frame_shows_the_projected_robot_in_its_colours(
    inverted: tuple[Workplace, SpatialResult],
) -> None:
    place = inverted[0]
    plain = overlay_picture(place.lake, "inverted", 0, 200, ABOVE)
    proposed = overlay_picture(place.lake, "inverted", 0, 200, FRONT)
    assert (plain == (255, 40, 40)).all(axis=2).sum() > 200
    assert (proposed == (40, 255, 40)).all(axis=2).sum() > 200


class PictureWasReadError(Exception):
    """A blob of pictures was asked for."""


@pytest.fixture
def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PictureWasReadError

    monkeypatch.setattr("robot_data_platform.compute.camera_input.read_blobs", refuse)


def judged_by(place: Workplace, limits: SpatialThresholds) -> SpatialResult:
    mine = find_ingestion(place, "u-inverted", SETTINGS)
    return write_spatial(mine, IN_PROCESS, RUN, limits=limits)


@pytest.mark.usefixtures("without_pictures")
def test_other_limits_judge_what_was_measured_and_read_no_picture(mine: Workplace) -> None:
    names = ("s_verdict", "s_cause", "s_cameras_ok", "s_num_warn", "s_num_fail")
    before, sheets = columns(mine, "inverted", *names), check_again(mine, "u-inverted").overlays
    everywhere = replace(THRESHOLDS, camera_distance_m=Band(0.0, 90.0, "m", "any place is far"))
    result = judged_by(mine, everywhere)
    far = list_findings(mine.lake, "inverted", rule="camera_distance_is_plausible")
    assert [f["threshold"] for f in far] == [0.0] * 3
    after = columns(mine, "inverted", *names)
    assert after == {**before, "s_num_warn": int(str(before["s_num_warn"])) + 3}
    assert (result.is_new, result.overlays) == (True, sheets)
    (proposed,) = proposals(mine.lake, "inverted")
    assert (proposed["camera"], proposed["can_be_accepted"]) == (FRONT, True)


@pytest.mark.usefixtures("without_pictures")
def test_a_cause_is_known_again_when_earlier_limits_come_back(mine: Workplace) -> None:
    blind = replace(THRESHOLDS, in_view=Band(-1.0, -2.0, "1", "anything is in view"))
    judged_by(mine, blind)
    judged_by(mine, THRESHOLDS)
    assert columns(mine, "inverted", "s_cause") == {"s_cause": "pose_is_inverted"}


@pytest.mark.usefixtures("without_pictures")
def test_a_camera_that_other_limits_put_in_doubt_has_its_pictures_read(mine: Workplace) -> None:
    strict = replace(THRESHOLDS, motion_auc=Band(1.0, 0.5, "1", "nothing is good enough"))
    with pytest.raises(PictureWasReadError):
        judged_by(mine, strict)


@pytest.mark.usefixtures("without_pictures")
def test_another_declaration_is_never_judged_by_old_measurements(mine: Workplace) -> None:
    accept(mine.lake, "inverted", 0, FRONT, "somebody", RUN)
    with pytest.raises(PictureWasReadError):
        judged_by(mine, THRESHOLDS)


UNKNOWN = "robot: test_arm"


def test_a_robot_without_a_known_model_is_not_measured_with_the_reason(tmp_path: Path) -> None:
    place = workplace(tmp_path)
    land(place, "robot", "u1", RawlogShape(num_episodes=1), UNKNOWN)
    ingest(place, "u1")
    found = columns(place, "robot", "s_verdict", "s_num_info", "s_num_warn")
    assert found == {"s_verdict": None, "s_num_info": 1, "s_num_warn": 0}
    (told,) = list_findings(place.lake, "robot", rule="robot_is_known")
    assert told["message"].startswith("Not measured: No package is known")


def test_an_episode_that_can_not_be_projected_has_no_overlay(tmp_path: Path) -> None:
    place = workplace(tmp_path)
    land(place, "robot", "u1", RawlogShape(num_episodes=1), UNKNOWN)
    ingest(place, "u1")
    with pytest.raises(InvalidInputError, match="No package is known"):
        overlay_picture(place.lake, "robot", 0, 3, "env")


@pytest.fixture
def without_mujoco(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    robot_named.cache_clear()
    monkeypatch.setitem(sys.modules, "mujoco", None)
    yield
    robot_named.cache_clear()


@pytest.mark.usefixtures("without_mujoco")
def test_without_its_packages_nothing_is_measured_and_no_verdict_is_lost(mine: Workplace) -> None:
    before = versions(mine.lake, "inverted")
    assert not check_again(mine, "u-inverted").is_new
    assert versions(mine.lake, "inverted") == before
    checked(mine, "bare", lambda profile: None)
    found = columns(mine, "bare", "s_verdict", "status")
    assert found == {"s_verdict": None, "status": "ok"}
    (told,) = list_findings(mine.lake, "bare", rule="robot_is_known")
    assert "not installed" in told["message"]
