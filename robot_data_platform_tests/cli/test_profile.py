"""`rdp profile init`."""

from __future__ import annotations

from pathlib import Path

from robot_data_platform.formats.profile import load_profile
from robot_data_platform_tests.cli.conftest import Lab
from robot_data_platform_tests.cli.rdp import rdp


def test_the_draft_is_printed_alone_so_that_it_can_be_kept(lab: Lab) -> None:
    done = lab.rdp("profile", "init", "recording")
    assert (done.exit_code, done.err) == (0, "")
    assert load_profile(done.out).joints.names == ("joint_0", "joint_1", "joint_2", "joint_3")


def test_a_drafted_file_is_a_profile_that_the_other_commands_take(lab: Lab, tmp_path: Path) -> None:
    file = tmp_path / "drafted.yaml"
    done = lab.rdp("profile", "init", "recording", "-o", file)
    assert done.exit_code == 0
    assert f"Wrote {file}: " in done.out
    assert "  joints.unit: " in done.out
    plain, stated = (
        lab.rdp_json("inspect", "recording", *options) for options in ((), ("--profile", file))
    )
    assert stated == plain


def test_a_file_that_somebody_filled_in_is_not_overwritten(lab: Lab, tmp_path: Path) -> None:
    file = tmp_path / "filled.yaml"
    file.write_text("robot: mine\n")
    done = lab.rdp("profile", "init", "recording", "-o", file)
    assert done.exit_code == 2
    assert "filled.yaml' is there already" in done.err
    assert file.read_text() == "robot: mine\n"


def test_a_file_that_can_not_be_written_is_told(lab: Lab, tmp_path: Path) -> None:
    done = lab.rdp("profile", "init", "recording", "-o", tmp_path / "no" / "such.yaml")
    assert done.exit_code == 1
    assert "can't be written: No such file or directory" in done.err


def test_the_json_has_the_text_and_what_is_to_be_filled_in(lab: Lab) -> None:
    facts = lab.rdp_json("profile", "init", "recording")
    assert (facts["format"], facts["num_episodes"], facts["written"]) == ("rawlog", 4, None)
    # The first episode's video is cut off, so the second one was looked at.
    assert facts["looked_at"] == "episode_001"
    (camera,) = facts["cameras"]
    assert (camera["name"], camera["fps"], camera["header_fps"]) == ("env", 25, 30)
    keys = [entry["key"] for entry in facts["fill_in"]]
    assert keys[:2] == ["joints.unit", "gripper.convention"]


def test_what_is_no_recording_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no recording")
    done = rdp(tmp_path, "profile", "init", ".")
    assert done.exit_code == 1
    assert "in no known format" in done.err
