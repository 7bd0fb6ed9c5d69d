"""Uploads of one dataset agree, or are refused by name, or are converted as declared."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.compute.listed_findings import list_findings
from robot_data_platform.core.finding import STATUS_QUARANTINED
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.reader import RobotLanceDataset
from robot_data_platform_tests.compute.signal_uploads import NUM_ROWS, Columns, land_signals, waves
from robot_data_platform_tests.compute.uploads import (
    IN_PROCESS,
    RUN,
    STEPS,
    ingest,
    published,
    versions,
    workplace,
)
from robot_data_platform_tests.formats import hdf5_files

UR = ("shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3")
"""In the order of the arm."""
UR_BY_ALPHABET = tuple(sorted(UR))
"""As its driver publishes them."""
ARM = waves("shoulder", "gripper")


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    return workplace(tmp_path)


def states(place: Workplace) -> list[list[float]]:
    """Return the state of every published row, in the order of the episodes' indices."""
    rows = RobotLanceDataset(place.lake_root, "robot")
    return [item["observation.state"].tolist() for item in rows.__getitems__(range(len(rows)))]


def refusal(place: Workplace, upload: str) -> DataFaultError:
    """Return what an upload is refused with, and check that nothing of it was written."""
    before = versions(place.lake, "robot")
    with pytest.raises(DataFaultError) as caught:
        ingest(place, upload)
    assert caught.value.kind is ErrorKind.MIXED_CONVENTIONS
    assert versions(place.lake, "robot") == before
    assert published(place, "robot", upload) == {}
    return caught.value


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        (
            "joints: {unit: deg}",
            "joints: {unit: rad}",
            "observation_state.unit: got 'rad', expected 'deg'",
        ),
        (
            "joints: {unit: [rad, percent]}",
            "joints: {unit: [rad, m]}",
            "observation_state.unit: got ['rad', 'm'], expected ['rad', 'percent']",
        ),
        (
            "gripper: {convention: zero_is_open}",
            "gripper: {convention: zero_is_closed}",
            "gripper.convention: got 'zero_is_closed', expected 'zero_is_open'",
        ),
        (
            "gripper: {range: [0, 0.08]}",
            "gripper: {range: [0, 1]}",
            "gripper.range: got [0.0, 1.0], expected [0.0, 0.08]",
        ),
        (
            "quaternion_order: wxyz",
            "quaternion_order: xyzw",
            "quaternion_order: got 'xyzw', expected 'wxyz'",
        ),
    ],
    ids=["unit", "unit of one joint", "gripper polarity", "gripper range", "quaternion order"],
)
def test_uploads_whose_profiles_contradict_each_other_are_not_mixed(
    place: Workplace, first: str, second: str, told: str
) -> None:
    land_signals(place, "u1", ARM, profile=first)
    ingest(place, "u1")
    land_signals(place, "u2", ARM, profile=second)
    message = str(refusal(place, "u2"))
    assert told in message
    assert "Upload 'u2' can't go into dataset 'robot'" in message
    assert "upload 'u1'" in message


def test_an_upload_at_another_rate_is_refused_with_both_rates(place: Workplace) -> None:
    land_signals(place, "u1", ARM, control_hz=25)
    ingest(place, "u1")
    land_signals(place, "u2", ARM, control_hz=30)
    assert "control_hz: got 30.0, expected 25.0" in str(refusal(place, "u2"))


def test_a_rate_that_drifts_is_the_same_rate(place: Workplace) -> None:
    land_signals(place, "u1", ARM, control_hz=20)
    ingest(place, "u1")
    land_signals(place, "u2", ARM, control_hz=18.35)
    ingest(place, "u2")
    assert len(published(place, "robot", "u2")) == 1


def test_joints_in_another_order_are_refused_with_both_orders(place: Workplace) -> None:
    land_signals(place, "u1", waves(*UR))
    ingest(place, "u1")
    land_signals(place, "u2", waves(*UR_BY_ALPHABET))
    message = str(refusal(place, "u2"))
    assert f"got {list(UR_BY_ALPHABET)}, expected {list(UR)}" in message
    assert "`joints.order`" in message


