"""What ``frames`` says of itself, from what uploads state."""

from __future__ import annotations

import json

from robot_data_platform.core.schema import camera_fields, vector_field
from robot_data_platform.core.stated_metadata import column_entries, depth_entries, table_entries

STATED = {
    "robot": "arm",
    "control_hz": 50.0,
    "gripper.convention": "zero_is_open",
    "gripper.range": [0.0, 1.0],
    "quaternion_order": "xyzw",
    "observation_state.width": 2,
    "observation_state.names": ["a", "b"],
    "observation_state.unit": ["rad", "percent"],
    "observation_state.limits": [[-1.0, 1.0], None],
}


def test_the_table_says_robot_rate_joints_gripper_and_quaternions() -> None:
    assert table_entries(STATED) == {
        "rdp.robot": "arm",
        "rdp.control_hz": "50.0",
        "rdp.joint_names": '["a", "b"]',
        "rdp.joint_unit": "",
        "rdp.gripper": '{"convention": "zero_is_open", "range": [0.0, 1.0]}',
        "rdp.quaternion_order": "xyzw",
    }


def test_what_nobody_states_is_empty_or_absent() -> None:
    assert table_entries({}) == {
        "rdp.robot": "",
        "rdp.control_hz": "null",
        "rdp.joint_names": "null",
        "rdp.joint_unit": "",
        "rdp.gripper": None,
        "rdp.quaternion_order": None,
    }


def test_a_column_says_what_the_column_of_a_recording_says() -> None:
    field = vector_field(
        "observation_state",
        2,
        ("a", "b"),
        units=("rad", "percent"),
        limits=((-1.0, 1.0), None),
    )
    held = {key.decode(): value.decode() for key, value in field.metadata.items()}
    assert column_entries(STATED, "observation_state").items() <= held.items()
    assert json.loads(held["rdp.limits"]) == [[-1.0, 1.0], [None, None]]
    assert json.loads(held["rdp.units"]) == ["rad", "percent"]
    assert held["rdp.unit"] == ""


def test_one_unit_for_all_takes_the_place_of_a_list() -> None:
    stated = {"action.width": 2, "action.unit": "rad"}
    assert column_entries(stated, "action") == {
        "rdp.unit": "rad",
        "rdp.names": "null",
        "rdp.units": None,
        "rdp.limits": None,
    }


def test_a_signal_of_no_upload_is_left_alone() -> None:
    assert column_entries(STATED, "observation_force") == {}


def test_the_unit_of_depth_is_what_the_columns_of_a_recording_say() -> None:
    stated = {"observation_images_tof.depth_unit_m": 0.001}
    (field, *_) = camera_fields("tof", is_depth=True, depth_unit_m=0.001)
    held = {key.decode(): value.decode() for key, value in field.metadata.items()}
    assert depth_entries(stated, "tof").items() <= held.items()
    assert depth_entries({}, "tof") == {"rdp.depth_unit_m": None}
