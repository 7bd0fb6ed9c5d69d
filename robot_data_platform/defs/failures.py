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