def test_joints_in_another_order_are_converted_by_a_declared_order(place: Workplace) -> None:
    land_signals(place, "u1", waves(*UR))
    ingest(place, "u1")
    land_signals(place, "u2", waves(*UR_BY_ALPHABET), profile=f"joints: {{order: {list(UR)}}}")
    ingest(place, "u2")
    expected = np.column_stack([waves(*UR)[name] for name in UR])
    np.testing.assert_array_equal(states(place), [*expected, *expected])
    (told,) = list_findings(place.lake, "robot", rule="joints_as_profile_orders")
    assert str(list(UR_BY_ALPHABET)) in str(told["message"])


def test_degrees_and_a_turned_gripper_are_converted_as_declared(place: Workplace) -> None:
    mine = padded({"shoulder": [0, 1.5707964], "gripper": [0, 0.25]})
    theirs = padded({"shoulder": [0, 90], "gripper": [1, 0.75]})
    land_signals(
        place,
        "u1",
        mine,
        profile="joints: {unit: [rad, null]}\ngripper: {convention: zero_is_open}",
    )
    ingest(place, "u1")
    land_signals(
        place,
        "u2",
        theirs,
        profile="""
            joints:
              unit: [deg, null]
              stored_as: {unit: [rad, null], scale: [0.017453292519943295, -1], shift: [0, 1]}
            gripper: {convention: zero_is_open}
        """,
    )
    ingest(place, "u2")
    first, second = np.array_split(states(place), 2)
    np.testing.assert_allclose(first, second, atol=1e-6)


def padded(columns: Mapping[str, Sequence[float]]) -> Columns:
    """Return the columns, each with its last value over and over up to the usual rows."""
    return {
        name: np.pad(np.array(values, np.float32), (0, NUM_ROWS - len(values)), mode="edge")
        for name, values in columns.items()
    }


@pytest.mark.parametrize("second", ["rgb", "bgr"])
def test_pictures_of_either_channel_order_become_rgb(
    place: Workplace, tmp_path: Path, second: str
) -> None:
    picture = np.zeros((48, 64, 3), dtype=np.uint8)
    picture[:, :32, 0] = picture[:, 32:, 2] = 255  # red at the left, blue at the right
    for upload, order in (("u1", "rgb"), ("u2", second)):
        source = tmp_path / upload
        source.mkdir()
        path = hdf5_files.write_episode(source / "episode_0.hdf5")
        stored = picture if order == "rgb" else picture[:, :, ::-1]
        hdf5_files.add(path, "top", np.stack([stored] * hdf5_files.ROWS))
        profile = f"control_hz: 50\npicture_channel_order: {order}"
        place.landing.put(source, "robot", upload, profile=profile)
        ingest(place, upload)
    rows = RobotLanceDataset(place.lake_root, "robot", cameras=["top"])
    items = rows.__getitems__(range(len(rows)))
    assert len(items) == 2 * hdf5_files.ROWS
    for item in items:
        shown = item["observation.images.top"].astype(int)
        assert shown[:, :28, 0].min() > 200 > 60 > shown[:, :28, 2].max()
        assert shown[:, 36:, 2].min() > 200 > 60 > shown[:, 36:, 0].max()


def test_what_only_one_upload_states_is_told_and_taken_for_both(place: Workplace) -> None:
    land_signals(place, "u1", ARM, profile="joints: {unit: rad}")
    ingest(place, "u1")
    land_signals(place, "u2", ARM, profile="quaternion_order: wxyz")
    ingest(place, "u2")
    told = {f["where"]: f for f in list_findings(place.lake, "robot")}
    assert told["observation_state.unit"]["rule"] == "conventions_are_stated"
    assert "got nothing, expected 'rad', as in upload 'u1'" in str(
        told["observation_state.unit"]["message"]
    )
    assert "got 'wxyz', expected nothing" in str(told["quaternion_order"]["message"])


def test_an_episode_of_another_order_than_its_upload_is_put_in_quarantine(
    place: Workplace,
) -> None:
    land_signals(place, "u1", waves(*UR), waves(*UR_BY_ALPHABET), waves(*UR))
    ingest(place, "u1")
    shown = published(place, "robot", "u1")
    status = {key: episode.status for key, episode in shown.items()}
    assert [key for key, s in status.items() if s == STATUS_QUARANTINED] == ["episode_001"]
    reason = shown["episode_001"].status_reason or ""
    assert f"got {list(UR_BY_ALPHABET)}, expected {list(UR)}" in reason


def statement(place: Workplace) -> tuple[object, object]:
    """Return the unit that ``frames`` states, of the table and of the column."""
    frames = place.lake.open("robot", "frames")
    column = frames.schema.field("observation_state").metadata[b"rdp.unit"].decode()
    return frames.metadata["rdp.joint_unit"], column


