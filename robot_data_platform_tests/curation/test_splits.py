from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from robot_data_platform.curation.spec import SplitSpec, default_spec, parse_spec
from robot_data_platform.curation.splits import CurationResult, curate
from robot_data_platform.errors import DataFaultError, ErrorKind, NotFoundError
from robot_data_platform.storage.predicate import equals
from robot_data_platform_tests.curation.small_lake import (
    RUN,
    SmallLake,
    episodes_named,
    run_named,
)

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def curated(small: SmallLake, spec: SplitSpec | None = None) -> CurationResult:
    return curate(small.lake, small.dataset, spec or default_spec(), RUN)


def split_by_id(small: SmallLake, result: CurationResult) -> dict[str, str]:
    table = small.lake.open(small.dataset, "splits", result.version)
    rows = table.read(["episode_id", "split"], equals("assignment_id", result.assignment_id))
    return dict(zip(*(column.to_pylist() for column in rows.columns), strict=True))


def test_one_commit_holds_one_row_for_each_episode_that_passes(small: SmallLake) -> None:
    small.ingest([*episodes_named("abcdef"), *episodes_named("xy", status="flagged")])
    result = curated(small)
    assert set(split_by_id(small, result)) == {e.id_in("aloha") for e in episodes_named("abcdef")}
    assert result.counts == {"train": 4, "val": 1, "test": 1}
    assert result.excluded == {"status": 2}


def test_the_rows_say_what_was_assigned_by_which_spec(small: SmallLake) -> None:
    small.ingest(episodes_named("a"))
    result = curated(small, parse_spec("name: mine\ngroup_by: [task, upload]"))
    (row,) = small.lake.open("aloha", "splits").read().to_pylist()
    assert row["spec_name"] == "mine"
    assert (row["group"], row["split"]) == ('["fold", "u1"]', "train")
    assert (row["episode_index"], row["content_digest"]) == (0, "ca")
    assert row["assignment_id"] == result.assignment_id


def test_the_commit_carries_the_run(small: SmallLake) -> None:
    small.ingest(episodes_named("a"))
    result = curated(small)
    table = small.lake.open("aloha", "splits", result.version)
    assert RUN.properties().items() <= table.transaction_properties().items()


def test_curating_the_same_content_again_writes_nothing(small: SmallLake) -> None:
    small.ingest(episodes_named("abc"))
    first = curated(small)
    again = curated(small)
    assert (again.assignment_id, again.version) == (first.assignment_id, first.version)
    assert (first.is_new, again.is_new) == (True, False)


def test_an_episode_ingested_again_with_equal_content_keeps_the_assignment(
    small: SmallLake,
) -> None:
    small.ingest(episodes_named("abc"))
    first = curated(small)
    small.ingest(episodes_named("b"))
    assert curated(small).assignment_id == first.assignment_id


def test_other_content_of_an_episode_makes_another_assignment(small: SmallLake) -> None:
    small.ingest(episodes_named("abc"))
    first = curated(small)
    small.ingest(episodes_named("b", content="other"))
    second = curated(small)
    assert second.assignment_id != first.assignment_id
    assert split_by_id(small, second) == split_by_id(small, first)


def test_growth_moves_no_episode_and_a_wider_filter_neither(small: SmallLake) -> None:
    small.ingest([*episodes_named("abcd"), *episodes_named("wxyz", status="flagged")])
    first = split_by_id(small, curated(small))
    small.ingest(episodes_named("efghijklm"))
    second = split_by_id(small, curated(small))
    wider = split_by_id(small, curated(small, parse_spec("filter: {status: [ok, flagged]}")))
    assert first.items() < second.items() < wider.items()


def test_an_episode_that_left_and_came_back_has_its_old_split(small: SmallLake) -> None:
    small.ingest(episodes_named("abcdef"))
    first = split_by_id(small, curated(small))
    small.ingest(episodes_named("abc", status="flagged"))
    curated(small)
    small.ingest(episodes_named("ghijkl"))
    curated(small)
    small.ingest(episodes_named("abc"))
    assert first.items() <= split_by_id(small, curated(small)).items()


def test_groups_stay_together_when_they_grow(small: SmallLake) -> None:
    spec = parse_spec("group_by: upload")
    for upload in ("u1", "u2", "u3"):
        small.ingest(episodes_named("abc", upload=upload))
    before = split_by_id(small, curated(small, spec))
    small.ingest(episodes_named("de", upload="u2"))
    after = split_by_id(small, curated(small, spec))
    mates = {after[e.id_in("aloha")] for e in episodes_named("abcde", upload="u2")}
    assert len(mates) == 1
    assert before.items() <= after.items()


def test_growth_pushes_no_assigned_episode_over_a_cap(small: SmallLake) -> None:
    spec = parse_spec("caps: {per_task: 3}")
    small.ingest(episodes_named("abc"))
    first = curated(small, spec)
    small.ingest(episodes_named(LETTERS[3:]))
    second = curated(small, spec)
    assert second.assignment_id == first.assignment_id
    assert second.excluded == {"caps": 23}


def test_another_seed_starts_a_history_of_its_own(small: SmallLake) -> None:
    small.ingest(episodes_named(LETTERS))
    one = split_by_id(small, curated(small))
    two = split_by_id(small, curated(small, parse_spec("seed: 1")))
    assert one != two


def test_a_stated_version_of_episodes_is_read(small: SmallLake) -> None:
    small.ingest(episodes_named("abc"))
    version = small.lake.open("aloha", "episodes").version
    small.ingest(episodes_named("d"))
    result = curate(small.lake, "aloha", default_spec(), RUN, version=version)
    assert (sum(result.counts.values()), result.episodes_version) == (3, version)


def test_two_curations_at_once_never_disagree(small: SmallLake) -> None:
    small.ingest(episodes_named(LETTERS[:8]))
    version = small.lake.open("aloha", "episodes").version
    small.ingest(episodes_named(LETTERS[8:]))
    small.lake.ensure("aloha", "splits")
    barrier = Barrier(2)

    def run(at: int | None) -> CurationResult:
        barrier.wait()
        return curate(small.lake, "aloha", default_spec(), run_named(f"run-{at}"), version=at)

    with ThreadPoolExecutor(2) as pool:
        few, many = pool.map(run, (version, None))
    assert split_by_id(small, few).items() < split_by_id(small, many).items()


def test_a_spec_that_no_episode_passes_is_an_error_that_counts_the_reasons(
    small: SmallLake,
) -> None:
    small.ingest([*episodes_named("ab", num_fail=None), *episodes_named("c", status="flagged")])
    with pytest.raises(DataFaultError, match=r"'aloha'.*\{'status': 1, 'not_measured': 2\}") as err:
        curated(small)
    assert err.value.kind is ErrorKind.NO_ROWS
    assert len(small.lake.open("aloha", "splits").read()) == 0


def test_a_dataset_that_is_not_there_is_not_made(small: SmallLake) -> None:
    with pytest.raises(NotFoundError, match="'aloha'") as caught:
        curated(small)
    assert caught.value.kind is ErrorKind.DATASET_NOT_FOUND
    assert small.lake.find("aloha", "splits") is None
