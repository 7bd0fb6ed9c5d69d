"""Which time counts: chosen per stream, compared over streams, and told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_data_platform.core.finding import Severity
from robot_data_platform.core.recording import Recording
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.profile import Profile, load_profile
from robot_data_platform.formats.ros.clocks import MessageTimes, choose_times
from robot_data_platform.formats.stream_keys import Clock
from robot_data_platform_tests.formats.reading import (
    by_rule,
    camera,
    read_episode,
    refusal,
    shown_codes,
    signal,
)
from robot_data_platform_tests.formats.ros_files import (
    EPOCH_NS,
    STEP_NS,
    Sent,
    header,
    images,
    joint_state,
    joint_states,
    plain,
    time_of,
    write_mcap,
)

STEPS = np.arange(20, dtype=np.int64) * STEP_NS


def times(**changes: object) -> MessageTimes:
    """Return a stream with a stamp of its own, sent and logged later."""
    recorded = {
        "label": "/a",
        "header_ns": EPOCH_NS + STEPS,
        "publish_ns": EPOCH_NS + STEPS + 1,
        "log_ns": EPOCH_NS + STEPS + 2,
    }
    return MessageTimes(**(recorded | changes))  # type: ignore[arg-type]


def chosen_clock(**changes: object) -> Clock:
    (chosen,) = choose_times([times(**changes)])
    return chosen.clock


@pytest.mark.parametrize(
    ("changes", "clock"),
    [
        ({}, Clock.HEADER),
        ({"header_ns": None}, Clock.PUBLISH),
        ({"header_ns": 0 * STEPS}, Clock.PUBLISH),
        ({"header_ns": (EPOCH_NS + STEPS) // 10**9 * 10**9}, Clock.PUBLISH),
        ({"header_ns": None, "publish_ns": None}, Clock.LOG),
        ({"header_ns": None, "publish_ns": 0 * STEPS}, Clock.LOG),
        ({"header_ns": None, "publish_ns": STEPS + 1}, Clock.LOG),
        ({"header_ns": None, "publish_ns": EPOCH_NS + STEPS + 2}, Clock.LOG),
        ({"stated": Clock.LOG}, Clock.LOG),
        ({"stated": Clock.PUBLISH}, Clock.PUBLISH),
    ],
    ids=[
        "own stamps",
        "no stamps",
        "stamps of 0",
        "stamps of whole seconds",
        "neither stamps nor sent",
        "sent at 0",
        "sent on another clock",
        "sent when logged",
        "log stated",
        "publish stated",
    ],
)
def test_one_rule_chooses_the_clock(changes: dict[str, object], clock: Clock) -> None:
    assert chosen_clock(**changes) is clock


def test_streams_without_stamps_take_all_others_to_the_log_if_stamps_are_on_another_clock() -> None:
    relative = times(header_ns=STEPS + 5, log_ns=EPOCH_NS + STEPS)
    without = times(label="/b", header_ns=None, publish_ns=None)
    chosen = choose_times([relative, without])
    assert [c.clock for c in chosen] == [Clock.LOG, Clock.LOG]
    assert [c.unusable for c in chosen] == [
        f"{-EPOCH_NS / 10**9:.0f} s from the log times, which others have alone",
        None,
    ]


def test_stamps_on_another_clock_than_the_log_count_where_all_have_them() -> None:
    chosen = choose_times([times(log_ns=STEPS + 1, publish_ns=None)] * 2)
    assert [c.clock for c in chosen] == [Clock.HEADER, Clock.HEADER]


def test_few_messages_with_the_time_of_another_are_left_out() -> None:
    stamps = EPOCH_NS + STEPS
    stamps[7] = stamps[6]
    (chosen,) = choose_times([times(header_ns=stamps)])
    assert (chosen.num_repeated, chosen.index.tolist()) == (1, [k for k in range(20) if k != 7])


def test_frames_of_a_video_are_never_left_out() -> None:
    stamps = EPOCH_NS + STEPS
    stamps[7] = stamps[6]
    assert chosen_clock(header_ns=stamps, may_repeat=False) is Clock.PUBLISH


def test_times_that_all_repeat_are_refused() -> None:
    frozen = 0 * STEPS + EPOCH_NS
    with pytest.raises(DataFaultError) as caught:
        choose_times([times(header_ns=None, publish_ns=None, log_ns=frozen)])
    assert caught.value.kind is ErrorKind.TIME_NOT_INCREASING
    assert "19 of 20 messages" in str(caught.value)


@given(st.lists(st.integers(1, 1 << 62), min_size=1, max_size=40, unique=True), st.randoms())
def test_times_are_sorted_and_each_keeps_its_message(stamps: list[int], dice: object) -> None:
    (chosen,) = choose_times([times(header_ns=np.array(stamps), log_ns=np.array(stamps))])
    pairs = sorted((time, k) for k, time in enumerate(stamps))
    assert chosen.timestamp_ns.tolist() == [time for time, _ in pairs]
    assert chosen.index.tolist() == [k for _, k in pairs]


def read(root: Path, messages: list[Sent], profile: Profile | None = None) -> Recording:
    write_mcap(root / "a.mcap", messages)
    return read_episode(root, "a.mcap", profile)


def test_nanoseconds_since_1970_stay_exact(tmp_path: Path) -> None:
    stamps = [1_772_010_251_663_250_683 + k * 33_333_333 for k in range(150)]
    messages = [joint_state(k, header=header(stamp)) for k, stamp in enumerate(stamps)]
    found = signal(read(tmp_path, messages), "observation_state").timestamp_ns
    assert found.dtype == np.int64
    assert found.tolist() == stamps


def test_log_times_beyond_int64_are_refused(tmp_path: Path) -> None:
    messages = [joint_state(0), plain("/x", "std_msgs/msg/Float64", {"data": 1.0}, log_ns=1 << 63)]
    write_mcap(tmp_path / "a.mcap", messages)
    error = refusal(tmp_path, "a.mcap")
    assert (error.kind, error.facts["topic"]) == (ErrorKind.TIME_NOT_INCREASING, "/x")
    assert str(1 << 63) in str(error)


def test_seconds_alone_are_no_clock_for_a_fast_topic(tmp_path: Path) -> None:
    messages = [joint_state(k, header=header(time_of(k) // 10**9 * 10**9)) for k in range(20)]
    recording = read(tmp_path, messages)
    found = signal(recording, "observation_state").timestamp_ns
    assert found.tolist() == [time_of(k) + 1_000_000 for k in range(20)]  # when they were logged
    finding = by_rule(recording.findings)["header_stamps_are_usable"]
    assert (finding.severity, "19 of 20 repeat" in finding.message) == (Severity.WARN, True)


def test_duplicate_times_are_left_out_and_counted(tmp_path: Path) -> None:
    messages = [joint_state(k, header=header(time_of(k - (k == 9)))) for k in range(30)]
    recording = read(tmp_path, messages)
    state = signal(recording, "observation_state")
    assert state.values[:, 0].tolist() == [k for k in range(30) if k != 9]
    finding = by_rule(recording.findings)["times_are_distinct"]
    assert (finding.value, "/joint_states (1)" in finding.message) == (1, True)


def test_stamps_that_run_backwards_are_sorted(tmp_path: Path) -> None:
    order = [0, 2, 1, 3, 5, 4]
    messages = [joint_state(k, header=header(time_of(k))) for k in order]
    state = signal(read(tmp_path, messages), "observation_state")
    assert state.values[:, 0].tolist() == list(range(6))


def unstamped(count: int = 30) -> list[Sent]:
    """Return pictures whose header stamps are all 0."""
    sent = images(count)
    return [
        Sent(
            topic=s.topic,
            kind=s.kind,
            content={**s.content, "header": header(0)},
            log_ns=s.log_ns,
        )
        for s in sent
    ]


def robot_description() -> Sent:
    return Sent(
        topic="/robot_description",
        kind="std_msgs/msg/String",
        content={"data": "<robot/>"},
        log_ns=0,
        is_latched=True,
    )


def test_three_clocks_in_one_file_are_told_apart(tmp_path: Path) -> None:
    recording = read(tmp_path, [robot_description(), *joint_states(100), *unstamped()])
    state = signal(recording, "observation_state")
    assert state.timestamp_ns.tolist() == [time_of(k) for k in range(100)]
    stream = camera(recording, "cam")
    assert stream.timestamp_ns.tolist() == [time_of(k, 2 * STEP_NS) + 5_000_000 for k in range(30)]
    assert shown_codes(stream) == list(range(30))
    findings = by_rule(recording.findings)
    assert "/cam/image_raw (30 of 30 are 0; log)" in findings["header_stamps_are_usable"].message
    apart = findings["streams_share_a_clock"]
    assert (apart.severity, apart.where) == (Severity.INFO, "topic=/robot_description")
    assert round((apart.value or 0) / (365.25 * 86_400), 1) == 53.9
    assert recording.metadata["clock"] == (
        '{"observation_state": "header", "observation_velocity": "header", "cam": "log"}'
    )


def test_log_times_from_zero_do_not_matter_where_all_messages_have_stamps(tmp_path: Path) -> None:
    messages = [
        Sent(topic=s.topic, kind=s.kind, content=s.content, log_ns=s.log_ns - EPOCH_NS)
        for s in [*joint_states(30), *images(15)]
    ]
    recording = read(tmp_path, messages)
    assert signal(recording, "observation_state").timestamp_ns[0] == EPOCH_NS
    assert camera(recording, "cam").timestamp_ns[0] == EPOCH_NS
    assert "streams_share_a_clock" not in by_rule(recording.findings)


def commands(count: int = 30, first_ns: int = EPOCH_NS) -> list[Sent]:
    """Return numbers without stamps."""
    return [
        plain("/cmd", "std_msgs/msg/Float64", {"data": k + 0.5}, log_ns=first_ns + k * STEP_NS)
        for k in range(count)
    ]


def test_streams_without_stamps_put_all_on_the_log_where_stamps_are_elsewhere(
    tmp_path: Path,
) -> None:
    logged = [
        Sent(topic=s.topic, kind=s.kind, content=s.content, log_ns=s.log_ns - EPOCH_NS + 7)
        for s in joint_states(30)
    ]
    recording = read(tmp_path, [*logged, *commands(first_ns=1_000_000)])
    state = signal(recording, "observation_state")
    assert state.timestamp_ns.tolist() == [k * STEP_NS + 1_000_007 for k in range(30)]
    finding = by_rule(recording.findings)["header_stamps_are_usable"]
    assert "1700000000 s from the log times" in finding.message


def test_streams_that_can_not_be_compared_are_told_with_their_distance(tmp_path: Path) -> None:
    far = commands(first_ns=EPOCH_NS + 86_400 * 10**9)
    finding = by_rule(read(tmp_path, [*joint_states(100), *far]).findings)["streams_share_a_clock"]
    assert (finding.severity, finding.unit) == (Severity.WARN, "s")
    assert finding.value == pytest.approx(86_399, abs=1)


def test_the_profile_states_clock_and_offset(tmp_path: Path) -> None:
    profile = load_profile("streams: {/joint_states: {clock: log, time_offset_ns: -250}}")
    recording = read(tmp_path, joint_states(5), profile)
    state = signal(recording, "observation_state")
    assert state.timestamp_ns.tolist() == [time_of(k) + 1_000_000 - 250 for k in range(5)]
    assert "header_stamps_are_usable" not in by_rule(recording.findings)


def test_a_stated_clock_that_messages_do_not_have_is_told(tmp_path: Path) -> None:
    profile = load_profile("streams: {/cmd: {clock: header}, /other: {skip: true}}")
    recording = read(tmp_path, commands(), profile)
    finding = by_rule(recording.findings)["streams_as_profile_states"]
    assert "/cmd (no header times), /other (no message)" in finding.message
    assert signal(recording, "observation_cmd").timestamp_ns[0] == EPOCH_NS


def test_when_a_message_was_sent_counts_where_it_has_no_stamp(tmp_path: Path) -> None:
    messages = [
        Sent(
            topic=s.topic,
            kind=s.kind,
            content=s.content,
            log_ns=s.log_ns + 9_000,
            publish_ns=s.log_ns,
        )
        for s in commands()
    ]
    recording = read(tmp_path, messages)
    assert signal(recording, "observation_cmd").timestamp_ns[0] == EPOCH_NS
    assert "/cmd (publish)" in by_rule(recording.findings)["streams_have_header_stamps"].message
