"""YAML that takes time, memory or depth without bound is refused with its line."""

from __future__ import annotations

import pytest

from robot_data_platform.formats.yaml_lines import MAX_DEPTH, YamlError, load_yaml


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[" * 100_000, f"more than {MAX_DEPTH} levels"),
        ("- " * 100_000, f"more than {MAX_DEPTH} levels"),
        ("a: &x [1]\nb: *x\n", "alias"),
        ('a: "\\uD800"\n', "surrogates not allowed"),
        ("a: " + "1" * 100_000, "Exceeds the limit"),
    ],
    ids=["deep", "deep lists", "alias", "half a letter", "digits"],
)
def test_a_bomb_is_refused(text: str, reason: str) -> None:
    with pytest.raises(YamlError, match=reason):
        load_yaml(text)


def test_what_is_as_deep_as_allowed_is_read() -> None:
    value, _ = load_yaml("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    for _ in range(MAX_DEPTH):
        assert isinstance(value, list)
        value = value[0] if value else None
    assert value is None
