"""Errors of the layers below as Dagster failures: the message, the kind and the facts."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import dagster as dg

from robot_data_platform.errors import RobotDataError, is_worth_retrying

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def failures() -> Iterator[None]:
    """Raise ``dg.Failure`` for an error of this project inside the block.

    Only failures of the store that pass allow Dagster to retry; bad data stays bad.
    """
    try:
        yield
    except RobotDataError as err:
        raise dg.Failure(
            description=str(err),
            metadata={
                "error_kind": err.kind.value,
                "error_class": type(err).__name__,
                **{k: str(v) for k, v in err.facts.items()},
            },
            allow_retries=is_worth_retrying(err),
        ) from err


def failure_reason(event: dg.DagsterEvent) -> str:
    """Return the message of a step's failure, or of what it was caused by, deepest first."""
    data = event.step_failure_data
    if data.user_failure_data is not None and data.user_failure_data.description:
        return data.user_failure_data.description
    error = data.error
    while error is not None and error.cause is not None:
        error = error.cause
    return error.message.strip() if error else ""


def failure_kind(event: dg.DagsterEvent) -> str:
    """Return the `ErrorKind` that a step failed with; empty where no error of ours is behind it."""
    told = event.step_failure_data.user_failure_data
    return str(told.metadata["error_kind"].value) if told and "error_kind" in told.metadata else ""
