"""Hands an alert to every channel, with a few tries; a failure is logged and ends nothing."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Sequence

from robot_data_platform.telemetry.alert import Alert
from robot_data_platform.telemetry.channel import Channel, Refusal

MAX_ATTEMPTS = 3
PAUSE_S = 1.0
"""Pause before the second try; doubles each time."""
BUDGET_S = 20.0
"""No further try of a channel after so long: a tick of the sensor may take a minute in all."""

LOG = logging.getLogger(__name__)


def deliver(
    alert: Alert,
    channels: Sequence[Channel],
    told: Collection[str] = (),
    *,
    pause: Callable[[float], None] = time.sleep,
) -> dict[str, bool]:
    """Return by channel whether it took the alert; those of the names in ``told`` have it."""
    return {c.name: _try(alert, c, pause) for c in channels if c.name not in told}


def _try(alert: Alert, channel: Channel, pause: Callable[[float], None]) -> bool:
    deadline_s = time.monotonic() + BUDGET_S
    for attempt in range(1, MAX_ATTEMPTS + 1):
        refusal = channel.send(alert)
        if refusal is None:
            return True
        is_last = not refusal.may_pass or attempt == MAX_ATTEMPTS or time.monotonic() > deadline_s
        _log(alert, channel, refusal, attempt, is_last=is_last)
        if is_last:
            return False
        pause(PAUSE_S * 2 ** (attempt - 1))
    raise AssertionError("unreachable: the last attempt returns")


def _log(alert: Alert, channel: Channel, refusal: Refusal, attempt: int, *, is_last: bool) -> None:
    LOG.log(
        logging.ERROR if is_last else logging.WARNING,
        "The %s did not take the alert %r at try %d of %d: %s",
        channel.name,
        alert.headline(),
        attempt,
        MAX_ATTEMPTS,
        refusal.reason,
        extra={"run_id": alert.run_id, "upload": alert.upload, "dataset": alert.dataset},
    )
