"""Which clocks count, where that is not the usual one, and whether they can be compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from robot_data_platform.core.alignment import row_clock
from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.time_base import NS_PER_S
from robot_data_platform.formats.natural_order import shortened
from robot_data_platform.formats.ros.clocks import MAX_APART_NS, ChosenTimes
from robot_data_platform.formats.ros.streams import Streams
from robot_data_platform.formats.ros.told import told
from robot_data_platform.formats.ros.topics import Topics
from robot_data_platform.formats.stream_keys import Clock

Range = tuple[int, int]


def clock_findings(topics: Topics, streams: Streams) -> Iterator[Finding]:
    """Yield what is unusual about the clocks of a recording's streams."""
    yield from _without_stamps(topics, streams)
    yield from _unusable_stamps(topics, streams)
    yield from _apart(topics, streams)
    yield from _repeated(topics, streams)


def _without_stamps(topics: Topics, streams: Streams) -> Iterator[Finding]:
    pairs = zip(streams.times, streams.chosen, strict=True)
    yield from told(
        topics.subject,
        {
            chosen.label: f"({chosen.clock.value})"
            for times, chosen in pairs
            if chosen.clock is not Clock.HEADER and not (chosen.unusable or times.stated)
        },
        "topics don't say when their messages were taken; when they were sent or logged counts",
        rule="streams_have_header_stamps",
        severity=Severity.INFO,
    )


def _unusable_stamps(topics: Topics, streams: Streams) -> Iterator[Finding]:
    yield from told(
        topics.subject,
        {c.label: f"({c.unusable}; {c.clock.value})" for c in streams.chosen if c.unusable},
        "topics have header stamps that can't count; when messages were sent or logged does",
        rule="header_stamps_are_usable",
        severity=Severity.WARN,
        then="State `clock` in the profile's `streams` to decide otherwise.",
    )


def _apart(topics: Topics, streams: Streams) -> Iterator[Finding]:
    rows = row_clock(streams.signals)
    main = next(c for s, c in zip(streams.signals, streams.chosen, strict=False) if s is rows)
    used = {c.label: _gap(_range(c), _range(main)) for c in streams.chosen}
    logged = {t: (seen.first_ns, seen.last_ns) for t, seen in topics.log.seen.items()}
    unused = {t: _gap(r, logged[main.label]) for t, r in logged.items() if t not in used}
    far = {topic: gap for topic, gap in (unused | used).items() if gap > MAX_APART_NS}
    if far:
        named = [f"{topic} by {gap / NS_PER_S:.0f} s" for topic, gap in sorted(far.items())]
        is_doubtful = any(topic in used for topic in far)
        advice = (
            "Their samples belong to no row. State `clock` or `time_offset_ns` in the profile's "
            "`streams`."
        )
        yield Finding(
            rule="streams_share_a_clock",
            severity=Severity.WARN if is_doubtful else Severity.INFO,
            message=(
                f"{topics.subject}: {len(far)} topics are on another clock than {main.label}: "
                f"{shortened(named, 5)}. {advice if is_doubtful else 'None of them is a stream.'}"
            ),
            where=f"topic={min(far)}",
            value=max(far.values()) / NS_PER_S,
            threshold=MAX_APART_NS / NS_PER_S,
            unit="s",
        )


def _repeated(topics: Topics, streams: Streams) -> Iterator[Finding]:
    repeated: dict[str, int] = {}
    for chosen in streams.chosen:
        if chosen.num_repeated:  # signals of one topic mostly share their messages
            known = repeated.get(chosen.label, 0)
            repeated[chosen.label] = max(known, chosen.num_repeated)
    yield from told(
        topics.subject,
        {topic: f"({count})" for topic, count in repeated.items()},
        "messages have the time of an earlier one of their topic and were left out",
        rule="times_are_distinct",
        severity=Severity.WARN,
        count=sum(repeated.values()),
        unit="messages",
    )


def _range(chosen: ChosenTimes) -> Range:
    return int(chosen.timestamp_ns[0]), int(chosen.timestamp_ns[-1])


def _gap(one: Sequence[int], other: Sequence[int]) -> int:
    """Return the time between two stretches; 0 where they overlap."""
    return max(0, one[0] - other[1], other[0] - one[1])
