"""One round: a few lakes, each driven through some steps, in a process of its own."""

from __future__ import annotations

import traceback
from dataclasses import dataclass

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from robot_data_platform_tests.soak.machine import AnyOrder

STEPS_PER_LAKE = 50
LAKES = 2


@dataclass(frozen=True, slots=True)
class Round:
    """What some lakes came to."""

    counts: dict[str, int]
    """Steps by what they did."""
    failure: str
    """What broke, with the steps that led there and the blob that does them again; or empty."""


def run_round() -> Round:
    """Drive a few lakes in fresh orders."""
    failure = ""
    AnyOrder.counts.clear()
    try:
        run_state_machine_as_test(AnyOrder, settings=_settings())
    except Exception:  # noqa: BLE001 - whatever escapes is what is looked for
        failure = traceback.format_exc()
    return Round(counts=dict(AnyOrder.counts), failure=failure)


def _settings() -> settings:
    return settings(
        max_examples=LAKES,
        stateful_step_count=STEPS_PER_LAKE,
        deadline=None,
        database=None,
        derandomize=False,
        print_blob=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
