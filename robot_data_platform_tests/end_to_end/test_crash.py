"""An ingestion that ends right after one of its commits is finished by the next run."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import lance
import pytest

from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.testing.rawlog import RawlogEpisode, RawlogShape
from robot_data_platform_tests.compute.uploads import (
    assert_holds,
    doubled,
    ingest,
    land,
    published,
    versions,
    workplace,
)

SHAPE = RawlogShape(num_episodes=3, num_rows=16, faults={1: "truncated_video"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A place with an upload in dataset ``old``, another in ``robot``, and one that only landed."""

    place: Workplace
    earlier: tuple[RawlogEpisode, ...]
    """In ``old`` as upload ``o1`` and in ``robot`` as upload ``u1``."""
    killed: tuple[RawlogEpisode, ...]
    """What the upload holds whose ingestion is killed, without its broken episode."""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    place = workplace(tmp_path_factory.mktemp("prepared"))
    before = RawlogShape(num_episodes=1, num_rows=12, seed=1)
    land(place, "old", "o1", before)
    earlier = land(place, "robot", "u1", before)
    ingest(place, "o1")
    ingest(place, "u1")
    episodes = land(place, "robot", "u2", SHAPE)
    killed = tuple(episode for episode in episodes if episode.fault is None)
    return Prepared(place=place, earlier=earlier, killed=killed)


def copied(place: Workplace, folder: Path) -> Workplace:
    shutil.copytree(Path(place.lake_root).parent, folder, dirs_exist_ok=True)
    return workplace(folder)


def assert_whole(place: Workplace, dataset: str, upload: str, prepared: Prepared) -> None:
    """Check that the upload is there once and right, and that the others are as they were."""
    assert_holds(place, dataset, upload, prepared.killed)
    assert len(published(place, dataset, upload)) == SHAPE.num_episodes
    assert doubled(place.lake, dataset) == {}
    assert_holds(place, "old", "o1", prepared.earlier)
    assert versions(place.lake, "old") == versions(prepared.place.lake, "old") | {
        "uploads": place.lake.ensure_catalog("uploads").version
    }
    assert published(place, "robot", "u1") == published(prepared.place, "robot", "u1")


class Killed(BaseException):
    """Ends a run at one place, as a kill does."""


def test_a_run_that_ends_at_any_commit_is_finished_by_the_next(
    prepared: Prepared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = lance.LanceDataset.commit
    to_go = 0

    def commit_and_end(*arguments: object, **options: object) -> lance.LanceDataset:
        nonlocal to_go
        committed = commit(*arguments, **options)  # type: ignore[arg-type]
        to_go -= 1
        if to_go == 0:
            raise Killed
        return committed

    monkeypatch.setattr(lance.LanceDataset, "commit", staticmethod(commit_and_end))
    num_ended = 0
    while num_ended < 20:
        place = copied(prepared.place, tmp_path / str(num_ended))
        to_go = num_ended + 1
        try:
            ingest(place, "u2")
        except Killed:
            num_ended += 1
            assert len(published(place, "robot", "u2")) in (0, SHAPE.num_episodes)
            ingest(place, "u2")
            assert_whole(place, "robot", "u2", prepared)
        else:
            break
    assert num_ended > 4
