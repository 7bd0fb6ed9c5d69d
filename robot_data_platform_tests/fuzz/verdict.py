"""What a spoilt source came to, held against the whole one: nothing may be lost in silence."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from robot_data_platform_tests.fuzz.mutations.tree import Promise
from robot_data_platform_tests.fuzz.reading import Episode, Reading

Content = tuple[object, ...]


def faults(
    whole: Reading,
    spoilt: Reading,
    promise: Promise,
    is_there: Callable[[str], bool],
    twin: Reading | None = None,
) -> Iterator[str]:
    """Yield what breaks a promise.

    Parameters
    ----------
    whole, spoilt : Reading
        The source before and after.
    promise : Promise
        What has to hold.
    is_there : callable
        Whether the content of a file of the whole source is still somewhere in the spoilt one.
    twin : Reading, optional
        For `Promise.INSIDE`: the source without what leads outside.
    """
    if promise is Promise.TYPED or spoilt.refusal is not None:
        return
    if promise is Promise.INSIDE:
        assert twin is not None
        yield from _from_outside(spoilt, twin)
        return
    told = spoilt.told - whole.told
    yield from _lost(whole, spoilt, is_there) if not told else ()
    news_by_key = {key: e.told - _told_before(whole, key) for key, e in spoilt.episodes.items()}
    if promise is Promise.EXCHANGED:  # a file that is wrong for several may be told of for one
        told = told.union(*news_by_key.values())
    for key, episode in spoilt.episodes.items():
        news = told | news_by_key[key]
        fault = None if news else _difference(whole, key, episode, promise)
        if fault:
            yield f"episode {key!r} {fault}, and nothing tells of it"


def _told_before(whole: Reading, key: str) -> frozenset[str]:
    return whole.episodes[key].told if key in whole.episodes else frozenset()


def _lost(whole: Reading, spoilt: Reading, is_there: Callable[[str], bool]) -> Iterator[str]:
    """Yield the episodes that went without a word though something of them is still there."""
    found = {*spoilt.episodes, *spoilt.refused}
    new = found - {*whole.episodes}
    new_content = [_content(spoilt.episodes[key]) for key in new if key in spoilt.episodes]
    num_new_refused = len(new) - len(new_content)
    for key in whole.episodes.keys() - found:
        moved = _content(whole.episodes[key]) in new_content or num_new_refused > 0
        if not moved and any(is_there(path) for path in whole.files[key]):
            yield f"episode {key!r} is neither read nor refused, and nothing tells of it"


def _content(episode: Episode) -> Content:
    return (
        episode.num_rows,
        tuple(sorted(episode.columns.items())),
        tuple(sorted(episode.pictures.items())),
    )


def _difference(whole: Reading, key: str, episode: Episode, promise: Promise) -> str | None:
    """Return in what an episode differs from what the whole source has, as far as promised."""
    before = whole.episodes.get(key)
    candidates = [before] if before else list(whole.episodes.values())
    if promise is Promise.EXCHANGED:
        return _foreign(whole, episode)
    differences = [_compared(candidate, episode, promise) for candidate in candidates]
    return None if None in differences else differences[0]


def _compared(before: Episode, after: Episode, promise: Promise) -> str | None:
    if promise is Promise.PARTLY and before.columns.keys() - after.columns.keys():
        return None  # the rows may have been those of the signal that is gone
    if after.num_rows != before.num_rows:
        return f"has {after.num_rows} rows instead of {before.num_rows}"
    if promise is Promise.COUNTED:
        return None
    is_partly = promise is Promise.PARTLY
    for kind in ("columns", "pictures"):
        old, new = getattr(before, kind), getattr(after, kind)
        names = old.keys() & new.keys() if is_partly else old.keys() | new.keys()
        for name in sorted(names):
            if old.get(name) != new.get(name) and not (is_partly and name in MAY_BE_NULL):
                return f"has other {kind} {name!r}: {new.get(name)} instead of {old.get(name)}"
    return None


MAY_BE_NULL = ("task", "language_instruction", "source", "is_intervention")
"""Columns that are there for every episode, and null where nothing is said."""


def _foreign(whole: Reading, episode: Episode) -> str | None:
    """Return what of an episode is of none of the whole source: files of a kind were exchanged."""
    rows = {column for other in whole.episodes.values() for column in other.columns.values()}
    seen = [{*codes} for other in whole.episodes.values() for codes in other.pictures.values()]
    strange = [name for name, column in episode.columns.items() if column not in rows]
    strange += [
        name
        for name, codes in episode.pictures.items()
        if not any({*codes} - {None} <= codes_of_one for codes_of_one in seen)
    ]
    return f"has {strange} of no episode" if strange else None


def _from_outside(spoilt: Reading, twin: Reading) -> Iterator[str]:
    inside = {_content(episode) for episode in twin.episodes.values()}
    for key, episode in spoilt.episodes.items():
        if _content(episode) not in inside:
            yield f"episode {key!r} was read through what leads outside"
