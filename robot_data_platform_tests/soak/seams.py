"""Another writer in the middle of a step: just before one of its commits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest.mock import patch

import lance


@contextmanager
def before_commit(number: int, intrude: Callable[[], None]) -> Iterator[None]:
    """Call ``intrude`` once, before the commit of that number that is made inside the block."""
    commit = lance.LanceDataset.commit
    num_made = -1

    def interrupted(*arguments: object, **named: object) -> lance.LanceDataset:
        nonlocal num_made
        num_made += 1
        if num_made == number:
            intrude()
        return commit(*arguments, **named)  # type: ignore[arg-type]

    with patch.object(lance.LanceDataset, "commit", interrupted):
        yield
