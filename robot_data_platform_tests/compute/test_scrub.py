from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.compute.scrub import scrub
from robot_data_platform.compute.scrub_share import ALL, DAY_NS, NONE, ScrubShare, parse_share
from robot_data_platform.errors import InvalidInputError
from robot_data_platform.storage.upkeep import delete_rows
from robot_data_platform.testing.rawlog import RawlogShape
from robot_data_platform_tests.compute.test_maintenance import flip_bit
from robot_data_platform_tests.compute.uploads import (
    copied,
    ingest,
    land,
    published,
    released,
)

SHAPE = RawlogShape(num_episodes=2, num_rows=12)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    place = released(tmp_path_factory.mktemp("template"), SHAPE, "r1")
    land(place, "robot", "u2", replace(SHAPE, seed=1))
    ingest(place, "u2")
    return place


@pytest.fixture
def place(template: Workplace, tmp_path: Path) -> Workplace:
    """A released upload, and one that came after the release."""
    return copied(template, tmp_path)


def damage(place: Workplace, episode_index: int) -> dict[str, object]:
    gops = place.lake.open("robot", "gops")
    rows = gops.read(
        ["gop_key", "episode_index", "camera", "gop_index"],
        f"episode_index = {episode_index}",
        with_row_id=True,
    )
    (blob,) = gops.read_blobs(rows["_rowid"].to_numpy()[:1])
    flip_bit(Path(gops.uri), blob)
    row: dict[str, object] = rows.drop_columns(["_rowid"]).to_pylist()[0]
    return row


@pytest.mark.parametrize(("episode_index", "releases"), [(0, ["r1"]), (2, [])])
def test_a_damaged_gop_is_told_with_its_episode_and_the_releases_that_reach_it(
    place: Workplace, episode_index: int, releases: list[str]
) -> None:
    row = damage(place, episode_index)
    (found,) = scrub(place.lake, "robot", ALL, 0).damaged
    assert {name: getattr(found, name) for name in row} == row
    assert found.releases == releases
    shown = published(place, "robot", "u1") | published(place, "robot", "u2")
    assert found.episode_id in {
        episode.episode_id
        for episode in (*shown.values(), *published(place, "robot", "u1").values())
        if episode.episode_index == episode_index
    }


def test_what_only_a_release_reaches_is_scrubbed_too(place: Workplace) -> None:
    damage(place, 0)
    num_gops = place.lake.open("robot", "gops").count_rows()
    delete_rows(place.lake.table_uri("robot", "gops"), "episode_index = 0", {})
    delete_rows(place.lake.table_uri("robot", "episodes"), "episode_index = 0", {})
    done = scrub(place.lake, "robot", ALL, 0)
    assert done.num_gops == num_gops
    assert [(gop.releases, gop.episode_id is None) for gop in done.damaged] == [(["r1"], False)]


def test_a_blob_that_is_cut_off_is_damaged_and_the_others_are_not(place: Workplace) -> None:
    blobs = sorted(Path(place.lake.table_uri("robot", "gops")).rglob("*.blob"))
    with blobs[0].open("r+b") as file:
        file.truncate(blobs[0].stat().st_size - 1)
    done = scrub(place.lake, "robot", ALL, 0)
    assert len(done.damaged) == 1
    assert done.num_gops == place.lake.open("robot", "gops").count_rows()


def test_nights_in_a_row_look_at_every_gop_once(place: Workplace) -> None:
    looked = [scrub(place.lake, "robot", ScrubShare(7), day * DAY_NS).num_gops for day in range(7)]
    assert sum(looked) == scrub(place.lake, "robot", ALL, 0).num_gops
    assert scrub(place.lake, "robot", ScrubShare(7), 3 * DAY_NS + 5).num_gops == looked[3]
    assert scrub(place.lake, "robot", NONE, 0).num_gops == 0


def test_the_part_follows_the_day_alone() -> None:
    parts = Counter(ScrubShare(7).part_at(day * DAY_NS) for day in range(20_000, 20_070))
    assert parts == dict.fromkeys(range(7), 10)


@pytest.mark.parametrize("text", ["all", "none", "1/7", "1/365"])
def test_a_share_is_said_as_it_is_taken(text: str) -> None:
    assert str(parse_share(text)) == text


@pytest.mark.parametrize("text", ["2/7", "1/0", "0.5", "", "1/7 "])
def test_a_share_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="expected all, none, or 1/N"):
        parse_share(text)
