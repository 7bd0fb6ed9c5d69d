"""Whether all of a recording was read, with numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.formats.natural_order import shortened
from robot_data_platform.formats.ros.told import told
from robot_data_platform.formats.ros.topics import Topics


def whole_findings(
    topics: Topics, num_declared: Counter[str], unmerged: Sequence[str]
) -> Iterator[Finding]:
    """Yield what is missing of a recording, and what is there beyond what it declares.

    Parameters
    ----------
    topics : Topics
        What was read.
    num_declared : Counter
        Messages that ``metadata.yaml`` promises, by topic; empty = there is none.
    unmerged : sequence of str
        Files beside the recording that hold messages which were not read.
    """
    declared = (num_declared or topics.log.num_declared).total()
    num_read = topics.log.num_read
    num_lost = max(0, declared - num_read)
    if num_lost or topics.log.losses or unmerged:
        yield _not_whole(topics, num_lost, unmerged)
    if num_declared and num_read > declared:
        yield Finding(
            rule="message_count_as_declared",
            severity=Severity.WARN,
            message=(
                f"{topics.subject} has more messages than its metadata says: got {num_read}, "
                f"expected {declared}. All were read."
            ),
            value=num_read,
            threshold=declared,
            unit="messages",
        )
    yield from _unfitting(topics)


def _unfitting(topics: Topics) -> Iterator[Finding]:
    faults = {n: topic.faults for n, topic in topics.by_name.items() if topic.faults.count}
    yield from told(
        topics.subject,
        {name: found.first for name, found in faults.items()},
        "messages don't fit their type and were left out",
        rule="messages_are_readable",
        severity=Severity.FAIL,
        count=sum(found.count for found in faults.values()),
        unit="messages",
    )
    yield from told(
        topics.subject,
        {name: f"({count})" for name, count in topics.num_long.items()},
        "messages go on after the end of their type; what follows was not read",
        rule="messages_end_as_defined",
        severity=Severity.WARN,
        count=sum(topics.num_long.values()),
        unit="messages",
    )


def _not_whole(topics: Topics, num_lost: int, unmerged: Sequence[str]) -> Finding:
    losses = topics.log.losses
    places = [
        f"{what} ({loss.num_stretches} times from {loss.where} on, {loss.num_bytes} bytes)"
        for what, loss in losses.items()
    ]
    places += [f"{path!r} was not merged into its file" for path in unmerged]
    num_read = topics.log.num_read
    missing = f"{num_lost} are missing" if num_lost else "how many are missing is not known"
    return Finding(
        rule="recording_is_whole",
        severity=Severity.FAIL,
        message=(
            f"{topics.subject} is not whole: {num_read} messages were read, {missing}"
            f"{': ' if places else ''}{shortened(places, 3)}. Record it again, or copy it again "
            "from the recorder."
        ),
        where=next((loss.where for loss in losses.values()), ""),
        value=num_lost or sum(loss.num_bytes for loss in losses.values()),
        threshold=0,
        unit="messages" if num_lost else "bytes",
    )
