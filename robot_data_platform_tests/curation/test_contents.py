from __future__ import annotations

import pytest

from robot_data_platform.curation.contents import diff, show
from robot_data_platform.curation.release import create_release
from robot_data_platform.curation.spec import parse_spec
from robot_data_platform.errors import NotFoundError
from robot_data_platform_tests.curation.small_lake import RUN, SmallLake, episodes_named


def release(small: SmallLake, name: str, text: str = "") -> None:
    create_release(small.lake, "aloha", parse_spec(text), RUN, name=name)


def ids(names: str) -> tuple[str, ...]:
    return tuple(sorted(e.id_in("aloha") for e in episodes_named(names)))


def test_a_summary_counts_each_split_and_tells_the_spec(small: SmallLake) -> None:
    small.ingest(episodes_named("abcdef"))
    release(small, "v1", "name: mine")
    summary = show(small.lake, "aloha", "v1")
    assert summary.episodes_by_split == {"test": 1, "train": 4, "val": 1}
    assert summary.spec["name"] == "mine"
    assert (summary.num_episodes, summary.num_rows, summary.run_id) == (6, 18, "run-1")


def test_a_diff_tells_what_was_added_removed_and_changed(small: SmallLake) -> None:
    small.ingest(episodes_named("abcdef"))
    release(small, "v1")
    small.ingest(
        [
            *episodes_named("gh"),
            *episodes_named("b", content="new"),
            *episodes_named("c", status="flagged"),
        ]
    )
    release(small, "v2")
    found = diff(small.lake, "aloha", "v1", "v2")
    assert (found.added, found.removed, found.changed) == (ids("gh"), ids("c"), ids("b"))
    assert found.moved == ()


def test_a_diff_tells_which_episodes_moved_between_splits(small: SmallLake) -> None:
    small.ingest(episodes_named("ab"))
    release(small, "v1", "ratios: {train: 1}")
    release(small, "v2", "ratios: {val: 1}")
    moved = diff(small.lake, "aloha", "v1", "v2").moved
    assert [(m.episode_id, m.before, m.after) for m in moved] == [
        (episode_id, "train", "val") for episode_id in ids("ab")
    ]


def test_releases_of_equal_content_have_an_empty_diff(small: SmallLake) -> None:
    small.ingest(episodes_named("ab"))
    release(small, "v1")
    release(small, "v2")
    assert diff(small.lake, "aloha", "v1", "v2").is_empty


def test_an_unknown_release_is_not_found_and_the_known_are_listed(small: SmallLake) -> None:
    small.ingest(episodes_named("ab"))
    release(small, "v1")
    with pytest.raises(NotFoundError, match=r"no release 'v9': it has \['v1'\]"):
        show(small.lake, "aloha", "v9")
