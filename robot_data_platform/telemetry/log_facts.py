"""What a piece of work is about, for every line that it logs: run, upload, dataset, episode."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

FACTS = ("run_id", "job", "dataset", "upload", "episode", "camera", "error_kind")
"""Names of facts, in the order in which lines give them; ``extra=`` of a logger takes them too."""

_CURRENT: ContextVar[Mapping[str, str]] = ContextVar("log_facts", default=MappingProxyType({}))


@contextmanager
def log_facts(**facts: str) -> Iterator[None]:
    """Give facts to every line that is logged inside the block; empty ones are left out."""
    token = _CURRENT.set({**_CURRENT.get(), **_known(facts)})
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current_facts() -> dict[str, str]:
    """Return the facts that hold here, to take them to another process."""
    return dict(_CURRENT.get())


def adopt_facts(facts: Mapping[str, str]) -> None:
    """Let facts hold from here on, in place of those that held; empty ones are left out."""
    _CURRENT.set(_known(facts))


def _known(facts: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in facts.items() if text}
