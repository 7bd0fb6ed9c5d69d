"""DROID folders are read by name, with the times, places and claims that they come with."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import Recording, VideoSegment
from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.formats.droid import DroidFormat
from robot_data_platform.formats.profile import Profile
from robot_data_platform.storage.source import LocalSource
from robot_data_platform_tests.formats.coded_video import write_video
from robot_data_platform_tests.formats.droid_files import (
    EXT1,
    EXT2,
    EXT2_VECTOR,
    ROWS,
    UUID,
    WRIST,
    Plan,
    joint_positions,
    metadata,
    row_ms,
    write_episode,
)
from robot_data_platform_tests.formats.reading import (
    by_rule,
    camera,
    list_folder,
    read_episode,
    refusal,
    shown_codes,
    signal,
)

FOLDER = "success/2023-07-08/Sat_Jul__8_08:57:28_2023"
KEY = f"{FOLDER}/trajectory.h5"
ONE_CAMERA = Plan(cameras={EXT1: range(ROWS)})


def read(root: Path, profile: Profile | None = None) -> Recording:
    return read_episode(root, KEY, profile)


def told(recording: Recording, rule: str) -> list[Finding]:
    """Return the findings of a rule."""
    return [finding for finding in recording.findings if finding.rule == rule]


def test_every_folder_is_an_episode_in_natural_order(tmp_path: Path) -> None:
    for name in ("b_10", "b_9", "deep/er/a"):
        write_episode(tmp_path / name, ONE_CAMERA)
    listing = list_folder(tmp_path)
    keys = [ref.source_key for ref in listing.episodes]
    assert keys == ["b_9/trajectory.h5", "b_10/trajectory.h5", "deep/er/a/trajectory.h5"]
    assert listing.episodes[0].files == (
        f"b_9/metadata_{UUID}.json",
        f"b_9/recordings/MP4/{EXT1}.mp4",
        "b_9/trajectory.h5",
    )
    assert listing.findings == ()


def test_the_source_itself_may_be_the_episode(tmp_path: Path) -> None:
    write_episode(tmp_path)
    assert [ref.source_key for ref in list_folder(tmp_path).episodes] == ["trajectory.h5"]
    assert len(read_episode(tmp_path, "trajectory.h5").cameras) == 3


def test_files_that_are_not_read_are_told(tmp_path: Path) -> None:
    folder = write_episode(tmp_path / FOLDER)
    (folder / "recordings" / "SVO").mkdir()
    (folder / "recordings" / "SVO" / f"{WRIST}.svo").write_bytes(b"svo")
    (tmp_path / "README.md").write_text("about")
    (tmp_path / "profile.yaml").write_text("version: 1")
    finding = by_rule(list_folder(tmp_path).findings)["files_are_read"]
    assert (finding.value, finding.severity) == (2, Severity.INFO)


def test_state_and_action_are_the_joints_and_nothing_else_is_lost(tmp_path: Path) -> None:
    write_episode(tmp_path / FOLDER)
    recording = read(tmp_path)
    np.testing.assert_array_equal(signal(recording, "observation_state").values, joint_positions())
    np.testing.assert_array_equal(signal(recording, "action").values, joint_positions() + 0.5)
    assert (signal(recording, "action").unit, recording.robot) == ("rad", "panda")
    assert {s.name for s in recording.signals} == {
        "action",
        "action_gripper_position",
        "action_robot_state_joint_positions",
        "observation_camera_extrinsics_wrist",
        "observation_cartesian_position",
        "observation_controller_info_movement_enabled",
        "observation_gripper_position",
        "observation_prev_command_successful",
        "observation_skip_action",
        "observation_state",
    }
    assert recording.metadata["observation_state"] == "observation/robot_state/joint_positions"


def test_a_good_episode_has_nothing_doubtful(tmp_path: Path) -> None:
    write_episode(tmp_path / FOLDER)
    findings = read(tmp_path).findings
    assert [(f.rule, f.severity) for f in findings] == [("columns_are_read", Severity.INFO)]


def test_rows_lie_where_the_state_was_read_and_pictures_where_they_were_taken(
    tmp_path: Path,
) -> None:
    write_episode(tmp_path / FOLDER)
    recording = read(tmp_path)
    row_ns = (row_ms() * 1_000_000).tolist()
    assert signal(recording, "action").timestamp_ns.tolist() == row_ns
    taken = camera(recording, "ext1").timestamp_ns
    assert (taken - np.array(row_ns)).tolist() == [-21_000_000] * ROWS
    clock = f"observation/timestamp/cameras/{EXT1}_estimated_capture (ms)"
    assert recording.metadata["clock/ext1"] == clock
    assert recording.metadata["clock"] == "observation/timestamp/robot_state/read_start (ms)"


def test_videos_are_cameras_by_role_and_show_their_own_frames(tmp_path: Path) -> None:
    codes = {WRIST: range(100, 108), EXT1: range(200, 208), EXT2: range(300, 308)}
    write_episode(tmp_path / FOLDER, Plan(cameras=codes))
    recording = read(tmp_path)
    for role, first in (("wrist", 100), ("ext1", 200), ("ext2", 300)):
        assert shown_codes(camera(recording, role)) == [*range(first, first + ROWS)]


def test_roles_follow_from_the_types_where_no_description_states_them(tmp_path: Path) -> None:
    codes = {WRIST: range(100, 108), EXT1: range(200, 208), EXT2: range(300, 308)}
    write_episode(tmp_path / FOLDER, Plan(cameras=codes), described={})
    recording = read(tmp_path)
    assert [camera(recording, role).name for role in ("wrist", "ext1", "ext2")]
    assert shown_codes(camera(recording, "wrist"))[0] == 100
    assert shown_codes(camera(recording, "ext2"))[0] == 300


def test_a_camera_of_no_role_is_named_by_its_serial(tmp_path: Path) -> None:
    write_episode(tmp_path / FOLDER, Plan(cameras={"555": range(ROWS)}))
    assert [c.name for c in read(tmp_path).cameras] == ["camera_555"]


def test_the_stereo_video_is_a_camera_of_its_own(tmp_path: Path) -> None:
    write_episode(tmp_path / FOLDER, Plan(cameras={EXT1: range(8), f"{EXT1}-stereo": range(8)}))
    recording = read(tmp_path)
    assert [c.name for c in recording.cameras] == ["ext1", "ext1_stereo"]
    assert camera(recording, "ext1_stereo").calibration is None


def test_contradicting_roles_are_flagged(tmp_path: Path) -> None:
    swapped = metadata(wrist_cam_serial=EXT1, ext1_cam_serial=WRIST)
    write_episode(tmp_path / FOLDER, described=swapped)
    found = told(read(tmp_path), "camera_roles_as_declared")
    assert {f.where for f in found} == {"camera=wrist", "camera=ext1"}


def test_a_camera_without_video_is_left_out_and_told(tmp_path: Path) -> None:
    write_episode(tmp_path / FOLDER, Plan(cameras={EXT1: range(ROWS), EXT2: range(ROWS)}))
    finding = by_rule(read(tmp_path).findings)["camera_is_recorded"]
    assert (finding.where, finding.severity) == ("camera=wrist", Severity.WARN)


@pytest.mark.parametrize("damage", ["absent", "standing", "short", "float"])
def test_pictures_without_usable_times_get_those_of_their_rows(tmp_path: Path, damage: str) -> None:
    folder = write_episode(tmp_path / FOLDER, ONE_CAMERA)
    with h5py.File(folder / "trajectory.h5", "a") as file:
        times = file["observation/timestamp/cameras"]
        taken = times[f"{EXT1}_estimated_capture"][()]
        for key in (f"{EXT1}_estimated_capture", f"{EXT1}_frame_received"):
            del times[key]
        broken = {"standing": np.full(ROWS, taken[0]), "short": taken[:-1], "float": taken / 3}
        if damage in broken:
            times[f"{EXT1}_estimated_capture"] = broken[damage]
    recording = read(tmp_path)
    places = [f.where for f in told(recording, "camera_times_are_recorded")]
    assert places == [f"camera={EXT1}"]
    row_ns = signal(recording, "action").timestamp_ns
    assert camera(recording, "ext1").timestamp_ns.tolist() == row_ns.tolist()


def test_rows_that_lie_nearer_to_the_picture_of_another_step_are_counted(tmp_path: Path) -> None:
    folder = write_episode(tmp_path / FOLDER, ONE_CAMERA)
    with h5py.File(folder / "trajectory.h5", "a") as file:
        file[f"observation/timestamp/cameras/{EXT1}_estimated_capture"][...] = row_ms() - 50
    (finding,) = told(read(tmp_path), "pictures_match_their_steps")
    assert finding.value == ROWS  # 17 ms to the next one; the last row has no next one
    assert "-50.0 ms" in finding.message


def test_times_in_nanoseconds_are_read_as_such_and_told(tmp_path: Path) -> None:
    folder = write_episode(tmp_path / FOLDER, ONE_CAMERA)
    with h5py.File(folder / "trajectory.h5", "a") as file:
        file["observation/timestamp/robot_state/read_start"][...] = row_ms() * 1_000_000 + 7
    recording = read(tmp_path)
    expected = (row_ms() * 1_000_000 + 7).tolist()
    assert signal(recording, "action").timestamp_ns.tolist() == expected
    assert len(told(recording, "time_unit_as_layout_states")) == 1


@pytest.mark.parametrize(
    "times",
    [row_ms() * 1000, row_ms().astype(np.float64), row_ms()[::-1].copy(), row_ms() * 0],
    ids=["microseconds", "floats", "backwards", "standing"],
)
def test_rows_without_a_usable_clock_are_refused(tmp_path: Path, times: np.ndarray) -> None:
    folder = write_episode(tmp_path / FOLDER, ONE_CAMERA)
    with h5py.File(folder / "trajectory.h5", "a") as file:
        del file["observation/timestamp/robot_state/read_start"]
        file["observation/timestamp/robot_state/read_start"] = times
    error = refusal(tmp_path, KEY)
    assert error.kind is ErrorKind.TIME_NOT_INCREASING
    assert "read_start" in str(error)


def test_a_trajectory_without_times_needs_a_rate(tmp_path: Path) -> None:
    folder = write_episode(tmp_path / FOLDER, ONE_CAMERA)
    with h5py.File(folder / "trajectory.h5", "a") as file:
        del file["observation/timestamp"]
    with pytest.raises(InvalidInputError, match="State `control_hz`") as caught:
        read(tmp_path)
    assert caught.value.kind is ErrorKind.INVALID_PROFILE
    times = signal(read(tmp_path, Profile(control_hz=10.0)), "action").timestamp_ns
    assert times[1] == 100_000_000


def test_what_the_episode_says_of_itself_is_metadata(tmp_path: Path) -> None:
    write_episode(tmp_path / FOLDER)
    recording = read(tmp_path)
    assert recording.task == "Do any task"
    assert recording.metadata["uuid"] == UUID
    assert recording.metadata["/robot_serial_number"] == "panda-295341-1325480"
    assert recording.metadata["serial/wrist"] == WRIST


def test_another_length_than_declared_is_flagged_with_both_numbers(tmp_path: Path) -> None:
    write_episode(tmp_path / FOLDER, described=metadata(trajectory_length=ROWS + 5))
    finding = by_rule(read(tmp_path).findings)["rows_as_declared"]
    assert (finding.value, finding.threshold) == (ROWS, ROWS + 5)


def test_a_failure_is_flagged_and_kept(tmp_path: Path) -> None:
    plan = Plan(attributes={"success": False})
    folder = FOLDER.replace("success", "failure")
    write_episode(tmp_path / folder, plan, described=metadata(success=False))
    rules = by_rule(read_episode(tmp_path, f"{folder}/trajectory.h5").findings)
    assert "episode_is_successful" in rules
    assert "outcome_as_declared" not in rules


def test_contradicting_outcomes_are_flagged(tmp_path: Path) -> None:
    write_episode(tmp_path / FOLDER, Plan(attributes={"success": False}))
    finding = by_rule(read(tmp_path).findings)["outcome_as_declared"]
    assert "attribute `success` says False" in finding.message
    assert "the folder's name says True" in finding.message


def test_a_damaged_description_is_flagged_and_the_episode_is_read(tmp_path: Path) -> None:
    folder = write_episode(tmp_path / FOLDER)
    (folder / f"metadata_{UUID}.json").write_text('{"uuid": ')
    recording = read(tmp_path)
    assert by_rule(recording.findings)["metadata_is_readable"].severity is Severity.FAIL
    assert len(recording.cameras) == 3


@pytest.mark.parametrize("odd", [10**400, float("nan"), None, "x", [], {}, True])
def test_odd_values_in_a_description_do_not_stop_the_episode(tmp_path: Path, odd: object) -> None:
    keys = ("current_task", "success", "trajectory_length", "wrist_cam_serial", "robot_serial")
    odd_values = {**dict.fromkeys(keys, odd), "ext1_cam_extrinsics": [odd] * 6}
    write_episode(tmp_path / FOLDER, described=metadata(**odd_values))
    assert len(read(tmp_path).cameras) == 3


def test_two_descriptions_are_refused(tmp_path: Path) -> None:
    folder = write_episode(tmp_path / FOLDER)
    (folder / "metadata_other.json").write_text("{}")
    assert refusal(tmp_path, KEY).kind is ErrorKind.METADATA_CONTRADICTION


def test_recordings_that_have_lost_their_trajectory_are_refused_by_name(tmp_path: Path) -> None:
    write_episode(tmp_path / "other")
    folder = write_episode(tmp_path / FOLDER)
    (folder / "trajectory.h5").unlink()
    error = refusal(tmp_path, KEY)
    assert (error.kind, error.facts["path"]) == (ErrorKind.MISSING_FILE, KEY)


def test_a_truncated_trajectory_costs_only_itself(tmp_path: Path) -> None:
    write_episode(tmp_path / "other")
    path = write_episode(tmp_path / FOLDER) / "trajectory.h5"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    error = refusal(tmp_path, KEY)
    assert (error.kind, error.facts["path"]) == (ErrorKind.UNREADABLE_FILE, KEY)
    assert len(read_episode(tmp_path, "other/trajectory.h5").cameras) == 3


@pytest.mark.parametrize("name", [f"recordings/MP4/{EXT1}.mp4", "trajectory.h5"])
@pytest.mark.parametrize(
    "content", [b"", b"version https://git-lfs.github.com/spec/v1\nsize 900\n"]
)
def test_empty_files_and_pointers_are_refused_by_name(
    tmp_path: Path, name: str, content: bytes
) -> None:
    write_episode(tmp_path / "other")
    (write_episode(tmp_path / FOLDER) / name).write_bytes(content)
    error = refusal(tmp_path, KEY)
    assert (error.kind, error.facts["path"]) == (ErrorKind.UNREADABLE_FILE, f"{FOLDER}/{name}")


@pytest.mark.parametrize(
    "member", ["action/joint_position", "observation/robot_state/joint_positions"]
)
def test_a_trajectory_without_joints_is_refused(tmp_path: Path, member: str) -> None:
    write_episode(tmp_path / "other")
    with h5py.File(write_episode(tmp_path / FOLDER) / "trajectory.h5", "a") as file:
        del file[member]
    assert f"expected numbers in '/{member}'" in str(refusal(tmp_path, KEY))


def test_the_robots_datasets_have_to_be_as_long_as_each_other(tmp_path: Path) -> None:
    with h5py.File(write_episode(tmp_path / FOLDER) / "trajectory.h5", "a") as file:
        del file["action/gripper_position"]
        file["action/gripper_position"] = np.zeros(ROWS - 1)
    error = refusal(tmp_path, KEY)
    assert error.kind is ErrorKind.ROW_MISMATCH
    assert "'/action/gripper_position'" in str(error)


def test_what_the_controller_said_later_is_left_out_and_told(tmp_path: Path) -> None:
    with h5py.File(write_episode(tmp_path / FOLDER) / "trajectory.h5", "a") as file:
        file["observation/controller_info/late"] = np.zeros(3)
    found = [f for f in read(tmp_path).findings if f.severity is Severity.WARN]
    assert [f.where for f in found] == ["observation/controller_info/late"]
    assert "got 3 rows, expected 8" in found[0].message


def test_links_out_of_the_trajectory_are_refused(tmp_path: Path) -> None:
    outside = write_episode(tmp_path / "outside") / "trajectory.h5"
    with h5py.File(write_episode(tmp_path / "in" / FOLDER) / "trajectory.h5", "a") as file:
        del file["action/joint_position"]
        file["action/joint_position"] = h5py.ExternalLink(str(outside), "action/joint_position")
    assert refusal(tmp_path / "in", KEY).kind is ErrorKind.UNSAFE_PATH


@pytest.mark.parametrize("num_rows", [0, 1])
def test_episodes_of_no_row_are_refused_and_of_one_row_flagged(
    tmp_path: Path, num_rows: int
) -> None:
    plan = Plan(num_rows=num_rows, cameras={EXT1: range(1)})
    write_episode(tmp_path / FOLDER, plan, described=metadata(trajectory_length=num_rows))
    if num_rows == 0:
        assert refusal(tmp_path, KEY).kind is ErrorKind.NO_ROWS
    else:
        assert len(told(read(tmp_path), "episode_has_several_rows")) == 1


def test_a_longer_video_is_read_as_far_as_there_are_rows(tmp_path: Path) -> None:
    folder = write_episode(tmp_path / FOLDER, ONE_CAMERA)
    write_video(folder / "recordings" / "MP4" / f"{EXT1}.mp4", range(ROWS + 5), fps=60)
    pictures = camera(read(tmp_path), "ext1").pictures
    assert isinstance(pictures, VideoSegment)
    assert (pictures.first_frame, pictures.num_frames, pictures.is_last) == (0, ROWS, True)


def test_a_file_of_that_name_but_another_layout_is_no_trajectory(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "trajectory.h5", "w") as file:
        file["observation"] = np.zeros(3)
        file["action"] = np.zeros((3, 7))
    assert not DroidFormat().sniff(LocalSource(tmp_path))


def test_extrinsics_that_differ_from_the_description_are_flagged_with_the_distance(
    tmp_path: Path,
) -> None:
    moved = [EXT2_VECTOR[0] + 0.05, *EXT2_VECTOR[1:]]
    write_episode(tmp_path / FOLDER, described=metadata(ext2_cam_extrinsics=moved))
    finding = by_rule(read(tmp_path).findings)["extrinsics_as_declared"]
    assert finding.where == "camera=ext2"
    assert finding.value == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("field", "value"), [("current_task", {}), ("wrist_cam_serial", 0.5), ("success", "yes")]
)
def test_a_field_of_another_type_is_left_out_and_told(
    tmp_path: Path, field: str, value: object
) -> None:
    write_episode(tmp_path / FOLDER, described=metadata(**{field: value}))
    finding = by_rule(read(tmp_path).findings)["metadata_is_readable"]
    assert (finding.severity, finding.where) == (Severity.FAIL, field)
    assert f"got {value!r}, expected" in finding.message
