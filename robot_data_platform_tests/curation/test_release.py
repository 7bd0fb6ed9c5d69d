from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from robot_data_platform.curation import release as release_module
from robot_data_platform.curation.release import ReleaseResult, create_release
from robot_data_platform.curation.spec import default_spec, parse_spec
from robot_data_platform.curation.splits import curate
from robot_data_platform.errors import ErrorKind, InvalidInputError, NotFoundError, StorageError
from robot_data_platform.storage.snapshot import find_release, list_releases, open_snapshot
from robot_data_platform_tests.curation.small_lake import (
    RUN,
    SmallLake,
    episodes_named,
    run_named,
)
from robot_data_platform_tests.servers import S3Server

PINNED = ("gops", "frames", "episodes", "splits")


def released(small: SmallLake, name: str | None = None, text: str = "") -> ReleaseResult:
    return create_release(small.lake, small.dataset, parse_spec(text), RUN, name=name)


def tags_of(small: SmallLake, tag: str) -> dict[str, int | None]:
    return {table: small.lake.open(small.dataset, table).tags().get(tag) for table in PINNED}


def test_a_release_pins_and_tags_every_table_there_is(small: SmallLake) -> None:
    small.ingest(episodes_named("abcdef"))
    small.lake.ensure("aloha", "quality")
    result = released(small, "v1")
    assert set(result.tables) == {*PINNED, "quality"}
    assert tags_of(small, "rel-v1").items() <= result.tables.items()
    assert (result.num_episodes, result.num_rows) == (6, 18)


def test_the_row_of_a_release_is_its_record(small: SmallLake) -> None:
    small.ingest(episodes_named("ab"))
    result = released(small, "v1")
    row = find_release(small.lake, "aloha", "v1")
    assert (row["release_key"], row["digest"]) == ("aloha/v1", result.digest)
    assert (row["run_id"], row["code_version"], row["created_ns"]) == ("run-1", "7", 1000)
    assert {entry["table"]: entry["version"] for entry in row["tables"]} == result.tables


def test_what_is_ingested_later_does_not_move_a_release(small: SmallLake) -> None:
    small.ingest(episodes_named("ab"))
    released(small, "v1")
    small.ingest(episodes_named("bcd", content="new"))
    snapshot = open_snapshot(small.lake, "aloha", release="v1")
    assert snapshot.episodes.read(["source_key"])["source_key"].to_pylist() == ["a", "b"]
    assert snapshot.frames.count_rows() == 6


def test_the_default_name_starts_with_the_digest(small: SmallLake) -> None:
    small.ingest(episodes_named("ab"))
    result = released(small)
    assert result.name == f"r-{result.digest[:12]}"


def test_a_release_can_be_trained_on_by_who_may_make_no_table(small: SmallLake) -> None:
    small.ingest(episodes_named("ab"))
    released(small)
    assert small.lake.find_catalog("models") is not None


def test_the_same_name_and_content_again_writes_nothing(small: SmallLake) -> None:
    small.ingest(episodes_named("ab"))
    first = released(small, "v1")
    versions = {table: small.lake.open("aloha", table).version for table in PINNED}
    again = released(small, "v1")
    assert (first.is_new, again.is_new) == (True, False)
    assert again.tables == first.tables
    assert {table: small.lake.open("aloha", table).version for table in PINNED} == versions
    assert len(list_releases(small.lake)) == 1


def test_the_same_name_for_other_content_is_refused_with_both_digests(small: SmallLake) -> None:
    small.ingest(episodes_named("ab"))
    first = released(small, "v1")
    small.ingest(episodes_named("c"))
    with pytest.raises(
        InvalidInputError, match=f"'aloha/v1' exists with digest {first.digest}"
    ) as e:
        released(small, "v1")
    assert e.value.kind is ErrorKind.ALREADY_EXISTS
    assert tags_of(small, "rel-v1").items() <= first.tables.items()


def test_equal_content_has_an_equal_digest_in_any_lake_and_order(
    small: SmallLake, tmp_path: object
) -> None:
    other = SmallLake(f"{tmp_path}/other")
    small.ingest(episodes_named("abc"))
    other.ingest(episodes_named("cab"))
    assert released(small, "v1").digest == released(other, "v2").digest


@pytest.mark.parametrize("text", ["filter: {min_rows: 2}", "seed: 7"])
def test_another_spec_has_another_digest(small: SmallLake, text: str) -> None:
    small.ingest(episodes_named("abc"))
    assert released(small).digest != released(small, text=text).digest


def test_a_given_assignment_is_released_although_more_came_since(small: SmallLake) -> None:
    small.ingest(episodes_named("abc"))
    curated = curate(small.lake, "aloha", default_spec(), RUN)
    small.ingest(episodes_named("d"))
    result = create_release(
        small.lake, "aloha", default_spec(), RUN, assignment_id=curated.assignment_id
    )
    assert (result.num_episodes, result.assignment_id) == (3, curated.assignment_id)


