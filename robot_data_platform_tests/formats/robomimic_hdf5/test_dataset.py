"""Demos of robomimic files are read by value, and every claim is held against the rows."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import h5py
import numpy as np
import pytest

from robot_data_platform.core.finding import Severity
from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.formats import hdf5_process
from robot_data_platform.formats.profile import Profile
from robot_data_platform.formats.robomimic_hdf5 import RobomimicHdf5Format
from robot_data_platform.storage.source import LocalSource
from robot_data_platform_tests.formats.reading import (
    by_rule,
    camera,
    list_folder,
    read_episode,
    refusal,
    shown_codes,
    signal,
)
from robot_data_platform_tests.formats.robomimic_files import (
    JOINTS,
    ROWS,
    actions,
    add_pictures,
    edit,
    joints,
    write_file,
)

FILE = "low_dim.hdf5"
KEY = f"{FILE}/demo_0"
CODES = list(range(ROWS))
IN_RGB = Profile(picture_channel_order="rgb")


def test_demos_are_episodes_in_natural_order_whatever_is_missing_between(tmp_path: Path) -> None:
    write_file(tmp_path / FILE, demos=(10, 0, 2))
    listing = list_folder(tmp_path)
    keys = [(ref.source_key, ref.source_episode_index) for ref in listing.episodes]
    assert keys == [(f"{FILE}/demo_0", 0), (f"{FILE}/demo_2", 2), (f"{FILE}/demo_10", 10)]
    assert [(ref.files, ref.num_rows_claimed) for ref in listing.episodes] == [((FILE,), ROWS)] * 3
    assert listing.findings == ()


def test_files_follow_each_other_in_natural_order(tmp_path: Path) -> None:
    for name in ("part_10.hdf5", "part_2.hdf5"):
        write_file(tmp_path / name, demos=(1,))
    keys = [ref.source_key for ref in list_folder(tmp_path).episodes]
    assert keys == ["part_2.hdf5/demo_1", "part_10.hdf5/demo_1"]


def test_values_names_and_times_are_those_of_the_demo(tmp_path: Path) -> None:
    write_file(tmp_path / FILE, demos=(0, 7))
    recording = read_episode(tmp_path, f"{FILE}/demo_7")
    assert {s.name for s in recording.signals} == {
        "action",
        "observation_state",
        "observation_robot0_eef_quat",
        "rewards",
        "states",
    }
    np.testing.assert_array_equal(signal(recording, "action").values, actions(7))
    np.testing.assert_array_equal(signal(recording, "observation_state").values, joints(7))
    assert signal(recording, "action").timestamp_ns.tolist() == [k * 50_000_000 for k in CODES]
    assert recording.robot == "Panda"


def test_the_rate_is_the_files_and_says_where_it_was_found(tmp_path: Path) -> None:
    write_file(tmp_path / FILE, demos=(0,))
    clock = read_episode(tmp_path, KEY).metadata["clock"]
    assert clock == "row number / 20 Hz (`control_freq` of `env_args`)"


@pytest.mark.parametrize(
    ("env_args", "step_ns"),
    [
        ({"sim_args": {"dt": 0.01, "decimation": 2}}, 20_000_000),
        ({"env_kwargs": {"control_freq": 12.5}}, 80_000_000),
    ],
)
def test_a_rate_is_read_from_either_place(tmp_path: Path, env_args: object, step_ns: int) -> None:
    write_file(tmp_path / FILE, demos=(0,), env_args=env_args)
    times = signal(read_episode(tmp_path, KEY), "action").timestamp_ns
    assert times[1] == step_ns


@pytest.mark.parametrize(
    "env_args",
    [
        {},
        {"sim_args": {"dt": 0.01}},
        {"env_kwargs": None},
        {"env_kwargs": {"control_freq": 10**400}},
    ],
)
def test_without_a_rate_nothing_is_guessed(tmp_path: Path, env_args: object) -> None:
    write_file(tmp_path / FILE, demos=(0,), env_args=env_args)
    with pytest.raises(InvalidInputError, match="nor `control_freq`, or `dt`") as caught:
        read_episode(tmp_path, KEY)
    assert caught.value.kind is ErrorKind.INVALID_PROFILE
    assert len(read_episode(tmp_path, KEY, Profile(control_hz=10.0)).signals) == 5


@pytest.mark.parametrize("rate", [0, -20, 1e9])
def test_an_impossible_rate_is_refused(tmp_path: Path, rate: float) -> None:
    write_file(tmp_path / FILE, demos=(0,), env_args={"env_kwargs": {"control_freq": rate}})
    with pytest.raises(InvalidInputError, match="`control_freq` of `env_args` of"):
        read_episode(tmp_path, KEY)


def test_a_profile_wins_over_the_files_rate_and_that_is_told(tmp_path: Path) -> None:
    write_file(tmp_path / FILE, demos=(0,))
    recording = read_episode(tmp_path, KEY, Profile(control_hz=10.0))
    finding = by_rule(recording.findings)["rate_as_profile_states"]
    assert (finding.value, finding.threshold) == (20, 10)
    assert signal(recording, "action").timestamp_ns[1] == 100_000_000


def test_a_wrong_total_is_flagged_with_both_numbers_and_the_demos_are_read(
    tmp_path: Path,
) -> None:
    write_file(tmp_path / FILE, demos=(0, 2, 10))
    with h5py.File(tmp_path / FILE, "a") as file:
        file["data"].attrs["total"] = 3 * ROWS + 100
    finding = by_rule(list_folder(tmp_path).findings)["total_frames_as_declared"]
    assert (finding.value, finding.threshold) == (3 * ROWS, 3 * ROWS + 100)
    assert finding.severity is Severity.WARN
    assert len(read_episode(tmp_path, f"{FILE}/demo_10").signals) == 5


def test_a_wrong_number_of_demos_is_flagged(tmp_path: Path) -> None:
    write_file(tmp_path / FILE, demos=(0, 1))
    with h5py.File(tmp_path / FILE, "a") as file:
        file["data"].attrs["num_demos"] = 50
    finding = by_rule(list_folder(tmp_path).findings)["total_episodes_as_declared"]
    assert (finding.value, finding.threshold) == (2, 50)


def test_a_wrong_num_samples_is_flagged_with_both_numbers(tmp_path: Path) -> None:
    write_file(tmp_path / FILE, demos=(0,))
    with h5py.File(tmp_path / FILE, "a") as file:
        file["data/demo_0"].attrs["num_samples"] = ROWS + 3
    recording = read_episode(tmp_path, KEY)
    finding = by_rule(recording.findings)["rows_as_declared"]
    assert (finding.value, finding.threshold) == (ROWS, ROWS + 3)
    assert len(signal(recording, "action").values) == ROWS


@pytest.mark.parametrize("is_success", [True, False])
def test_a_failed_demo_is_flagged_and_kept(tmp_path: Path, is_success: bool) -> None:
    write_file(tmp_path / FILE, demos=(0,))
    with h5py.File(tmp_path / FILE, "a") as file:
        file["data/demo_0"].attrs["success"] = is_success
    recording = read_episode(tmp_path, KEY)
    assert recording.metadata["success"] == str(is_success)
    assert ("episode_is_successful" in by_rule(recording.findings)) is not is_success


def test_actions_outside_of_the_range_are_kept_and_counted(tmp_path: Path) -> None:
    write_file(tmp_path / FILE, demos=(0,))
    wild = actions(0)
    wild[3], wild[5, 0], wild[6, 1] = (1.79, -1.5), np.nan, 1.0
    edit(tmp_path / FILE, "data/demo_0/actions", wild)
    recording = read_episode(tmp_path, KEY)
    finding = by_rule(recording.findings)["actions_in_declared_range"]
    assert (finding.value, finding.unit) == (1, "rows")
    assert "got 2 values up to 1.79 from zero, expected -1..1" in finding.message
    np.testing.assert_array_equal(signal(recording, "action").values, wild)


@pytest.mark.parametrize("storage", [{}, {"chunks": (4, 48, 64, 3), "compression": "gzip"}])
def test_raw_pictures_are_cameras_and_can_be_read_again_and_elsewhere(
    tmp_path: Path, storage: dict[str, object]
) -> None:
    write_file(tmp_path / FILE, demos=(0, 1))
    add_pictures(tmp_path / FILE, 0, "agentview_image", CODES, **storage)
    recording = read_episode(tmp_path, KEY, IN_RGB)
    stream = camera(recording, "agentview_image")
    assert shown_codes(pickle.loads(pickle.dumps(stream))) == shown_codes(stream) == CODES
    assert stream.timestamp_ns.tolist() == signal(recording, "action").timestamp_ns.tolist()


def test_fewer_pictures_than_rows_are_refused_with_both_numbers(tmp_path: Path) -> None:
    write_file(tmp_path / FILE, demos=(0,))
    add_pictures(tmp_path / FILE, 0, "agentview_image", CODES[:-2])
    error = refusal(tmp_path, KEY)
    assert error.kind is ErrorKind.VIDEO_TOO_SHORT
    assert "got 8, expected 10" in str(error)


def test_pictures_that_start_at_the_bottom_are_kept_and_told(tmp_path: Path) -> None:
    write_file(tmp_path / FILE, demos=(0,))
    add_pictures(tmp_path / FILE, 0, "agentview_rgb", CODES)
    with h5py.File(tmp_path / FILE, "a") as file:
        file["data"].attrs["macros_image_convention"] = "opengl"
    recording = read_episode(tmp_path, KEY, IN_RGB)
    assert by_rule(recording.findings)["pictures_are_upright"].severity is Severity.INFO
    assert shown_codes(camera(recording, "agentview_rgb")) == CODES


def test_depth_maps_are_left_out_and_told(tmp_path: Path) -> None:
    write_file(tmp_path / FILE, demos=(0,))
    edit(tmp_path / FILE, "data/demo_0/obs/agentview_depth", np.zeros((ROWS, 48, 64, 1), "f4"))
    recording = read_episode(tmp_path, KEY)
    assert recording.cameras == ()
    assert "float32 (10, 48, 64, 1)" in by_rule(recording.findings)["cameras_are_read"].message


def test_matrices_by_row_are_laid_flat(tmp_path: Path) -> None:
    write_file(tmp_path / FILE, demos=(0,))
    poses = np.arange(ROWS * 16, dtype=np.float64).reshape(ROWS, 4, 4)
    edit(tmp_path / FILE, "data/demo_0/datagen_info/target_pose", poses)
    flat = signal(read_episode(tmp_path, KEY), "datagen_info_target_pose").values
    np.testing.assert_array_equal(flat, poses.reshape(ROWS, 16))


def test_next_observations_are_left_out_and_told_once(tmp_path: Path) -> None:
    write_file(tmp_path / FILE, demos=(0,))
    for key in ("robot0_joint_pos", "robot0_eef_quat"):
        edit(tmp_path / FILE, f"data/demo_0/next_obs/{key}", joints(0))
    finding = by_rule(read_episode(tmp_path, KEY).findings)["columns_are_read"]
    assert (finding.where, finding.value) == ("next_obs", 2)


def test_observations_of_another_length_refuse_the_demo_by_name(tmp_path: Path) -> None:
    write_file(tmp_path / FILE, demos=(0, 1))
    edit(tmp_path / FILE, "data/demo_0/obs/robot0_eef_quat", np.zeros((ROWS - 1, 4)))
    error = refusal(tmp_path, KEY)
    assert error.kind is ErrorKind.ROW_MISMATCH
    assert "'/data/demo_0/obs/robot0_eef_quat'" in str(error)
    assert "got 9 rows, expected 10" in str(error)
    assert len(read_episode(tmp_path, f"{FILE}/demo_1").signals) == 5


def test_other_datasets_of_another_length_are_left_out_and_told(tmp_path: Path) -> None:
    write_file(tmp_path / FILE, demos=(0,))
    edit(tmp_path / FILE, "data/demo_0/rewards", np.zeros(ROWS + 1))
    recording = read_episode(tmp_path, KEY)
    finding = by_rule(recording.findings)["columns_are_read"]
    assert finding.severity is Severity.WARN
    assert "got 11 rows, expected 10" in finding.message
    assert "rewards" not in {s.name for s in recording.signals}


def test_the_task_is_read_from_where_each_simulator_writes_it(tmp_path: Path) -> None:
    write_file(tmp_path / FILE, demos=(0, 1))
    with h5py.File(tmp_path / FILE, "a") as file:
        info = json.dumps({"language_instruction": "open the drawer"})
        file["data"].attrs["problem_info"] = info
        file["data/demo_1"].attrs["ep_meta"] = json.dumps({"lang": "close it"})
    assert read_episode(tmp_path, KEY).task == "open the drawer"
    assert read_episode(tmp_path, f"{FILE}/demo_1").task == "close it"


def test_the_subsets_that_a_demo_is_in_are_metadata(tmp_path: Path) -> None:
    write_file(tmp_path / FILE, demos=(0, 1))
    edit(tmp_path / FILE, "mask/train", np.array([b"demo_0"]))
    edit(tmp_path / FILE, "mask/all", np.array([b"demo_0", b"demo_1"]))
    assert read_episode(tmp_path, KEY).metadata["filter_keys"] == "all, train"
    assert read_episode(tmp_path, f"{FILE}/demo_1").metadata["filter_keys"] == "all"


def test_attributes_that_are_no_json_are_flagged_and_the_demos_are_read(tmp_path: Path) -> None:
    write_file(tmp_path / FILE, demos=(0,))
    with h5py.File(tmp_path / FILE, "a") as file:
        file["data"].attrs["env_args"] = "{'env_name': 'Lift'}"
    finding = by_rule(list_folder(tmp_path).findings)["metadata_is_readable"]
    assert "{'env_name': 'Lift'}" in finding.message
    assert len(read_episode(tmp_path, KEY, Profile(control_hz=20.0)).signals) == 5


def test_a_large_attribute_is_left_out_and_told(tmp_path: Path) -> None:
    write_file(tmp_path / FILE, demos=(0,))
    with h5py.File(tmp_path / FILE, "a") as file:
        file["data/demo_0"].attrs["model_file"] = "<mujoco/>" * 10_000
    recording = read_episode(tmp_path, KEY)
    assert "model_file" not in recording.metadata
    assert "model_file" in by_rule(recording.findings)["attributes_are_read"].message


def test_a_demo_without_actions_is_refused_and_the_others_are_read(tmp_path: Path) -> None:
    write_file(tmp_path / FILE, demos=(0, 1))
    with h5py.File(tmp_path / FILE, "a") as file:
        del file["data/demo_0/actions"]
    error = refusal(tmp_path, KEY)
    assert (error.kind, error.facts["path"]) == (ErrorKind.UNREADABLE_FILE, FILE)
    assert "expected numbers in 'actions'" in str(error)
    assert len(read_episode(tmp_path, f"{FILE}/demo_1").signals) == 5


def test_a_demo_without_rows_is_refused(tmp_path: Path) -> None:
    write_file(tmp_path / FILE, demos=(0,), num_rows=0)
    assert refusal(tmp_path, KEY).kind is ErrorKind.NO_ROWS


def test_a_demo_of_one_row_is_read_and_flagged(tmp_path: Path) -> None:
    write_file(tmp_path / FILE, demos=(0,), num_rows=1)
    assert "episode_has_several_rows" in by_rule(read_episode(tmp_path, KEY).findings)


def test_a_file_without_demos_is_refused_as_one_episode(tmp_path: Path) -> None:
    write_file(tmp_path / FILE, demos=())
    assert [ref.source_key for ref in list_folder(tmp_path).episodes] == [FILE]
    error = refusal(tmp_path, FILE)
    assert error.kind is ErrorKind.NO_ROWS
    assert "holds no demo" in str(error)


def test_a_dataset_among_the_demos_is_refused_by_name(tmp_path: Path) -> None:
    write_file(tmp_path / FILE, demos=(0,))
    edit(tmp_path / FILE, "data/notes", np.arange(3))
    assert "got no group of the file at '/data/notes'" in str(refusal(tmp_path, f"{FILE}/notes"))


def test_a_truncated_file_is_one_refused_episode_and_the_other_file_is_read(
    tmp_path: Path,
) -> None:
    write_file(tmp_path / "part_1.hdf5", demos=(0,))
    broken = write_file(tmp_path / "part_0.hdf5", demos=(0, 1))
    broken.write_bytes(broken.read_bytes()[: broken.stat().st_size // 2])
    keys = [ref.source_key for ref in list_folder(tmp_path).episodes]
    assert keys == ["part_0.hdf5", "part_1.hdf5/demo_0"]
    error = refusal(tmp_path, "part_0.hdf5")
    assert (error.kind, error.facts["path"]) == (ErrorKind.UNREADABLE_FILE, "part_0.hdf5")


def test_a_file_in_which_hdf5_finds_no_end_is_refused_for_that_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_file(tmp_path / "part_1.hdf5", demos=(0,))
    path = write_file(tmp_path / "part_0.hdf5", demos=(0, 1))
    data = bytearray(path.read_bytes())
    start = data.find(b"GCOL") + 16
    data[start : start + 64] = bytes(64)  # texts that take no room
    path.write_bytes(data)
    monkeypatch.setattr(hdf5_process, "MOST_CPU_S", 0.3)
    keys = [ref.source_key for ref in list_folder(tmp_path).episodes]
    assert keys == ["part_0.hdf5", "part_1.hdf5/demo_0"]
    assert "got no end of it within" in str(refusal(tmp_path, "part_0.hdf5"))
    assert len(read_episode(tmp_path, "part_1.hdf5/demo_0").signals) == 5


@pytest.mark.parametrize(
    "content",
    [b"", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 900\n", bytes(4096)],
    ids=["empty", "pointer", "zeros"],
)
def test_what_is_no_hdf5_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    write_file(tmp_path / "part_1.hdf5", demos=(0,))
    (tmp_path / "part_0.hdf5").write_bytes(content)
    error = refusal(tmp_path, "part_0.hdf5")
    assert (error.kind, error.facts["path"]) == (ErrorKind.UNREADABLE_FILE, "part_0.hdf5")


def test_demos_that_lie_in_other_files_are_refused(tmp_path: Path) -> None:
    outside = write_file(tmp_path / "outside.hdf5", demos=(0,))
    path = write_file(tmp_path / "in" / FILE, demos=(1,))
    with h5py.File(path, "a") as file:
        file["data/demo_0"] = h5py.ExternalLink(str(outside), "data/demo_0")
        file["data/demo_2"] = h5py.SoftLink("/data/demo_1")
    assert refusal(tmp_path / "in", KEY).kind is ErrorKind.UNREADABLE_FILE
    assert len(read_episode(tmp_path / "in", f"{FILE}/demo_2").signals) == 5


@pytest.mark.parametrize("member", ["actions", "obs/robot0_eef_quat"])
def test_datasets_that_lie_in_other_files_are_refused(tmp_path: Path, member: str) -> None:
    outside = write_file(tmp_path / "outside.hdf5", demos=(0,))
    path = write_file(tmp_path / "in" / FILE, demos=(0,))
    with h5py.File(path, "a") as file:
        del file[f"data/demo_0/{member}"]
        file[f"data/demo_0/{member}"] = h5py.ExternalLink(str(outside), f"data/demo_0/{member}")
    assert refusal(tmp_path / "in", KEY).kind is ErrorKind.UNSAFE_PATH


def test_groups_that_hold_themselves_are_refused(tmp_path: Path) -> None:
    with h5py.File(write_file(tmp_path / FILE, demos=(0,)), "a") as file:
        file["data/demo_0/obs/again"] = file["data/demo_0/obs"]
    error = refusal(tmp_path, KEY)
    assert error.kind is ErrorKind.SHAPE_MISMATCH
    assert "absurd size" in str(error)


def test_a_link_to_nothing_is_refused_by_name(tmp_path: Path) -> None:
    with h5py.File(write_file(tmp_path / FILE, demos=(0,)), "a") as file:
        file["data/demo_0/obs/lost"] = h5py.SoftLink("/nowhere")
    assert "'lost' leads to nothing" in str(refusal(tmp_path, KEY))


@pytest.mark.parametrize(
    ("member", "shape", "chunks"),
    [
        ("obs/force", (ROWS, 10**12), (1, 1024)),
        ("obs/force", (ROWS, 700), (1 << 20, 700)),
        ("actions", (1 << 28, 1), (1024, 1)),
        ("actions", (1 << 40, 7), (1024, 7)),
    ],
    ids=["width", "chunk", "rows", "more rows"],
)
def test_absurd_sizes_are_refused_before_memory_is_taken(
    tmp_path: Path, member: str, shape: tuple[int, ...], chunks: tuple[int, ...]
) -> None:
    with h5py.File(write_file(tmp_path / FILE, demos=(0,)), "a") as file:
        demo = file["data/demo_0"]
        if member in demo:
            del demo[member]
        demo.create_dataset(member, shape, "f8", chunks=chunks, maxshape=(None, None))
    error = refusal(tmp_path, KEY)
    assert error.kind in (ErrorKind.SHAPE_MISMATCH, ErrorKind.ROW_MISMATCH)


@pytest.mark.parametrize("data", [np.float64(3), h5py.Empty("f8"), "text", np.zeros((ROWS, 0))])
def test_what_holds_no_numbers_by_row_is_left_out_and_told(tmp_path: Path, data: object) -> None:
    edit(write_file(tmp_path / FILE, demos=(0,)), "data/demo_0/obs/odd", data)
    finding = by_rule(read_episode(tmp_path, KEY).findings)["columns_are_read"]
    assert (finding.where, finding.severity) == ("obs/odd", Severity.INFO)


def test_rows_too_wide_for_a_signal_are_left_out_and_told(tmp_path: Path) -> None:
    edit(write_file(tmp_path / FILE, demos=(0,)), "data/demo_0/cloud", np.zeros((ROWS, 500, 3)))
    message = by_rule(read_episode(tmp_path, KEY).findings)["columns_are_read"].message
    assert "got 1500 values per row, expected at most 1024" in message


def test_damaged_first_files_do_not_hide_the_format(tmp_path: Path) -> None:
    (tmp_path / "a.hdf5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(50))
    write_file(tmp_path / "b.hdf5", demos=(0,))
    assert RobomimicHdf5Format().sniff(LocalSource(tmp_path))


def test_a_link_out_of_the_folder_costs_only_itself(tmp_path: Path) -> None:
    outside = write_file(tmp_path / "outside.hdf5", demos=(0,))
    write_file(tmp_path / "in" / "b.hdf5", demos=(0,))
    (tmp_path / "in" / "a.hdf5").symlink_to(outside)
    with pytest.raises(InvalidInputError) as caught:
        read_episode(tmp_path / "in", "a.hdf5")
    assert caught.value.kind is ErrorKind.UNSAFE_PATH
    assert signal(
        read_episode(tmp_path / "in", "b.hdf5/demo_0"), "observation_state"
    ).values.shape == (
        ROWS,
        JOINTS,
    )
