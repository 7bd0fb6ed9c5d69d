from __future__ import annotations

import pytest

from robot_data_platform.curation.release import create_release
from robot_data_platform.curation.spec import parse_spec
from robot_data_platform.errors import ErrorKind, NotFoundError
from robot_data_platform.lineage.impact import ImpactedModel, ImpactedRelease, impact_of
from robot_data_platform.lineage.models import training_run
from robot_data_platform.storage.catalog import release_episodes
from robot_data_platform.storage.snapshot import find_release
from robot_data_platform_tests.curation.small_lake import (
    RUN,
    SmallLake,
    episodes_named,
    sha256_of,
)


def train(small: SmallLake, model: str, splits: str, release: str = "v1") -> None:
    with training_run(small.lake, "aloha", release, model=model, splits=splits):
        pass


def episode_in(small: SmallLake, split: str) -> str:
    rows = release_episodes(
        small.lake, find_release(small.lake, "aloha", "v1"), ["episode_id", "split"]
    ).to_pylist()
    return next(str(row["episode_id"]) for row in rows if row["split"] == split)


def test_an_episode_leads_to_its_releases_and_to_models_trained_on_its_split(
    released: SmallLake,
) -> None:
    create_release(released.lake, "aloha", parse_spec(""), RUN, name="v2")
    train(released, "on-train", "train")
    train(released, "on-val", "val")
    episode = episode_in(released, "val")
    found = impact_of(released.lake, episode)
    assert found.episodes == [episode]
    assert [(r.release, r.episodes_by_split) for r in found.releases] == [
        ("v1", {"val": 1}),
        ("v2", {"val": 1}),
    ]
    assert found.models == [
        ImpactedModel(model="on-val", dataset="aloha", release="v1", num_episodes=1)
    ]


def test_an_upload_leads_to_the_releases_that_hold_any_of_it(released: SmallLake) -> None:
    create_release(
        released.lake, "aloha", parse_spec("filter: {uploads: [u1]}"), RUN, name="only-u1"
    )
    found = impact_of(released.lake, "u2")
    assert found.episodes == sorted(e.id_in("aloha") for e in episodes_named("ef", upload="u2"))
    assert [release.release for release in found.releases] == ["v1"]
    assert sum(found.releases[0].episodes_by_split.values()) == 2


@pytest.mark.parametrize(("file", "count"), [("a", 1), ("u1", 4)])
def test_a_source_file_leads_to_every_episode_that_was_read_from_it(
    released: SmallLake, file: str, count: int
) -> None:
    found = impact_of(released.lake, sha256_of(file))
    assert len(found.episodes) == count
    assert sum(found.releases[0].episodes_by_split.values()) == count


def test_a_file_that_was_replaced_since_still_leads_to_its_release(released: SmallLake) -> None:
    released.ingest(episodes_named("a", upload="u2"))
    remaining = episodes_named("bcd", upload="u1")
    released.ingest(remaining)
    assert impact_of(released.lake, sha256_of("a")).releases[0].release == "v1"


def test_what_no_release_holds_has_no_impact(released: SmallLake) -> None:
    released.ingest(episodes_named("z", upload="u3"))
    found = impact_of(released.lake, "u3")
    assert (len(found.episodes), found.releases, found.models) == (1, [], [])


def test_an_impact_is_told_in_plain_values(released: SmallLake) -> None:
    found = impact_of(released.lake, episode_in(released, "test"))
    digest = find_release(released.lake, "aloha", "v1")["digest"]
    release = ImpactedRelease(
        dataset="aloha", release="v1", digest=digest, episodes_by_split={"test": 1}
    )
    assert found.releases == [release]
    assert found.to_json()["releases"] == [
        {"dataset": "aloha", "release": "v1", "digest": digest, "episodes_by_split": {"test": 1}}
    ]


@pytest.mark.parametrize(
    ("query", "kind"),
    [("u7", ErrorKind.UPLOAD_NOT_FOUND), ("ep_0", ErrorKind.EPISODE_NOT_FOUND)],
)
def test_what_the_lake_never_had_is_not_found_and_near_uploads_are_listed(
    released: SmallLake, query: str, kind: ErrorKind
) -> None:
    with pytest.raises(NotFoundError, match=r"near are uploads \['u[12]', 'u[12]'\]") as caught:
        impact_of(released.lake, query)
    assert caught.value.kind is kind


def test_a_quote_in_a_query_is_a_name_like_any_other(released: SmallLake) -> None:
    with pytest.raises(NotFoundError, match="near are uploads"):
        impact_of(released.lake, "u1' OR 'a'='a")
