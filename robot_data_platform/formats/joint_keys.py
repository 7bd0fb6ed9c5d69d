"""Profile keys of joints and grippers: names, order, units, limits and conventions."""

from __future__ import annotations

from collections.abc import Mapping
from math import pi
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, model_validator

from robot_data_platform.formats.profile_keys import (
    LIST_TAG,
    ONE_TAG,
    Name,
    Number,
    Stated,
    form_of,
)

Unit = Literal["rad", "deg", "m", "percent", "ticks"]
Units = Annotated[
    Annotated[Unit, Tag(ONE_TAG)] | Annotated[tuple[Unit | None, ...], Tag(LIST_TAG)],
    Discriminator(form_of),
]
"""One for every dimension, or one each."""
Numbers = Annotated[
    Annotated[Number, Tag(ONE_TAG)] | Annotated[tuple[Number, ...], Tag(LIST_TAG)],
    Discriminator(form_of),
]
"""One for every dimension, or one each."""

FACTOR_BY_UNITS = {("deg", "rad"): pi / 180, ("rad", "deg"): 180 / pi}
"""Conversions that need no statement; the others differ from robot to robot."""


def _recorded_by_stored(order: object) -> object:
    """Return a list of names as the mapping that renames none; other values as they are."""
    if not isinstance(order, list | tuple):
        return order
    if len(set(map(str, order))) < len(order):
        raise ValueError("a name is there twice")
    return {name: name for name in order}


def _distinct(order: Mapping[str, str]) -> Mapping[str, str]:
    if len(set(order.values())) < len(order):
        raise ValueError("a recorded name is there twice")
    return order


def _rising(limits: tuple[float, float]) -> tuple[float, float]:
    if not limits[0] < limits[1]:
        raise ValueError("the lowest value comes first")
    return limits


Order = Annotated[
    Mapping[Name, Name], BeforeValidator(_recorded_by_stored), AfterValidator(_distinct)
]
Range = Annotated[tuple[Number, Number], AfterValidator(_rising)]


class StoredAs(Stated):
    """The declared conversion: stored = scale * recorded + shift."""

    unit: Units | None = Field(default=None, description="Unit of the stored values.")
    scale: Numbers | None = Field(
        default=None, description="Left out: 1, or the factor between rad and deg."
    )
    shift: Numbers | None = Field(default=None, description="In the stored unit; left out: 0.")


class Joints(Stated):
    """The dimensions of the state, and of an action of the same width."""

    unit: Units | None = Field(
        default=None, description="Unit of the recorded values, one or one each; null = not known."
    )
    names: tuple[Name, ...] | None = Field(
        default=None, description="Name of every dimension in order, where the data names none."
    )
    order: Order | None = Field(
        default=None,
        description="Names to store, in order: a list, or `stored name: recorded name`.",
    )
    stored_as: StoredAs | None = Field(
        default=None, description="Conversion of the recorded values; left out: as recorded."
    )
    limits: tuple[Range | None, ...] | None = Field(
        default=None, description="Lowest and highest stored value of each; null = not known."
    )
    sign: tuple[Literal[-1, 1], ...] | None = Field(
        default=None, description="Per dimension: the model's joint = sign * value + offset."
    )
    offset: tuple[Number, ...] | None = Field(
        default=None, description="Per dimension, in the stored unit; see `sign`."
    )

    @model_validator(mode="after")
    def _one_entry_per_dimension(self) -> Self:
        names = self.names if self.order is None else tuple(self.order)
        converted = self.stored_as or StoredAs()
        lists = {
            "names" if self.order is None else "order": names,
            "unit": self.unit,
            "sign": self.sign,
            "offset": self.offset,
            "limits": self.limits,
            **{f"stored_as.{key}": value for key, value in converted},
        }
        lengths = {key: len(value) for key, value in lists.items() if isinstance(value, tuple)}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"entries per dimension: {lengths}, not as many")
        return self

    @model_validator(mode="after")
    def _every_unit_can_be_converted(self) -> Self:
        if self.stored_as is None or self.stored_as.scale is not None:
            return self
        for recorded, stored in zip(*self._unit_pairs(), strict=True):
            if recorded != stored and (recorded, stored) not in FACTOR_BY_UNITS:
                raise ValueError(f"{recorded} can't become {stored} without `stored_as.scale`")
        return self

    def _unit_pairs(self) -> tuple[tuple[str | None, ...], tuple[str | None, ...]]:
        stored = self.unit if self.stored_as is None else self.stored_as.unit or self.unit
        lists = [u for u in (self.unit, stored) if isinstance(u, tuple)]
        width = len(lists[0]) if lists else 1
        recorded_each, stored_each = (
            u if isinstance(u, tuple) else (u,) * width for u in (self.unit, stored)
        )
        return recorded_each, stored_each


class Gripper(Stated):
    """How gripper values read, as stored."""

    convention: Literal["zero_is_open", "zero_is_closed"] | None = Field(
        default=None, description="What the smallest value means; null = not known."
    )
    range: Range | None = Field(
        default=None, description="Smallest and largest value; null = not known."
    )
    joints: tuple[Name, ...] = Field(
        default=(), description="Dimensions of the state that `range` limits, by name."
    )
