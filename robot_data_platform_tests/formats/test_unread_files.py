"""A file of which nothing is read is told of, whatever the format."""

from __future__ import annotations

from pathlib import Path

import pytest

from robot_data_platform.core.finding import Severity
from robot_data_platform.formats.profile import Profile
from robot_data_platform.formats.registry import detect_format
from robot_data_platform.storage.source import LocalSource
from robot_data_platform_tests.formats.examples import write_example
from robot_data_platform_tests.formats.reading import by_rule

PROFILE = Profile(control_hz=50.0, allow_pickle=True)
FORMATS = ("aloha_hdf5", "robomimic_hdf5", "droid", "npz", "pickle", "mcap", "rosbag2", "rosbag1")


@pytest.mark.parametrize("name", FORMATS)
def test_a_recording_whose_name_was_changed_is_told_of(name: str, tmp_path: Path) -> None:
    write_example(tmp_path, name)
    source = LocalSource(tmp_path)
    reader = detect_format(source)
    assert reader.list_episodes(source, PROFILE).findings == ()
    (tmp_path / "another").write_bytes((tmp_path / source.list_files()[-1]).read_bytes())
    (tmp_path / "profile.yaml").write_text("control_hz: 50\n")
    finding = by_rule(reader.list_episodes(source, PROFILE).findings)["files_are_read"]
    assert (finding.severity, finding.value) == (Severity.INFO, 1)
    assert "1 files were left out: got another, " in finding.message
