"""A draft of a profile from what a source shows, with what only a person can say left open."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from robot_data_platform.core.recording import STATE
from robot_data_platform.core.source import Source
from robot_data_platform.formats.draft_facts import SourceFacts, look_at
from robot_data_platform.formats.draft_keys import draft_keys
from robot_data_platform.formats.draft_text import Key, draft_yaml, open_keys
from robot_data_platform.formats.profile import PROFILE_FILE, Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenKey:
    """A key that a person has to fill in."""

    key: str
    """Path of the key, dots between: ``joints.unit``."""
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileDraft:
    """What a source shows, and a profile to go on from."""

    facts: SourceFacts
    fill_in: tuple[OpenKey, ...]
    text: str
    """YAML, valid as it is: what is not known stands in comments."""


def draft_profile(
    source: Source, format_hint: str | None = None, permitted: Profile | None = None
) -> ProfileDraft:
    """Return a commented profile for a source, from its first readable episode.

    Parameters
    ----------
    source : Source
        What to look at; a ``profile.yaml`` of its own is left aside.
    format_hint : str, optional
        Name of the format; found by looking at the files otherwise.
    permitted : Profile, optional
        States `allow_pickle` where it is permitted; it goes into the draft.

    Raises
    ------
    DataFaultError
        ``unknown-format``, ``empty-source``; or the source as a whole can't be read.
    InvalidInputError
        ``invalid-argument``: no such format.
    """
    stated = permitted or Profile()
    facts = look_at(source, format_hint, stated)
    keys = [*draft_keys(facts), *_permissions(stated)]
    has_own = PROFILE_FILE in source.list_files()
    return ProfileDraft(
        facts=facts,
        fill_in=tuple(OpenKey(key=key, why=why) for key, why in open_keys(keys)),
        text=draft_yaml(list(_head(facts, has_own)), keys),
    )


def _permissions(stated: Profile) -> Iterator[Key]:
    if stated.allow_pickle:
        yield Key(name="allow_pickle", value=True, is_stated=True, note="As it was permitted.")


def _head(facts: SourceFacts, has_own: bool) -> Iterator[str]:
    looked_at = f"episode {facts.looked_at!r}" if facts.looked_at else "no readable episode"
    yield f"Profile of {facts.source!r}: {facts.format}, {facts.num_episodes} episodes."
    yield f"Drafted from {looked_at}. docs/formats.md says what each key means."
    if facts.refused_reason:
        yield f"Nothing could be read: {facts.refused_reason!r}"
    if has_own:
        yield f"The source has a {PROFILE_FILE} already, which was left aside."
    others = [signal for signal in facts.signals if signal.name != STATE]
    if others:
        yield f"Other signals: {', '.join(f'{s.name} ({s.width})' for s in others)}."
    yield "A key right behind a '#' is not stated: correct its value and take the '#' away."
