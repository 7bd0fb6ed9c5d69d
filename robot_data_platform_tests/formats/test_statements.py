"""A profile adds what the data leaves out, and contradictions are told."""

from __future__ import annotations

import numpy as np
import pytest

from robot_data_platform.core.recording import (
    CameraStream,
    EpisodeRef,
    PictureSequence,
    Recording,
    Signal,
)
from robot_data_platform.errors import InvalidInputError
from robot_data_platform.formats.camera_keys import Camera
from robot_data_platform.formats.joint_keys import Joints
from robot_data_platform.formats.profile import Profile
from robot_data_platform.formats.statements import apply_profile
from robot_data_platform_tests.formats.reading import by_rule, camera, signal

TIMES = np.arange(3, dtype=np.int64)


def recording(names: tuple[str, ...] | None = None) -> Recording:
    """State of two dimensions, action of three, cameras a and b."""
    return Recording(
        ref=EpisodeRef(source_key="e"),
        signals=tuple(
            Signal(name=name, timestamp_ns=TIMES, values=np.ones((3, width)), names=given)
            for name, width, given in (
                ("observation_state", 2, names),
                ("action", 3, None),
                ("observation_force", 2, None),
            )
        ),
        cameras=tuple(
            CameraStream(
                name=name,
                timestamp_ns=TIMES,
                pictures=PictureSequence(num_frames=3, read=lambda: iter(())),
            )
            for name in ("a", "b")
        ),
        task=None,
        robot="from_data",
    )


def test_names_and_unit_go_to_the_state_and_to_actions_of_its_width_alone() -> None:
    stated = apply_profile(recording(), Profile(joints=Joints(unit="deg", names=("x", "y"))))
    state = signal(stated, "observation_state")
    assert (state.names, state.unit) == (("x", "y"), "deg")
    assert signal(stated, "action").unit is None
    assert signal(stated, "observation_force").names is None
    assert stated.findings == ()


def test_values_stay_as_recorded_whatever_sign_and_offset_say() -> None:
    stated = apply_profile(recording(), Profile(joints=Joints(sign=(-1, 1), offset=(5.0, 0.0))))
    np.testing.assert_array_equal(signal(stated, "observation_state").values, np.ones((3, 2)))


@pytest.mark.parametrize("names", [("x", "y", "z"), ("y", "x")], ids=["too many", "other order"])
def test_names_that_contradict_the_data_are_told_and_not_used(names: tuple[str, ...]) -> None:
    stated = apply_profile(recording(("x", "y")), Profile(joints=Joints(names=names)))
    assert signal(stated, "observation_state").names == ("x", "y")
    assert "joint_names_as_profile_states" in by_rule(stated.findings)


def test_the_robot_is_the_profiles_and_the_task_the_datas_where_it_has_one() -> None:
    stated = apply_profile(recording(), Profile(robot="aloha", task="fold"))
    assert (stated.robot, stated.task) == ("aloha", "fold")
    assert apply_profile(recording(), Profile()).robot == "from_data"


def test_a_camera_is_renamed_and_a_stated_one_that_is_absent_is_told() -> None:
    profile = Profile(cameras={"a": Camera(rename="top"), "c": Camera()})
    stated = apply_profile(recording(), profile)
    assert [c.name for c in stated.cameras] == ["top", "b"]
    assert camera(stated, "top").timestamp_ns is TIMES
    assert by_rule(stated.findings)["cameras_as_profile_states"].where == "camera=c"


def test_a_camera_can_not_be_renamed_to_another_ones_name() -> None:
    with pytest.raises(InvalidInputError, match="two cameras the name 'b'"):
        apply_profile(recording(), Profile(cameras={"a": Camera(rename="b")}))
