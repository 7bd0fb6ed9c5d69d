"""A rate that is not the nominal one is told with both numbers; times stay as recorded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robot_data_platform.formats.profile import load_profile
from robot_data_platform_tests.formats import rawlog_files
from robot_data_platform_tests.formats.reading import by_rule, camera, read_episode, signal


@pytest.mark.parametrize(
    ("stated", "where", "measured_hz", "nominal_hz"),
    [
        ("control_hz: 50", "rows", 100.0, 50.0),
        ("cameras: {env: {fps: 25}}", "camera=env", 30.0, 25.0),
    ],
)
def test_another_rate_than_the_nominal_one_is_told(
    tmp_path: Path, stated: str, where: str, measured_hz: float, nominal_hz: float
) -> None:
    rawlog_files.write_episode(tmp_path)
    found = read_episode(tmp_path, "ep_0", load_profile(stated))
    told = by_rule(found.findings)["rate_as_profile_states"]
    assert (told.where, told.threshold, told.unit) == (where, nominal_hz, "Hz")
    assert told.value == pytest.approx(measured_hz, abs=0.01)
    times = rawlog_files.times()
    np.testing.assert_array_equal(signal(found, "observation_state").timestamp_ns, times)
    assert camera(found, "env").timestamp_ns[0] == times[0]


@pytest.mark.parametrize("stated", ["control_hz: 98", "cameras: {env: {fps: 29.97}}"])
def test_a_rate_that_drifts_a_little_is_the_nominal_one(tmp_path: Path, stated: str) -> None:
    rawlog_files.write_episode(tmp_path)
    assert read_episode(tmp_path, "ep_0", load_profile(stated)).findings == ()
