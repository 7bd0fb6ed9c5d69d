"""Profile keys ``streams`` and ``message_definitions``."""

from __future__ import annotations

import pytest

from robot_data_platform.errors import InvalidInputError
from robot_data_platform.formats.profile import Profile, load_profile
from robot_data_platform.formats.stream_keys import Clock

WRONG = {
    "{/a: {signal: Wrong Name}}": "streams./a.signal",
    "{/a: {signal: timestamp_ns}}": "another column of `frames`",
    "{/a: {signal: x, camera: y}}": "a signal, a camera or skipped, not several",
    "{/a: {signal: x}, /b: {signal: x}}": "several streams become the signal 'x'",
    "{/a: {camera: x}, /b: {camera: x}}": "several streams become the camera 'x'",
    "{/a: {clock: sensor}}": "streams./a.clock",
    "{/a: {time_offset_ns: 1.5}}": "streams./a.time_offset_ns",
    "{/a: {time_offset_ns: 9000000000000000000}}": "streams./a.time_offset_ns",
    "{/a: {skip: maybe}}": "streams./a.skip",
    "{/a: {other: 1}}": "is not known",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_a_stream_can_not_be_is_refused_with_key_and_reason(text: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        load_profile(f"streams: {text}")
    assert WRONG[text] in str(caught.value)
    assert "line 1" in str(caught.value)


@pytest.mark.parametrize("name", ["Grip", "a/b/c/Grip", "a/msg/1", "../msg/Grip", "a/msg/Gr ip"])
def test_a_definition_is_kept_by_the_name_of_a_type(name: str) -> None:
    with pytest.raises(InvalidInputError, match="message_definitions"):
        load_profile(f"message_definitions: {{'{name}': 'int32 x'}}")


def test_streams_are_part_of_the_profiles_digest() -> None:
    one = load_profile("streams: {/a: {signal: action, clock: log, time_offset_ns: -5}}")
    assert (one.streams["/a"].clock, one.streams["/a"].time_offset_ns) == (Clock.LOG, -5)
    assert one.digest() != Profile().digest()
    assert load_profile("streams: {}").digest() == Profile().digest()
