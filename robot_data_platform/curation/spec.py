"""Split specs: which episodes a release may hold, and how they are shared out.

A spec is YAML; ``default_split.yaml`` beside this module documents every key.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from math import fsum
from typing import TYPE_CHECKING, Annotated, Literal

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictInt,
    StrictStr,
    ValidationError,
)

from robot_data_platform.core.fingerprint import digest
from robot_data_platform.core.identity import check_name
from robot_data_platform.curation.strict_yaml import load_mapping
from robot_data_platform.errors import ErrorKind, InvalidInputError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

StratumColumn = Literal["upload", "task", "robot"]
GroupColumn = Literal["episode_id", "upload", "task", "robot"]
Status = Literal["ok", "flagged", "quarantined"]
Severity = Literal["info", "warn", "fail"]

RATIO_TOLERANCE = 1e-9
"""How far from 1 ratios may add up: what decimal fractions lose in binary, and no more."""


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _sorted_once(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(set(values)))


def _at_least_one(values: tuple[str, ...]) -> tuple[str, ...]:
    if not values:
        raise ValueError("expected at least one value")
    return _sorted_once(values)


def _adds_up(ratios: dict[str, float]) -> dict[str, float]:
    for name in ratios:
        check_name(name, "split")
    total = fsum(ratios.values())
    if abs(total - 1) > RATIO_TOLERANCE:
        raise ValueError(f"the ratios add up to {total:g}, expected 1")
    return dict(sorted(ratios.items()))


One = BeforeValidator(_as_list)
"""One text may stand for a list of one."""
Texts = Annotated[tuple[StrictStr, ...], One, AfterValidator(_at_least_one)]
Statuses = Annotated[tuple[Status, ...], One, AfterValidator(_at_least_one)]
Groups = Annotated[tuple[GroupColumn, ...], One, AfterValidator(_at_least_one)]
Strata = Annotated[tuple[StratumColumn, ...], One, AfterValidator(_sorted_once)]
Ratio = Annotated[float, Field(ge=0, le=1, strict=True, allow_inf_nan=False)]
Count = Annotated[StrictInt, Field(ge=0)]
Cap = Annotated[StrictInt, Field(ge=1)] | None


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class EpisodeFilter(_Part):
    """Which episodes may be assigned; an episode must pass every key."""

    status: Statuses = Field(default=("ok",), description="Statuses that pass.")
    tasks: Texts | None = Field(default=None, description="Task texts that pass; None = any.")
    robots: Texts | None = Field(default=None, description="Robots that pass; None = any.")
    uploads: Texts | None = Field(default=None, description="Uploads that pass; None = any.")
    min_rows: Count = Field(default=1, description="Shortest episode, in rows.")
    max_findings: dict[Severity, Count] = Field(
        default={"fail": 0},
        description="Most findings by severity; with any, quality must have been measured.",
    )


class Caps(_Part):
    """The most episodes that one value of a column may bring; None = no limit."""

    per_task: Cap = Field(default=None, description="Most episodes of one task.")
    per_robot: Cap = Field(default=None, description="Most episodes of one robot.")
    per_upload: Cap = Field(default=None, description="Most episodes of one upload.")

    def by_column(self) -> dict[str, int]:
        """Return the limits that are set, by the column they count."""
        limits: dict[str, int] = self.model_dump(exclude_none=True)
        return {name.removeprefix("per_"): limit for name, limit in limits.items()}


class SplitSpec(_Part):
    """A filter, and a scheme that shares what passes over named splits."""

    name: StrictStr = Field(default="default", description="A label, no part of the digest.")
    filter: EpisodeFilter = EpisodeFilter()
    group_by: Groups = Field(
        default=("episode_id",), description="Episodes with equal values stay in one split."
    )
    stratify_by: Strata = Field(default=(), description="The ratios hold within each value too.")
    ratios: Annotated[dict[StrictStr, Ratio], AfterValidator(_adds_up)] = Field(
        default={"test": 0.1, "train": 0.8, "val": 0.1}, description="Share of each split."
    )
    seed: StrictInt = Field(default=0, description="Another seed gives another assignment.")
    caps: Caps = Caps()

    def canonical(self) -> dict[str, object]:
        """Return what the spec says, without its label, as plain values.

        A key that is None is left out, so a later optional key changes no digest.
        """
        return self.model_dump(mode="json", exclude={"name"}, exclude_none=True)

    def digest(self) -> str:
        """Return the digest of what the spec says; its label is no part of it."""
        return digest(self.canonical())

    def scheme_digest(self) -> str:
        """Return the digest of what decides an episode's split: groups, strata, ratios, seed.

        Specs that differ in filter or caps alone share one history of assignments, so that no
        episode is in ``train`` of one and ``test`` of the other.
        """
        return digest(
            {key: self.canonical()[key] for key in ("group_by", "stratify_by", "ratios", "seed")}
        )

    def to_json(self) -> str:
        """Return the spec as JSON that ``model_validate_json`` reads back, label included."""
        return json.dumps({"name": self.name, **self.canonical()}, sort_keys=True)


def parse_spec(text: str, label: str = "split spec") -> SplitSpec:
    """Return the spec that YAML text states.

    Parameters
    ----------
    text : str
        The document; an empty one is the default spec.
    label : str
        How messages name it, such as its file name.

    Raises
    ------
    InvalidInputError
        ``invalid-split-spec``: no YAML, an unknown key, or a value that is not allowed; the
        message names each key and what is allowed.
    """
    try:
        return SplitSpec.model_validate(load_mapping(text))
    except ValidationError as err:
        raise _invalid(label, "; ".join(map(_fault, err.errors()))) from err
    except yaml.YAMLError as err:
        raise _invalid(label, " ".join(str(err).split())) from err


@cache
def default_spec() -> SplitSpec:
    """Return the spec that holds where none is given."""
    return parse_spec((files(__package__) / "default_split.yaml").read_text(encoding="utf-8"))


def _fault(error: ErrorDetails) -> str:
    key = ".".join(str(part) for part in error["loc"] if part != "[key]")
    if error["type"] == "extra_forbidden":
        return f"key {key!r} is unknown, allowed: {_keys_beside(error['loc'])}"
    message = error["msg"].removeprefix("Value error, ").replace("valid tuple", "list")
    return f"key {key!r}: {message[:1].lower()}{message[1:].rstrip('.')}, got {error['input']!r}"


def _keys_beside(location: tuple[int | str, ...]) -> list[str]:
    parts: Mapping[int | str, type[BaseModel]] = {"filter": EpisodeFilter, "caps": Caps}
    owner = parts[location[0]] if len(location) > 1 else SplitSpec
    return sorted(owner.model_fields)


def _invalid(label: str, what: str) -> InvalidInputError:
    return InvalidInputError(
        f"{label!r} is no valid split spec: {what}. Correct it; the default spec in "
        "default_split.yaml documents every key.",
        kind=ErrorKind.INVALID_SPLIT_SPEC,
        spec=label,
    )
