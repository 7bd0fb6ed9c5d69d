"""The sources that are spoilt: all formats have one, and each is whole before that."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from robot_data_platform.formats.profile import find_profile
from robot_data_platform.formats.registry import detect_format, known_formats
from robot_data_platform.storage.source import LocalSource
from robot_data_platform_tests.fuzz.reading import Reading, read_source
from robot_data_platform_tests.fuzz.seeds import SEEDS


@pytest.fixture(params=SEEDS)
def name(request: pytest.FixtureRequest) -> str:
    """One after the other."""
    return str(request.param)


@pytest.fixture
def root(tmp_path: Path, name: str) -> Path:
    """Its source."""
    folder = tmp_path / "source"
    folder.mkdir()
    SEEDS[name].write(folder)
    return folder


def read(root: Path, name: str) -> Reading:
    return read_source(root, SEEDS[name].profile)


def test_every_registered_format_has_a_seed() -> None:
    assert {seed.format_name for seed in SEEDS.values()} == known_formats().keys()


def test_a_seed_is_of_the_format_that_it_names(root: Path, name: str) -> None:
    source = LocalSource(root)
    hint = find_profile(source).described_format
    assert detect_format(source, hint).name == SEEDS[name].format_name


def test_a_whole_source_is_read_whole(root: Path, name: str) -> None:
    reading = read(root, name)
    assert (reading.refusal, reading.refused, reading.told) == (None, {}, frozenset())
    assert reading.episodes
    assert all(episode.num_rows > 1 for episode in reading.episodes.values())


def test_no_two_episodes_of_a_source_show_the_same(root: Path, name: str) -> None:
    episodes = read(root, name).episodes.values()
    rows = [tuple(sorted(episode.columns.items())) for episode in episodes]
    assert len(set(rows)) == len(rows)
    streams = [
        (e, {*codes} - {None}) for e, ep in enumerate(episodes) for codes in ep.pictures.values()
    ]
    for number, codes in streams:
        assert codes, "a camera shows nothing"
        for other, others in streams:
            assert number == other or not codes & others


def test_a_copy_elsewhere_is_read_alike(root: Path, name: str, tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere" / "copy"
    shutil.copytree(root, copy)
    assert read(copy, name) == read(root, name)
