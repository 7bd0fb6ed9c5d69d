"""A drafted profile is valid as it is, says what was found, and asks for the rest."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.inspect import inspect_source
from robot_data_platform.formats.profile import PROFILE_FILE, Profile, load_profile
from robot_data_platform.formats.profile_draft import ProfileDraft, draft_profile
from robot_data_platform.formats.registry import known_formats
from robot_data_platform.storage.source import LocalSource
from robot_data_platform_tests.depth_maps import depth_map
from robot_data_platform_tests.formats import hdf5_files, rawlog_files
from robot_data_platform_tests.formats.examples import write_example

PERMITTED = Profile(allow_pickle=True)


def drafted(root: Path) -> ProfileDraft:
    return draft_profile(LocalSource(root), permitted=PERMITTED)


def uncommented(text: str) -> str:
    """Return a draft as it is once every example is stated."""
    return re.sub(r"(?m)^( *)#(?=\S)", r"\1", text)


@pytest.mark.parametrize("name", known_formats())
def test_the_draft_of_every_format_is_a_valid_profile(name: str, tmp_path: Path) -> None:
    draft = drafted(write_example(tmp_path, name))
    assert (draft.facts.format, draft.facts.refused_reason) == (name, None)
    stated = load_profile(draft.text)
    assert stated.allow_pickle
    assert (stated.robot, stated.control_hz, stated.quaternion_order) == (None, None, None)


@pytest.mark.parametrize("name", known_formats())
def test_the_examples_in_the_draft_of_every_format_are_valid_too(name: str, tmp_path: Path) -> None:
    draft = drafted(write_example(tmp_path, name))
    whole = load_profile(uncommented(draft.text))
    assert whole.joints.limits is not None
    assert {camera.name for camera in draft.facts.cameras} == set(whole.cameras)
    assert all(camera.calibration() for camera in whole.cameras.values())


@pytest.mark.parametrize("name", known_formats())
def test_a_draft_adds_no_contradiction_to_the_source_that_it_was_drafted_from(
    name: str, tmp_path: Path
) -> None:
    source = LocalSource(write_example(tmp_path, name))
    draft = draft_profile(source, permitted=PERMITTED)
    rate = {} if draft.facts.has_clock else {"control_hz": 50.0}
    before, after = (
        inspect_source(source, name, profile.model_copy(update=rate))
        for profile in (PERMITTED, load_profile(draft.text))
    )
    told = [
        [(finding.rule, finding.where) for finding in (*report.findings, *episode.findings)]
        for report in (before, after)
        for episode in report.episodes
    ]
    half = len(told) // 2
    assert told[:half] == told[half:] != []


@pytest.mark.parametrize("name", known_formats())
def test_what_the_data_does_not_say_is_asked_for(name: str, tmp_path: Path) -> None:
    draft = drafted(write_example(tmp_path, name))
    asked = {entry.key for entry in draft.fill_in}
    state = next(s for s in draft.facts.signals if s.name == "observation_state")
    assert ("control_hz" in asked) == (not draft.facts.has_clock)
    assert ("robot" in asked) == (draft.facts.robot is None)
    assert ("joints.unit" in asked) == (None in state.units)
    assert ("joints.names" in asked) == (state.names is None)
    for camera in draft.facts.cameras:
        asks_for_lens = f"cameras.{camera.name}.intrinsics" in asked
        assert asks_for_lens == (not camera.has_intrinsics)


@pytest.mark.parametrize(("name", "is_asked"), [("aloha_hdf5", True), ("mcap", False)])
def test_the_channel_order_is_asked_for_where_nothing_says_it(
    name: str, tmp_path: Path, *, is_asked: bool
) -> None:
    draft = drafted(write_example(tmp_path, name))
    asked = {entry.key for entry in draft.fill_in}
    assert ("picture_channel_order" in asked) == is_asked


def test_names_and_rates_that_the_data_has_are_stated(tmp_path: Path) -> None:
    rawlog_files.write_episode(tmp_path)
    stated = load_profile(drafted(tmp_path).text)
    assert stated.joints.names == ("left", "right")
    assert stated.cameras["env"].fps == 30


def test_a_rate_off_any_whole_number_is_told_and_not_stated(tmp_path: Path) -> None:
    folder = rawlog_files.folder_of(rawlog_files.write_episode(tmp_path))
    rawlog_files.write_camera(folder, "env", rawlog_files.times(9, 54_500_000).tolist())
    text = drafted(tmp_path).text
    assert load_profile(text).cameras == {}
    assert "18.3486 pictures per second measured" in text


def test_a_source_without_a_clock_is_drafted_and_asks_for_the_rate(tmp_path: Path) -> None:
    hdf5_files.write_episode(tmp_path / "episode_0.hdf5")
    draft = drafted(tmp_path)
    assert not draft.facts.has_clock
    assert [s.rate_hz for s in draft.facts.signals] == [None] * len(draft.facts.signals)
    assert "control_hz" in {entry.key for entry in draft.fill_in}


def test_a_profile_that_is_there_is_left_aside_and_named(tmp_path: Path) -> None:
    rawlog_files.write_episode(tmp_path)
    (tmp_path / PROFILE_FILE).write_text("robot: other\njoints: {unit: deg}")
    draft = drafted(tmp_path)
    assert (draft.facts.robot, load_profile(draft.text).joints.unit) == ("aloha", None)
    assert "profile.yaml already" in draft.text


def test_the_first_readable_episode_is_looked_at(tmp_path: Path) -> None:
    for name in ("ep_0", "ep_1"):
        rawlog_files.write_episode(tmp_path, name)
    (rawlog_files.folder_of(tmp_path, "ep_0") / "signals" / "action.parquet").write_bytes(b"no")
    assert drafted(tmp_path).facts.looked_at == "ep_1"


def test_where_nothing_can_be_read_the_reason_is_in_a_valid_draft(tmp_path: Path) -> None:
    rawlog_files.write_episode(tmp_path)
    (rawlog_files.folder_of(tmp_path) / "signals" / "action.parquet").write_bytes(b"no")
    draft = drafted(tmp_path)
    assert draft.facts.looked_at is None
    assert "action.parquet" in str(draft.facts.refused_reason)
    assert "action.parquet" in draft.text
    assert load_profile(draft.text) == PERMITTED


@pytest.mark.parametrize("odd", ["a\nb: c", "a\u2028#b", "\x07", "'", "- x", "null", "#"])
def test_texts_of_the_data_stay_texts(tmp_path: Path, odd: str) -> None:
    root = rawlog_files.write_episode(tmp_path)
    facts = {"task": odd, "robot": odd, "episode_index": 0}
    rawlog_files.write_json(rawlog_files.folder_of(root) / "episode.json", facts)
    text = drafted(root).text
    assert load_profile(text).joints.names == ("left", "right")
    assert yaml.safe_load(uncommented(text))["task"] == odd


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataFaultError) as caught:
        draft_profile(LocalSource(tmp_path))
    assert caught.value.kind is ErrorKind.EMPTY_SOURCE


def test_the_unit_of_depth_is_asked_for(tmp_path: Path) -> None:
    folder = rawlog_files.folder_of(rawlog_files.write_episode(tmp_path))
    rawlog_files.write_depth(folder / "cameras" / "tof", {rawlog_files.START_NS: depth_map(0)})
    draft = drafted(tmp_path)
    keys = {entry.key for entry in draft.fill_in}
    assert "cameras.tof.depth_unit_m" in keys
    assert "picture_channel_order" not in keys
    assert "Still pictures of depth" in draft.text
    assert load_profile(uncommented(draft.text)).cameras["tof"].depth_unit_m == 0.001
