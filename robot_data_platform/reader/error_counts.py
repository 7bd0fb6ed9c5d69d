"""GOPs that could not be read in this process, counted for whoever watches a training.

The standard library only: a program that trains exposes the numbers by what it has.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable

from robot_data_platform.errors import DataFaultError

_COUNTS: Counter[tuple[str, str]] = Counter()
_LOCK = threading.Lock()


def read_errors() -> dict[tuple[str, str], int]:
    """Return how often a GOP could not be read since the process began.

    Returns
    -------
    dict
        By (dataset, error kind: ``gop-damaged``, ``gop-missing`` or ``row-mismatch``). Every read
        that fails counts, be it raised or skipped, and a GOP that is read twice counts twice.
    """
    with _LOCK:
        return dict(_COUNTS)


def count_read_errors(faults: Iterable[DataFaultError]) -> None:
    """Count one error for each GOP at fault."""
    with _LOCK:
        _COUNTS.update((str(fault.facts["dataset"]), fault.kind.value) for fault in faults)
