"""What the keys of a profile are made of: strict, frozen, and unknown ones refused."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Rate = Annotated[float, Field(strict=True, gt=0, le=1_000_000, allow_inf_nan=False)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Name = Annotated[str, Field(min_length=1)]
CameraName = Annotated[str, Field(pattern=r"^[a-z0-9_]+$")]

LIST_TAG, ONE_TAG = "<list>", "<one>"
"""Marks of pydantic for the form that a value has; `key_path` leaves them out."""


class Stated(BaseModel):
    """Some keys of a profile."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def form_of(value: object) -> str:
    """Return which form a value has that may be one for all, or a list of one each."""
    return LIST_TAG if isinstance(value, list | tuple) else ONE_TAG


def key_path(location: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """Return where a value is in the text, from where pydantic says that it is."""
    return tuple(part for part in location if part not in (LIST_TAG, ONE_TAG))
