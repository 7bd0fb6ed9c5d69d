"""Tries at a change of one table: how often, how long apart, and each told in the log."""

from __future__ import annotations

import logging
import random
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from robot_data_platform.errors import (
    CommitConflictError,
    ErrorKind,
    StorageError,
    is_worth_retrying,
)

if TYPE_CHECKING:
    from collections.abc import Callable

Value = TypeVar("Value")

LOG = logging.getLogger(__name__)

MAX_CONFLICTS = 40
"""Commits tried before giving up; writers of one table are few, and each loser waits its turn."""

MAX_FAILURES = 3
"""Failures of the store that one change may meet, each after the store's client has given up."""


@dataclass(slots=True)
class Attempts:
    """What a change of one table, or a read of one object, has met so far."""

    uri: str
    max_conflicts: int = field(default_factory=lambda: MAX_CONFLICTS)
    num_conflicts: int = 0
    num_failures: int = 0

    def again(self, error: CommitConflictError | StorageError) -> None:
        """Wait before the next try, and log why; raise where there is none.

        Raises
        ------
        CommitConflictError
            ``commit-conflict``: other writers won `max_conflicts` times in a row.
        StorageError
            The error itself: it lasts, or it was one too many.
        """
        if isinstance(error, CommitConflictError):
            self.num_conflicts += 1
            if self.num_conflicts >= self.max_conflicts:
                raise self._gave_up() from error
            LOG.info("Conflict %d of %d: %s", self.num_conflicts, self.max_conflicts, error)
            _pause(min(0.02 * 1.5 ** (self.num_conflicts - 1), 1.0))
            return
        self.num_failures += 1
        if not is_worth_retrying(error) or self.num_failures >= MAX_FAILURES:
            raise error
        LOG.warning("Failure %d of %d, trying again: %s", self.num_failures, MAX_FAILURES, error)
        _pause(0.5 * 2.0**self.num_failures)

    def _gave_up(self) -> CommitConflictError:
        return CommitConflictError(
            f"Table {self.uri!r} was changed by other writers {self.max_conflicts} times in a row. "
            "Run the same command again when fewer writers are active.",
            kind=ErrorKind.COMMIT_CONFLICT,
            uri=self.uri,
        )


def tried(uri: str, work: Callable[[], Value]) -> Value:
    """Return what ``work`` returns, tried again where the store fails in a way that passes.

    Only for work that may be done twice.
    """
    attempts = Attempts(uri)
    while True:
        try:
            return work()
        except (CommitConflictError, StorageError) as err:
            attempts.again(err)


def _pause(longest_s: float) -> None:
    # At random, or writers that met once meet again.
    time.sleep(longest_s * random.uniform(0.5, 1.0))
