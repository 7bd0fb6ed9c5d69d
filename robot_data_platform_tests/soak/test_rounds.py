from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, ClassVar

from hypothesis.stateful import RuleBasedStateMachine, rule

from robot_data_platform_tests.soak import rounds

if TYPE_CHECKING:
    import pytest


class Breaking(RuleBasedStateMachine):
    """Breaks at the third step of a lake."""

    counts: ClassVar[Counter[str]] = Counter()

    def __init__(self) -> None:
        super().__init__()
        self.num_steps = 0

    @rule()
    def go_on(self) -> None:
        self.counts["go on"] += 1
        self.num_steps += 1
        assert self.num_steps < 3, "the third step"


def test_a_round_that_breaks_tells_the_steps_and_how_to_do_them_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rounds, "AnyOrder", Breaking)
    done = rounds.run_round()
    assert done.counts["go on"] >= 3
    assert "AssertionError: the third step" in done.failure
    assert done.failure.count("state.go_on()") == 3
    assert "@reproduce_failure(" in done.failure
