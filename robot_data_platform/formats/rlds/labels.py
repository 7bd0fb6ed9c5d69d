"""What an RLDS record says in words: the instruction, and facts of the episode as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from robot_data_platform.core.recording import Int64Array, Interval
from robot_data_platform.formats.rlds.features import STEPS, Feature, Kind
from robot_data_platform.formats.rlds.messages import Content, Example
from robot_data_platform.formats.rlds.signals import EMBEDDING, row_mismatch

INSTRUCTIONS = ("language_instruction", "natural_language_instruction")
"""Own names of the feature that tells the robot what to do, the preferred one first."""
MAX_FACT_NUMBERS = 64
"""Numbers of an episode-wide feature that are kept as text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """Texts and facts of one episode."""

    task: str | None
    """The instruction of the first step that has one."""
    instructions: tuple[Interval, ...]
    """By time, where it changes; empty = ``task`` holds throughout."""
    metadata: Mapping[str, str]
    keys: frozenset[str]
    """Features that went into it."""


def read_labels(
    example: Example, features: Mapping[str, Feature], times: Int64Array, subject: str
) -> Labels:
    """Return the instruction, and all else that is text or belongs to the whole episode.

    Parameters
    ----------
    example : Example
        The open record.
    features : mapping
        What each feature is.
    times : ndarray of int64, shape (T,)
        Time of each step in ns.
    subject : str
        The episode, for messages.

    Raises
    ------
    DataFaultError
        ``row-mismatch``: as many texts as steps are expected.
    """
    texts = dict(_step_texts(example, features, len(times), subject))
    chosen = _instruction(texts)
    spans = list(_runs(texts[chosen])) if chosen else []
    told = [(start, stop, text) for start, stop, text in spans if text]
    constant = {k: t[0] for k, t in texts.items() if k != chosen and len(set(t)) == 1}
    facts = dict(_facts(example, features))
    return Labels(
        task=told[0][2] if told else None,
        instructions=_intervals(told, times) if len(spans) > 1 else (),
        metadata={k: v for k, v in {**constant, **facts}.items() if v},
        keys=frozenset({*constant, *facts, *([chosen] if chosen else [])}),
    )


def _step_texts(
    example: Example, features: Mapping[str, Feature], num_rows: int, subject: str
) -> Iterator[tuple[str, list[str]]]:
    for key, feature in features.items():
        if feature.kind is Kind.TEXT and key.startswith(STEPS) and key in example.features:
            texts = [_decoded(text) for text in example.texts(key)]
            if len(texts) != num_rows:
                raise row_mismatch(subject, key, len(texts), f"{num_rows}")
            yield key, texts


def _instruction(texts: Mapping[str, Sequence[str]]) -> str | None:
    for name in INSTRUCTIONS:
        for key in sorted(texts):
            if key.rpartition("/")[2] == name:
                return key
    return None


def _runs(texts: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yield first row, end and text of each stretch of equal texts."""
    starts = [row for row, text in enumerate(texts) if row == 0 or text != texts[row - 1]]
    for start, stop in pairwise([*starts, len(texts)]):
        yield start, stop, texts[start]


def _intervals(runs: Sequence[tuple[int, int, str]], times: Int64Array) -> tuple[Interval, ...]:
    ends = [*times[1:].tolist(), int(times[-1]) + 1]
    return tuple(
        Interval(start_ns=int(times[start]), end_ns=ends[stop - 1], value=text)
        for start, stop, text in runs
    )


def _facts(example: Example, features: Mapping[str, Feature]) -> Iterator[tuple[str, str]]:
    """Yield what is said once an episode, as text."""
    for key, feature in features.items():
        if key.startswith(STEPS) or key not in example.features or EMBEDDING in key:
            continue
        holds_bytes = example.features[key][0] is Content.BYTES
        if feature.kind is Kind.TEXT and holds_bytes:
            yield key, "; ".join(_decoded(text) for text in example.texts(key))
        elif feature.kind is Kind.NUMBERS and not holds_bytes:
            numbers = example.numbers(key).tolist()
            if 0 < len(numbers) <= MAX_FACT_NUMBERS:
                yield key, str(numbers[0] if len(numbers) == 1 else numbers)


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "backslashreplace")
