"""A source has one format, and the message says why not where it has none."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from robot_data_platform.core.recording import EpisodeRef, Recording
from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, ErrorKind, InvalidInputError
from robot_data_platform.formats import registry
from robot_data_platform.formats.profile import Profile
from robot_data_platform.formats.protocol import EpisodeListing
from robot_data_platform.formats.registry import detect_format, known_formats
from robot_data_platform.storage.source import LocalSource
from robot_data_platform_tests.formats import (
    droid_files,
    hdf5_files,
    pickle_files,
    rawlog_files,
    rlds_files,
    robomimic_files,
    ros_files,
)
from robot_data_platform_tests.formats.lerobot_files import Take, write_v2


class TextFormat:
    """A format of an installed package."""

    name = "text"
    marker = "*.txt"

    def sniff(self, source: Source) -> bool:
        return any(path.endswith(".txt") for path in source.list_files())

    def list_episodes(self, source: Source, profile: Profile) -> EpisodeListing:
        return EpisodeListing(episodes=())

    def read(self, source: Source, ref: EpisodeRef, profile: Profile) -> Recording:
        raise NotImplementedError


class SecondLeRobot(TextFormat):
    """A format that takes a built-in one's name."""

    name = "lerobot"


def install(monkeypatch: pytest.MonkeyPatch, folder: Path, classes: Sequence[type]) -> None:
    """Put a package with entry points on the import path."""
    info = folder / "text_format-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: text-format\nVersion: 1.0\n")
    lines = [f"{c.__name__} = {c.__module__}:{c.__qualname__}" for c in classes]
    entries = "\n".join([f"[{registry.ENTRY_POINT_GROUP}]", *lines])
    (info / "entry_points.txt").write_text(entries)
    monkeypatch.syspath_prepend(str(folder))


def test_each_built_in_format_is_recognised(tmp_path: Path) -> None:
    write_v2(tmp_path / "lerobot", (Take(index=0, num_rows=2),), cameras=())
    hdf5_files.write_episode(tmp_path / "aloha_hdf5" / "episode_0.hdf5")
    rawlog_files.write_episode(tmp_path / "rawlog")
    robomimic_files.write_file(tmp_path / "robomimic_hdf5" / "demo.hdf5", demos=(0,))
    droid_files.write_episode(tmp_path / "droid" / "a")
    rlds_files.write_dataset(tmp_path / "rlds", [rlds_files.record()])
    pickle_files.write_demos(tmp_path / "pickle")
    pickle_files.write_npz(tmp_path / "npz" / "demo.npz", {"action": pickle_files.state()})
    ros_files.write_mcap(tmp_path / "mcap" / "a.mcap", ros_files.joint_states())
    ros_files.write_rosbag2(tmp_path / "rosbag2" / "a", ros_files.joint_states())
    ros_files.write_rosbag1(tmp_path / "rosbag1" / "a.bag", ros_files.joint_states())
    read = ("lerobot", "aloha_hdf5", "robomimic_hdf5", "droid", "rawlog", "rlds", "pickle", "npz")
    for name in (*read, "mcap", "rosbag2", "rosbag1"):
        assert detect_format(LocalSource(tmp_path / name)).name == name


def test_an_unknown_folder_is_refused_with_what_it_holds_and_what_was_looked_for(
    tmp_path: Path,
) -> None:
    (tmp_path / "log.ulg").write_text("x")
    with pytest.raises(DataFaultError) as caught:
        detect_format(LocalSource(tmp_path))
    assert caught.value.kind is ErrorKind.UNKNOWN_FORMAT
    for text in ("1 .ulg", "log.ulg", "meta/info.json with a codebase_version", "qpos", "rawlog"):
        assert text in str(caught.value)


@pytest.mark.parametrize("exists", [True, False])
def test_a_source_without_files_is_refused_as_empty(tmp_path: Path, exists: bool) -> None:
    folder = tmp_path if exists else tmp_path / "absent"
    with pytest.raises(DataFaultError, match="is empty: got 0 files") as caught:
        detect_format(LocalSource(folder))
    assert caught.value.kind is ErrorKind.EMPTY_SOURCE


def test_a_folder_of_two_formats_is_refused_naming_both_unless_one_is_named(
    tmp_path: Path,
) -> None:
    write_v2(tmp_path, (Take(index=0, num_rows=2),), cameras=())
    hdf5_files.write_episode(tmp_path / "episode_0.hdf5")
    source = LocalSource(tmp_path)
    with pytest.raises(DataFaultError, match="got signs of lerobot and aloha_hdf5"):
        detect_format(source)
    assert detect_format(source, "aloha_hdf5").name == "aloha_hdf5"


def test_an_unknown_name_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x")
    with pytest.raises(InvalidInputError, match=r"expected one of \['aloha_hdf5', "):
        detect_format(LocalSource(tmp_path), "nothing")


def test_an_info_file_of_something_else_is_no_lerobot_dataset(tmp_path: Path) -> None:
    (tmp_path / "meta").mkdir()
    (tmp_path / "meta/info.json").write_text("{}")
    with pytest.raises(DataFaultError, match="is in no known format"):
        detect_format(LocalSource(tmp_path))


def test_a_format_of_an_installed_package_is_found_by_its_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, tmp_path / "site", [TextFormat])
    (tmp_path / "data").mkdir()
    (tmp_path / "data/a.txt").write_text("x")
    assert list(known_formats())[-1] == "text"
    assert detect_format(LocalSource(tmp_path / "data")).name == "text"


def test_a_package_can_not_take_the_name_of_a_built_in_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, tmp_path / "site", [SecondLeRobot])
    with pytest.raises(InvalidInputError, match="Format 'lerobot' is there twice"):
        known_formats()
