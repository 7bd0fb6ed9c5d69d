"""Faults of the golden recordings: each is found, and its cause is named."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
import pytest

from robot_data_platform.spatial import diagnosis
from robot_data_platform.spatial.camera_checks import difference
from robot_data_platform.spatial.check import EpisodeCheck, check_episode
from robot_data_platform.spatial.continuous_causes import continuous_causes
from robot_data_platform.spatial.masked_camera import masked_camera
from robot_data_platform.spatial.measure import measure_episode
from robot_data_platform_tests.golden.faults import gross_faults, moved
from robot_data_platform_tests.golden.reading import (
    CAMERAS,
    Fault,
    Golden,
    calibration,
    episode,
    golden,
)
from robot_data_platform_tests.spatial.suite import outcome
from robot_data_platform_tests.spatial.test_robot_loader import robot_or_skip

for package in ("cv2", "mujoco", "numba", "scipy"):
    pytest.importorskip(package, reason="it is needed for measuring")

FRONT, ABOVE, WRIST = CAMERAS["aloha"]
ROBOT = {"aloha": "aloha", "panda": "panda_2f85"}


@functools.cache
def recording(name: str) -> Golden:
    robot_or_skip(ROBOT[name])
    return golden(name)


def causes(checked: EpisodeCheck) -> dict[str, str]:
    return {c.name: c.diagnosis.cause for c in checked.cameras if c.diagnosis is not None}


@pytest.mark.parametrize(("name", "seed"), [("aloha", None), ("panda", None), ("aloha", 0)])
def test_a_recording_without_a_fault_is_ok(name: str, seed: int | None) -> None:
    rng = None if seed is None else np.random.default_rng(seed)
    checked = check_episode(episode(recording(name), with_masks=rng))
    assert {camera.status.value for camera in checked.cameras} == {"ok"}
    assert causes(checked) == {}


# All of them are tried by `suite`.
@pytest.mark.parametrize(
    ("name", "fault", "seed"),
    [
        ("aloha", "swapped cameras", None),
        ("aloha", "sign of joint 1", None),
        ("aloha", "mirrored", 0),
        ("panda", "OpenGL axes, wrist", None),
        ("panda", "inverse, wrist", 0),
        ("panda", "radians as degrees", None),
    ],
)
def test_a_gross_fault_is_found_and_named(name: str, fault: str, seed: int | None) -> None:
    change, cause = gross_faults(name)[fault]
    result = outcome(recording(name), fault, change, cause, seed)
    assert result.is_found, result.told
    assert result.is_named, result.told


# A camera on the hand sees the robot from 10 cm, where centimetres are much. That of the Panda sees
# a gripper that is round about its line of sight: only the background tells how it is turned.
@pytest.mark.parametrize(
    ("name", "camera", "moved_m"),
    [("aloha", FRONT, 0.03), ("aloha", WRIST, 0.045), ("panda", "wrist", 0.045)],
)
def test_a_moved_camera_is_proposed_back_to_its_place(
    name: str, camera: str, moved_m: float
) -> None:
    rng = np.random.default_rng(3)
    fault = Fault(place={camera: moved(rng, shift_m=moved_m, turn_deg=2)})
    checked = check_episode(episode(recording(name), fault, with_masks=rng))
    (found,) = (one for one in checked.cameras if one.name == camera)
    assert found.proposed is not None
    truth = calibration(recording(name), camera)[0]
    shift_m, turn_deg = difference(truth, found.proposed.parent_from_cam)
    assert shift_m < 0.015
    assert turn_deg < 0.6


@pytest.mark.parametrize(("seed", "is_right"), [(0, False), (4, True)])
def test_a_place_on_the_hand_is_proposed_without_masks_only_where_it_is_right(
    seed: int, is_right: bool
) -> None:
    rng = np.random.default_rng([seed, *WRIST.encode()])
    shift_m, turn_deg = rng.uniform(0.01, 0.05), rng.uniform(0.5, 3)
    fault = Fault(place={WRIST: moved(rng, shift_m=shift_m, turn_deg=turn_deg)})
    checked = check_episode(episode(recording("aloha"), fault))
    (found,) = (one for one in checked.cameras if one.name == WRIST)
    assert found.is_doubtful
    truth = calibration(recording("aloha"), WRIST)[0]
    left = np.inf, np.inf
    if found.proposed is not None:
        left = difference(truth, found.proposed.parent_from_cam)
    is_near = left[0] < 0.015 and left[1] < 0.6
    assert (found.proposed is not None, is_near) == (is_right, is_right)


def test_what_a_place_near_by_explains_is_not_searched_for_among_mistakes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(3)
    fault = Fault(place={"wrist": moved(rng, shift_m=0.03, turn_deg=2)})
    searched: list[Sequence[str]] = []
    monkeypatch.setattr(diagnosis, "discrete_causes", lambda _, names: searched.append(names))
    checked = check_episode(episode(recording("panda"), fault, with_masks=rng))
    assert (causes(checked), searched) == ({"wrist": "camera_has_moved"}, [])


def test_a_deviation_that_is_told_covers_masks_better_than_what_is_declared() -> None:
    rng = np.random.default_rng([0, *b"wrist"])
    fault = Fault(place={"wrist": moved(rng, shift_m=0.049, turn_deg=2)})
    seen = episode(recording("panda"), fault, with_masks=rng)
    (wrist,) = (camera for camera in seen.cameras if camera.name == "wrist")
    masked = masked_camera(seen, wrist)
    assert masked is not None
    found = continuous_causes(masked)
    assert found
    assert min(fit.iou for fit in found) > masked.declared_iou


@pytest.mark.parametrize("late_ms", [-60.0, 100.0])
def test_lag_is_told_within_20_ms(late_ms: float) -> None:
    seen = episode(recording("aloha"), Fault(late_ms=late_ms))
    lags = {found.camera: found.lag_ms for found in measure_episode(seen, with_grabcut=False)}
    assert lags == {name: pytest.approx(late_ms, abs=20) for name in CAMERAS["aloha"]}
