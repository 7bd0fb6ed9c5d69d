"""RLDS datasets: what becomes signals, cameras and labels, and what is told or refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robot_data_platform.core.finding import Severity
from robot_data_platform.core.recording import Interval
from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.formats.profile import Profile
from robot_data_platform.formats.registry import detect_format
from robot_data_platform.storage.source import LocalSource
from robot_data_platform_tests.depth_maps import depth_maps
from robot_data_platform_tests.formats.hdf5_files import jpeg
from robot_data_platform_tests.formats.png import depth_png
from robot_data_platform_tests.formats.reading import (
    by_rule,
    camera,
    list_folder,
    read_episode,
    refusal,
    shown_codes,
    shown_depth,
    signal,
)
from robot_data_platform_tests.formats.rlds_files import (
    FILLED,
    FOLDER,
    KEY,
    SHARD,
    STEPS,
    Record,
    image,
    record,
    tensor,
    write_dataset,
    write_info,
    write_shard,
)

PROFILE = Profile(control_hz=10.0)
IMAGE = "steps/observation/image_0"


def test_every_record_is_an_episode_of_its_own_values_and_pictures(tmp_path: Path) -> None:
    root = write_dataset(tmp_path, [record(), record(3, start=40), record(2, start=80)])
    assert detect_format(LocalSource(root)).name == "rlds"
    listing = list_folder(root, PROFILE)
    assert [ref.source_key for ref in listing.episodes] == [f"{KEY[:-1]}{k}" for k in range(3)]
    assert listing.findings == ()
    second = read_episode(root, f"{KEY[:-1]}1", PROFILE)
    assert shown_codes(camera(second, "image_0")) == [40, 41, 42]
    state = signal(second, "observation_state")
    np.testing.assert_array_equal(state.values, [[0, 0.5], [1, 1.5], [2, 2.5]])
    assert state.timestamp_ns.tolist() == [0, 100_000_000, 200_000_000]
    np.testing.assert_array_equal(
        signal(second, "action").values, [[0, 0, 0], [1, -1, 2], [2, -2, 4]]
    )
    assert second.task == "pick the cube"
    assert second.metadata["episode_metadata/file_path"] == "/data/0"
    assert second.metadata["split"] == "train"


def test_without_a_rate_the_profile_is_asked_for_one(tmp_path: Path) -> None:
    root = write_dataset(tmp_path, [record()])
    with pytest.raises(InvalidInputError, match="State `control_hz`") as caught:
        read_episode(root, KEY)
    assert caught.value.kind is ErrorKind.INVALID_PROFILE


def test_an_embedding_is_left_out_and_told(tmp_path: Path) -> None:
    recording = read_episode(write_dataset(tmp_path, [record()]), KEY, PROFILE)
    assert "language_embedding" not in {s.name for s in recording.signals}
    told = by_rule(recording.findings)["columns_are_read"]
    assert (told.where, told.severity) == ("steps/language_embedding", Severity.INFO)


def test_an_instruction_that_changes_holds_by_time(tmp_path: Path) -> None:
    texts = [b"", b"reach", b"reach", b"grasp", b"grasp", b"grasp"]
    root = write_dataset(
        tmp_path, [record(changed={"steps/language_instruction": (texts, "byte")})]
    )
    recording = read_episode(root, KEY, PROFILE)
    assert recording.task == "reach"
    assert recording.instructions == (
        Interval(start_ns=100_000_000, end_ns=300_000_000, value="reach"),
        Interval(start_ns=300_000_000, end_ns=500_000_001, value="grasp"),
    )


def test_a_filler_camera_is_left_out_and_one_that_its_flag_denies_is_kept(tmp_path: Path) -> None:
    flags: Record = {f"episode_metadata/has_image_{k}": ([0], "int") for k in range(2)}
    item = record(changed={"steps/observation/image_1": ([FILLED] * STEPS, "byte"), **flags})
    flag = tensor(dtype="bool")
    root = write_dataset(
        tmp_path,
        [item],
        observation__image_1=image(),
        episode_metadata__has_image_0=flag,
        episode_metadata__has_image_1=flag,
    )
    recording = read_episode(root, KEY, PROFILE)
    assert [c.name for c in recording.cameras] == ["image_0"]
    findings = by_rule(recording.findings)
    blank = findings["camera_shows_something"]
    assert (blank.where, blank.value, "left out" in blank.message) == (
        "camera=image_1",
        STEPS,
        True,
    )
    denied = findings["camera_flags_match_pictures"]
    assert (denied.value, "image_0" in denied.message) == (1, True)


def test_a_blank_camera_that_no_flag_denies_is_kept_and_told(tmp_path: Path) -> None:
    item = record(changed={"steps/observation/image_1": ([FILLED] * STEPS, "byte")})
    root = write_dataset(tmp_path, [item], observation__image_1=image())
    recording = read_episode(root, KEY, PROFILE)
    assert [c.name for c in recording.cameras] == ["image_0", "image_1"]
    assert by_rule(recording.findings)["camera_shows_something"].where == "camera=image_1"


def test_a_camera_that_goes_dark_in_the_end_is_not_blank(tmp_path: Path) -> None:
    pictures = [FILLED] * (STEPS - 1) + [jpeg(9)]
    item = record(changed={IMAGE: (pictures, "byte")})
    recording = read_episode(write_dataset(tmp_path, [item]), KEY, PROFILE)
    assert "camera_shows_something" not in by_rule(recording.findings)
    assert shown_codes(camera(recording, "image_0"))[-1] == 9


@pytest.mark.parametrize("pictures", [None, [], [b""] * STEPS])
def test_a_camera_that_an_episode_lacks_is_told(
    tmp_path: Path, pictures: list[bytes] | None
) -> None:
    item = record(changed={IMAGE: (pictures or [], "byte")})
    if pictures is None:
        del item[IMAGE]
    recording = read_episode(write_dataset(tmp_path, [item]), KEY, PROFILE)
    assert recording.cameras == ()
    assert by_rule(recording.findings)["camera_is_recorded"].where == "camera=image_0"


def test_an_empty_picture_among_others_is_refused_with_its_step(tmp_path: Path) -> None:
    pictures = [jpeg(k) for k in range(STEPS)]
    pictures[4] = b""
    root = write_dataset(tmp_path, [record(changed={IMAGE: (pictures, "byte")})])
    error = refusal(root, KEY, PROFILE)
    assert (error.kind, error.facts["row"]) == (ErrorKind.UNREADABLE_FILE, 4)


def test_a_damaged_picture_is_refused_with_its_step_when_it_is_read(tmp_path: Path) -> None:
    pictures = [jpeg(k + 1) for k in range(STEPS)]
    pictures[3] = pictures[3][:200]
    root = write_dataset(tmp_path, [record(changed={IMAGE: (pictures, "byte")})])
    stream = camera(read_episode(root, KEY, PROFILE), "image_0")
    with pytest.raises(Exception, match="step 3 is no readable picture"):
        shown_codes(stream)


@pytest.mark.parametrize("is_stated", [True, False])
def test_depth_maps_come_back_bit_for_bit(tmp_path: Path, *, is_stated: bool) -> None:
    maps = [depth_png(depth) for depth in depth_maps(STEPS)]
    item = record(changed={"steps/observation/depth": (maps, "byte")})
    root = write_dataset(tmp_path, [item], observation__depth=image("uint16", channels=1))
    if not is_stated:
        (root / FOLDER / "features.json").unlink()
    recording = read_episode(root, KEY, PROFILE)
    np.testing.assert_array_equal(shown_depth(camera(recording, "depth")), depth_maps(STEPS))
    assert shown_codes(camera(recording, "image_0")) == list(range(1, STEPS + 1))


def test_deep_colour_and_other_tensors_are_left_out_and_told(tmp_path: Path) -> None:
    item = record(
        changed={
            "steps/observation/depth": ([b"x"] * STEPS, "byte"),
            "steps/observation/packed": ([b"y"] * STEPS, "byte"),
            "steps/cloud": ([0.0] * 2000 * STEPS, "float"),
            "steps/undeclared": ([0.0] * STEPS, "float"),
            "steps/points/ragged_flat_values": ([0.0] * 9, "float"),
            "steps/points/ragged_row_lengths_0": ([2, 1, 3, 1, 1, 1], "int"),
        }
    )
    root = write_dataset(
        tmp_path,
        [item],
        observation__depth=image("uint16"),
        observation__packed=tensor(4, encoding="zlib"),
        cloud=tensor(2000),
        points={"pythonClassName": "Sequence", "sequence": {"feature": tensor(), "length": "-1"}},
    )
    findings = read_episode(root, KEY, PROFILE).findings
    reasons = {f.where: f.message for f in findings if f.rule == "columns_are_read"}
    assert "pictures of uint16" in reasons["steps/observation/depth"]
    assert "encoding zlib" in reasons["steps/observation/packed"]
    assert "got 2000 numbers" in reasons["steps/cloud"]
    assert "nothing declares it" in reasons["steps/undeclared"]
    assert "a sequence within each step" in reasons["steps/points"]
    assert len(reasons) == 6  # the embedding too, and no part of `points`


def test_integers_and_booleans_keep_their_values(tmp_path: Path) -> None:
    item = record(2, changed={"steps/ticks": ([2**40, -(2**40)], "int")})
    root = write_dataset(tmp_path, [item], ticks=tensor(dtype="int64"))
    recording = read_episode(root, KEY, PROFILE)
    assert signal(recording, "ticks").values.tolist() == [[2.0**40], [-(2.0**40)]]
    assert signal(recording, "is_first").values.dtype == np.float32


def test_without_features_json_the_structure_is_taken_from_names_and_told(tmp_path: Path) -> None:
    root = write_dataset(tmp_path, [record()])
    stated = read_episode(root, KEY, PROFILE)
    (root / FOLDER / "features.json").unlink()
    guessed = read_episode(root, KEY, PROFILE)
    assert by_rule(guessed.findings)["structure_is_stated"].severity is Severity.WARN
    for own in stated.signals:
        np.testing.assert_array_equal(signal(guessed, own.name).values, own.values)
    assert shown_codes(camera(guessed, "image_0")) == shown_codes(camera(stated, "image_0"))
    assert (guessed.task, guessed.metadata) == (stated.task, stated.metadata)


@pytest.mark.parametrize(
    ("key", "value", "kind"),
    [
        ("steps/action", ([0.0] * 7, "float"), ErrorKind.SHAPE_MISMATCH),
        ("steps/action", ([0.0] * 9, "float"), ErrorKind.ROW_MISMATCH),
        ("steps/language_instruction", ([b"x"] * 2, "byte"), ErrorKind.ROW_MISMATCH),
        (IMAGE, ([FILLED] * 2, "byte"), ErrorKind.ROW_MISMATCH),
        (IMAGE, ([b"GIF89a"] * STEPS, "byte"), ErrorKind.UNREADABLE_FILE),
    ],
)
def test_a_feature_that_does_not_fit_the_steps_is_refused(
    tmp_path: Path, key: str, value: tuple[object, str], kind: ErrorKind
) -> None:
    root = write_dataset(tmp_path, [record(changed={key: value}), record()])
    error = refusal(root, KEY, PROFILE)
    assert error.kind is kind
    assert f"{SHARD}" in str(error)
    assert read_episode(root, f"{KEY[:-1]}1", PROFILE).task == "pick the cube"


@pytest.mark.parametrize("num_steps", [0, 1, 2, 50])
def test_episodes_of_any_length(tmp_path: Path, num_steps: int) -> None:
    root = write_dataset(tmp_path, [record(num_steps)])
    if not num_steps:
        assert refusal(root, KEY, PROFILE).kind is ErrorKind.NO_ROWS
        return
    recording = read_episode(root, KEY, PROFILE)
    assert camera(recording, "image_0").pictures.num_frames == num_steps
    assert ("episode_has_several_rows" in by_rule(recording.findings)) == (num_steps == 1)


def test_a_record_that_is_no_episode_is_refused(tmp_path: Path) -> None:
    write_shard(tmp_path / "cats-train.tfrecord", [{"image": ([FILLED], "byte")}])
    error = refusal(tmp_path, "cats-train.tfrecord:0", PROFILE)
    assert (error.kind, "'image'" in str(error)) == (ErrorKind.NO_ROWS, True)


def test_declared_shards_that_are_missing_are_told_with_their_episodes(tmp_path: Path) -> None:
    root = write_dataset(tmp_path, [record(2)])
    write_info(root, {"train": [1], "val": [5, 6]})
    finding = by_rule(list_folder(root, PROFILE).findings)["declared_episodes_have_files"]
    assert (finding.value, finding.severity) == (11, Severity.WARN)
    assert finding.message.startswith("11 of 12 declared episodes have no files: 2 of 3 shards")


def test_without_metadata_the_names_of_shards_tell_what_is_missing(tmp_path: Path) -> None:
    write_shard(tmp_path / "pick-train.tfrecord-00001-of-00003", [record(2)])
    listing = list_folder(tmp_path, PROFILE)
    assert len(listing.episodes) == 1
    finding = by_rule(listing.findings)["declared_episodes_have_files"]
    assert "2 of 3 shards are not there" in finding.message


def test_a_shard_with_another_number_of_records_than_declared_is_told(tmp_path: Path) -> None:
    root = write_dataset(tmp_path, [record(2), record(2)])
    write_info(root, {"train": [3]})
    finding = by_rule(list_folder(root, PROFILE).findings)["total_episodes_as_declared"]
    assert (finding.value, finding.threshold) == (2, 3)


def test_shards_that_nothing_declares_are_read_and_told(tmp_path: Path) -> None:
    root = write_dataset(tmp_path, [record(2)])
    write_shard(root / FOLDER / "pick-old.tfrecord-00000-of-00001", [record(2, start=70)])
    listing = list_folder(root, PROFILE)
    assert len(listing.episodes) == 2
    assert by_rule(listing.findings)["episodes_are_declared"].value == 1


def test_metadata_that_is_no_json_is_told_and_the_shards_are_read(tmp_path: Path) -> None:
    root = write_dataset(tmp_path, [record(2)])
    (root / FOLDER / "dataset_info.json").write_text("{")
    listing = list_folder(root, PROFILE)
    assert len(listing.episodes) == 1
    assert by_rule(listing.findings)["metadata_is_readable"].severity is Severity.FAIL


def test_pictures_of_a_bgr_profile_are_turned(tmp_path: Path) -> None:
    from PIL import Image

    path = tmp_path / "red.png"
    Image.new("RGB", (64, 48), (255, 0, 0)).save(path)
    red = path.read_bytes()
    item = record(2, changed={IMAGE: ([red, jpeg(1)], "byte")})
    root = write_dataset(tmp_path / "set", [item])
    turned = Profile(control_hz=10.0, picture_channel_order="bgr")
    pictures = camera(read_episode(root, KEY, turned), "image_0").pictures
    first = next(iter(pictures.read()))  # type: ignore[union-attr]
    assert first[0, 0].tolist() == [0, 0, 255]
