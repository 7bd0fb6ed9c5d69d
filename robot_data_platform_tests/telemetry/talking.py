"""A function of workers that logs, and tells with which facts."""

from __future__ import annotations

import logging

from robot_data_platform.telemetry.log_facts import current_facts

LOG = logging.getLogger("robot_data_platform.talking")


def talk(item: int) -> tuple[dict[str, str], bool]:
    """Log a line; return the facts that hold here, and whether the logs were configured."""
    LOG.warning("Item %d is here.", item)
    return current_facts(), bool(logging.getLogger("robot_data_platform").handlers)
