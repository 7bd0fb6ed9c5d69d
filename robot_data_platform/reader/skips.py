"""What became of GOPs that can't be read: raised, or left out and written down."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass

from robot_data_platform.errors import DataFaultError

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedGop:
    """One GOP that items were left out for."""

    dataset: str
    release: str
    """Empty without a release."""
    episode: str
    camera: str
    gop_key: int
    reason: str
    """The error's message."""


class SkipReport:
    """The GOPs that could not be read so far, and how many items were left out for them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._gops: dict[int, SkippedGop] = {}
        self._num_items = 0

    @property
    def gops(self) -> tuple[SkippedGop, ...]:
        """Each GOP once, in the order in which they were met."""
        return tuple(self._gops.values())

    @property
    def num_items(self) -> int:
        """Items that were left out; one that was asked for twice counts twice."""
        return self._num_items

    def add_items(self, num_items: int) -> None:
        """Count items that were left out."""
        with self._lock:
            self._num_items += num_items

    def add_fault(self, fault: DataFaultError) -> None:
        """Write down a GOP; the first time it is also logged as a warning."""
        facts = fault.facts
        skipped = SkippedGop(
            dataset=str(facts["dataset"]),
            release=str(facts["release"]),
            episode=str(facts["episode"]),
            camera=str(facts["camera"]),
            gop_key=int(str(facts["gop_key"])),
            reason=str(fault),
        )
        with self._lock:
            is_new = self._gops.setdefault(skipped.gop_key, skipped) is skipped
        if is_new:
            LOG.warning("Items are left out: %s", fault)