def test_the_only_upload_may_be_corrected_and_the_table_says_so(place: Workplace) -> None:
    land_signals(place, "u1", ARM, profile="joints: {unit: deg}")
    ingest(place, "u1")
    assert statement(place) == ("deg", "deg")
    land_signals(place, "u1", ARM, profile="joints: {unit: rad}")
    ingest(place, "u1")
    assert statement(place) == ("rad", "rad")
    assert len(published(place, "robot", "u1")) == 1


def test_a_correction_that_contradicts_another_upload_is_refused(place: Workplace) -> None:
    for upload in ("u1", "u2"):
        land_signals(place, upload, ARM, profile="joints: {unit: deg}")
        ingest(place, upload)
    land_signals(place, "u1", ARM, profile="joints: {unit: rad}")
    with pytest.raises(DataFaultError, match="upload 'u2'"):
        ingest(place, "u1")
    assert statement(place) == ("deg", "deg")
    assert len(published(place, "robot", "u1")) == 1


def test_of_two_that_contradict_each_other_the_later_to_publish_is_refused(
    place: Workplace,
) -> None:
    units = {"u1": "deg", "u2": "rad"}
    for upload, unit in units.items():
        land_signals(place, upload, ARM, profile=f"joints: {{unit: {unit}}}")
    for step in ("raw_episodes", "gop_video", "frames"):
        for upload in units:
            STEPS[step](place, upload, IN_PROCESS, RUN)
    STEPS["episodes"](place, "u2", IN_PROCESS, RUN)
    with pytest.raises(DataFaultError, match=r"'u1'.* got 'deg', expected 'rad'") as caught:
        STEPS["episodes"](place, "u1", IN_PROCESS, RUN)
    assert caught.value.kind is ErrorKind.MIXED_CONVENTIONS
    assert published(place, "robot", "u1") == {}
    assert statement(place) == ("rad", "rad")


def test_an_upload_that_agrees_writes_no_new_statement(place: Workplace) -> None:
    for upload in ("u1", "u2"):
        land_signals(place, upload, ARM, profile="joints: {unit: deg}")
        ingest(place, upload)
    frames = place.lake.open("robot", "frames")
    properties = frames.transaction_properties()
    assert properties["rdp.run_id"] == RUN.run_id


def test_the_table_says_gripper_quaternions_limits_and_units_of_each_joint(
    place: Workplace,
) -> None:
    profile = """
        joints: {unit: [rad, percent], limits: [[-3, 3], null]}
        gripper: {convention: zero_is_open, range: [0, 100], joints: [gripper]}
        quaternion_order: xyzw
    """
    land_signals(place, "u1", ARM, profile=profile)
    ingest(place, "u1")
    frames = place.lake.open("robot", "frames")
    column = frames.schema.field("observation_state").metadata
    assert json.loads(column[b"rdp.units"]) == ["rad", "percent"]
    assert json.loads(column[b"rdp.limits"]) == [[-3, 3], [0, 100]]
    assert json.loads(frames.metadata["rdp.gripper"]) == {
        "convention": "zero_is_open",
        "range": [0, 100],
    }
    assert frames.metadata["rdp.quaternion_order"] == "xyzw"


def test_values_beyond_the_stated_range_of_a_gripper_are_flagged(place: Workplace) -> None:
    opening = np.full(12, 0.5, dtype=np.float32)
    opening[[3, 7]] = 1.04
    land_signals(
        place,
        "u1",
        {"shoulder": waves("shoulder")["shoulder"], "gripper": opening},
        profile="gripper: {convention: zero_is_closed, range: [0, 1], joints: [gripper]}",
    )
    ingest(place, "u1")
    (told,) = list_findings(place.lake, "robot", rule="state_is_within_limits")
    assert told["value"] == 2
    assert "'gripper'" in str(told["message"])


def test_values_beyond_the_joint_limits_are_flagged(place: Workplace) -> None:
    degrees = {name: values * 90 for name, values in ARM.items()}
    land_signals(
        place, "u1", degrees, profile="joints: {unit: rad, limits: [[-3.2, 3.2], [-3.2, 3.2]]}"
    )
    ingest(place, "u1")
    (told,) = list_findings(place.lake, "robot", rule="state_is_within_limits")
    beyond = sum(int(np.count_nonzero(np.abs(values) > 3.3)) for values in degrees.values())
    assert told["value"] == beyond > 10
