"""Profile keys of a raw log: where its episodes, signals and pictures lie, by name patterns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from robot_data_platform.formats.names import RESERVED_COLUMNS
from robot_data_platform.formats.profile_keys import CameraName, Name, Stated

SignalName = Annotated[str, Field(pattern=r"^[a-z0-9_]+$")]
TIME = "timestamp_ns"
"""Column of times, unless stated."""


class RawSignal(Stated):
    """One table of an episode."""

    path: Name = Field(description="Pattern of its parquet or csv file in the episode's folder.")
    time: Name = Field(default=TIME, description="Column of times: whole numbers, or timestamps.")
    time_unit: Literal["ns", "us", "ms"] = Field(
        default="ns", description="Unit of times that are whole numbers."
    )
    values: tuple[Name, ...] | None = Field(
        default=None, description="Columns of numbers, in order; null = all others."
    )
    columns: tuple[Name, ...] | None = Field(
        default=None, description="Names of all columns of a csv that has no header."
    )

    @model_validator(mode="after")
    def _columns_have_what_is_read(self) -> Self:
        wanted = {self.time, *(self.values or ())}
        if self.columns is not None and not wanted <= set(self.columns):
            raise ValueError(f"columns lack {sorted(wanted - set(self.columns))}")
        return self


class Rawlog(Stated):
    """A folder of raw logs; in every pattern `*` is any text within one name."""

    episodes: Name = Field(
        default="episodes/*", description="Pattern of the episodes' folders; `.` = the source."
    )
    signals: Mapping[SignalName, RawSignal] = Field(
        min_length=1, description="Tables, by the name of the signal."
    )
    cameras: Mapping[CameraName, Name] = Field(
        default_factory=dict,
        description="Pattern of pictures named by their time in ns, by camera.",
    )

    @field_validator("signals")
    @classmethod
    def _names_are_free(cls, signals: Mapping[str, RawSignal]) -> Mapping[str, RawSignal]:
        taken = sorted(signals.keys() & RESERVED_COLUMNS)
        if taken:
            raise ValueError(f"{taken} are columns of `frames` that are no signals")
        return signals