def test_an_assignment_whose_episodes_changed_since_is_refused(small: SmallLake) -> None:
    small.ingest(episodes_named("abc"))
    curated = curate(small.lake, "aloha", default_spec(), RUN)
    small.ingest(episodes_named("b", content="new"))
    with pytest.raises(InvalidInputError, match="ingested again or removed") as caught:
        create_release(
            small.lake, "aloha", default_spec(), RUN, assignment_id=curated.assignment_id
        )
    assert caught.value.kind is ErrorKind.INVALID_ARGUMENT
    assert list_releases(small.lake) == []


def test_an_assignment_of_another_spec_is_refused(small: SmallLake) -> None:
    small.ingest(episodes_named("abc"))
    curated = curate(small.lake, "aloha", default_spec(), RUN)
    with pytest.raises(InvalidInputError, match="was made by a spec with digest"):
        create_release(
            small.lake, "aloha", parse_spec("seed: 1"), RUN, assignment_id=curated.assignment_id
        )


def test_an_unknown_assignment_is_not_found(small: SmallLake) -> None:
    small.ingest(episodes_named("abc"))
    curate(small.lake, "aloha", default_spec(), RUN)
    with pytest.raises(NotFoundError, match="no assignment 'x'") as caught:
        create_release(small.lake, "aloha", default_spec(), RUN, assignment_id="x")
    assert caught.value.kind is ErrorKind.SPLIT_NOT_FOUND


def test_a_name_that_no_tag_can_have_is_refused(small: SmallLake) -> None:
    small.ingest(episodes_named("abc"))
    with pytest.raises(InvalidInputError, match="The release name 'v/1' can't be used"):
        released(small, "v/1")


def dies(*_: object) -> None:
    raise StorageError("the process died here", kind=ErrorKind.STORE_FAILED)


def test_a_crash_before_the_row_leaves_no_release_and_the_next_run_takes_its_tags(
    small: SmallLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    small.ingest(episodes_named("abc"))
    with monkeypatch.context() as patch:
        patch.setattr(release_module, "add_release", dies)
        with pytest.raises(StorageError):
            released(small, "v1")
    assert list_releases(small.lake) == []
    assert None not in tags_of(small, "rel-v1").values()
    small.ingest(episodes_named("d"))
    result = released(small, "v1")
    assert result.num_episodes == 4
    assert tags_of(small, "rel-v1").items() <= result.tables.items()


def test_a_tag_that_is_lost_is_set_again_by_creating_the_release_again(small: SmallLake) -> None:
    small.ingest(episodes_named("abc"))
    result = released(small, "v1")
    small.ingest(episodes_named("x", status="flagged"))
    small.lake.open("aloha", "gops").lance.tags.delete("rel-v1")
    small.lake.open("aloha", "frames").move_tag("rel-v1")
    released(small, "v1")
    assert tags_of(small, "rel-v1").items() <= result.tables.items()


def at_once(calls: list[Callable[[], ReleaseResult]]) -> list[ReleaseResult | InvalidInputError]:
    barrier = Barrier(len(calls))

    def run(call: Callable[[], ReleaseResult]) -> ReleaseResult | InvalidInputError:
        barrier.wait()
        try:
            return call()
        except InvalidInputError as err:
            return err

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def test_two_runs_of_one_release_at_once_leave_one_row(small: SmallLake) -> None:
    small.ingest(episodes_named("abcdef"))
    results = at_once([lambda: released(small, "v1"), lambda: released(small, "v1")])
    assert {r.is_new for r in results if isinstance(r, ReleaseResult)} == {True, False}
    assert len(list_releases(small.lake)) == 1


def test_two_contents_for_one_name_at_once_leave_one_release_with_its_tags(
    small: SmallLake,
) -> None:
    small.ingest(episodes_named("abcdef"))
    calls = [
        lambda: create_release(small.lake, "aloha", default_spec(), run_named("one"), name="v1"),
        lambda: create_release(small.lake, "aloha", parse_spec("seed: 1"), RUN, name="v1"),
    ]
    results = at_once(calls)
    (won,) = (r for r in results if isinstance(r, ReleaseResult))
    (lost,) = (r for r in results if isinstance(r, InvalidInputError))
    assert lost.kind is ErrorKind.ALREADY_EXISTS
    assert tags_of(small, "rel-v1").items() <= won.tables.items()


def test_a_release_on_s3_is_made_by_the_same_code(s3_environment: S3Server) -> None:
    small = SmallLake(s3_environment.make_bucket("releases") + "/lake")
    small.ingest(episodes_named("abc"))
    result = released(small, "v1")
    assert tags_of(small, "rel-v1").items() <= result.tables.items()
