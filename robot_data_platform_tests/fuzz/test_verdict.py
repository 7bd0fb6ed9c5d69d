"""What counts as a silent loss, and what does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from robot_data_platform_tests.fuzz.mutations.tree import Promise
from robot_data_platform_tests.fuzz.reading import Episode, Reading
from robot_data_platform_tests.fuzz.verdict import faults

EVERYTHING = (Promise.COUNTED, Promise.EQUAL, Promise.PARTLY, Promise.EXCHANGED)


def episode(number: int, **changes: object) -> Episode:
    """Return an episode of two rows, a column and a camera that name it."""
    whole = Episode(
        num_rows=2,
        columns={"action": f"actions of {number}".encode()},
        pictures={"top": (10 * number, 10 * number + 1)},
        told=frozenset({"known before"}),
    )
    return replace(whole, **changes)  # type: ignore[arg-type]


FILES = {"a": ("a.bin",), "b": ("b.bin",)}
WHOLE = Reading(episodes={"a": episode(1), "b": episode(2)}, files=FILES)


def spoilt(**changes: Episode | None) -> Reading:
    """Return the whole source with other episodes; None takes one out."""
    episodes: Mapping[str, Episode | None] = {**WHOLE.episodes, **changes}
    return replace(WHOLE, episodes={key: e for key, e in episodes.items() if e is not None})


def found(after: Reading, promise: Promise = Promise.EQUAL, *, is_there: bool = True) -> list[str]:
    return list(faults(WHOLE, after, promise, lambda path: is_there))


@pytest.mark.parametrize("promise", EVERYTHING)
def test_an_unchanged_source_breaks_no_promise(promise: Promise) -> None:
    assert found(WHOLE, promise) == []


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"num_rows": 1}, "has 1 rows instead of 2"),
        ({"columns": {"action": b"others"}}, "other columns 'action'"),
        ({"columns": {}}, "other columns 'action'"),
        ({"pictures": {"top": (11, 10)}}, "other pictures 'top'"),
        ({"pictures": {"top": (10, None)}}, "other pictures 'top'"),
        ({"pictures": {}}, "other pictures 'top'"),
    ],
)
def test_an_episode_that_changed_without_a_word_is_a_fault(
    change: dict[str, object], word: str
) -> None:
    (fault,) = found(spoilt(a=episode(1, **change)))
    assert word in fault


def test_a_new_finding_of_the_episode_pardons_it() -> None:
    told = episode(1, num_rows=1, told=frozenset({"known before", "a row is missing"}))
    assert found(spoilt(a=told)) == []


def test_a_finding_that_the_whole_source_has_pardons_nothing() -> None:
    assert len(found(spoilt(a=episode(1, num_rows=1)))) == 1


def test_a_new_finding_of_the_source_pardons_its_episodes() -> None:
    after = replace(spoilt(a=episode(1, num_rows=1), b=None), told=frozenset({"damaged"}))
    assert found(after) == []


@pytest.mark.parametrize("promise", EVERYTHING)
def test_an_episode_that_is_gone_though_its_files_are_there_is_a_fault(promise: Promise) -> None:
    (fault,) = found(spoilt(b=None), promise)
    assert "'b' is neither read nor refused" in fault


def test_an_episode_whose_files_are_gone_is_accounted_for() -> None:
    assert found(spoilt(b=None), is_there=False) == []


def test_an_episode_that_is_refused_is_accounted_for() -> None:
    assert found(replace(spoilt(b=None), refused={"b": "damaged"})) == []


def test_an_episode_under_another_name_is_accounted_for() -> None:
    assert found(spoilt(b=None, c=episode(2))) == []
    assert found(replace(spoilt(b=None), refused={"c": "damaged"})) == []


def test_an_episode_of_unknown_content_is_a_fault() -> None:
    (fault,) = found(spoilt(c=episode(3, told=frozenset())))
    assert "'c'" in fault


def test_a_source_that_is_refused_as_a_whole_is_accounted_for() -> None:
    assert found(Reading(refusal="damaged")) == []


def test_what_is_only_counted_may_have_other_values() -> None:
    other = episode(1, columns={"action": b"others"}, pictures={"top": (7, 8)})
    assert found(spoilt(a=other), Promise.COUNTED) == []


def test_what_is_partly_there_may_lack_columns_and_cameras_but_change_none() -> None:
    assert found(spoilt(a=episode(1, columns={}, pictures={})), Promise.PARTLY) == []
    assert len(found(spoilt(a=episode(1, pictures={"top": (7, 8)})), Promise.PARTLY)) == 1


def test_what_was_exchanged_comes_from_some_episode() -> None:
    assert found(spoilt(a=episode(2), b=episode(1)), Promise.EXCHANGED) == []
    mixed = episode(1, pictures={"top": (10, 20)})
    assert len(found(spoilt(a=mixed), Promise.EXCHANGED)) == 1


def test_nothing_comes_from_outside() -> None:
    twin = spoilt(b=None)
    assert not list(faults(WHOLE, twin, Promise.INSIDE, lambda _: True, twin))
    (fault,) = faults(WHOLE, WHOLE, Promise.INSIDE, lambda _: True, twin)
    assert "'b' was read through what leads outside" in fault
