"""Details of a camera survive JSON: other limits judge the very measurements that were made."""

from __future__ import annotations

import json
from dataclasses import asdict, fields, replace

import numpy as np
import pytest

from robot_data_platform.spatial.camera_details import (
    CameraDetails,
    details_from_json,
    details_to_json,
)
from robot_data_platform.spatial.diagnosis import Diagnosis
from robot_data_platform.spatial.mask_sources import MaskSource
from robot_data_platform.spatial.measurements import CameraMeasurements, FrameMeasurements
from robot_data_platform.spatial.proposal import Proposal
from robot_data_platform.spatial.thresholds import THRESHOLDS
from robot_data_platform.spatial.verdict import judge_camera

NUMBERS = {
    field.name: 0.1 + number
    for number, field in enumerate(fields(CameraMeasurements))
    if field.type == "float | None"
}
MEASURED = CameraMeasurements(
    camera="top",
    is_static=True,
    num_frames=2,
    mask_source=MaskSource.GRABCUT,
    frames=(
        FrameMeasurements(frame_index=3, t_ns=2**60 + 1, visible_frac=1 / 3, robot_px=900),
        FrameMeasurements(
            frame_index=9, t_ns=2**60 + 2, visible_frac=1.0, robot_px=0, mask_iou=0.1
        ),
    ),
    not_measured={"lag_ms": "the robot hardly moves"},
    **NUMBERS,
)
PROPOSAL = Proposal(
    parent_from_cam=np.arange(16.0).reshape(4, 4) / 7,
    intrinsics_px=np.eye(3) * 300.1,
    parent_link="base",
    shift_m=0.02,
    turn_deg=1.5,
)
DIAGNOSIS = Diagnosis(
    camera="top",
    cause="camera_has_moved",
    says="the camera is elsewhere",
    group=("camera_has_moved", "principal_point_is_off"),
    score_declared=0.4,
    score_best=0.9,
    score_second=0.5,
    second="focal_length_is_off",
    proposal=PROPOSAL,
)
DETAILS = CameraDetails(measured_as="m_1", status="warn", measured=MEASURED, diagnosis=DIAGNOSIS)


def read_back(details: CameraDetails) -> CameraDetails:
    read = details_from_json(details_to_json(details))
    assert read is not None
    return read


def test_measurements_come_back_with_every_bit() -> None:
    assert read_back(DETAILS).measured == MEASURED


def test_what_was_not_measured_stays_so() -> None:
    bare = CameraMeasurements(camera="top", is_static=False)
    assert read_back(replace(DETAILS, measured=bare, diagnosis=None)).measured == bare


def test_a_proposal_comes_back_with_every_bit() -> None:
    found = read_back(DETAILS).diagnosis
    assert found is not None
    np.testing.assert_equal(asdict(found), asdict(DIAGNOSIS))


def test_the_same_limits_find_the_same() -> None:
    found = judge_camera(read_back(DETAILS).measured, THRESHOLDS)
    assert found == judge_camera(MEASURED, THRESHOLDS)
    assert found


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_number_that_is_not_finite_is_not_measured(value: float) -> None:
    odd = replace(DETAILS, measured=replace(MEASURED, edge_z=value))
    assert read_back(odd).measured.edge_z is None


def test_a_text_of_an_earlier_version_is_no_measurement() -> None:
    text = json.loads(details_to_json(DETAILS))
    del text["measured_as"]
    assert details_from_json(json.dumps(text)) is None
