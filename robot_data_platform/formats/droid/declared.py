"""What a DROID episode says of itself: the attributes of its trajectory, and its JSON file."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.droid.folders import EpisodeFolder
from robot_data_platform.formats.episode_claims import outcome_findings, row_count_findings
from robot_data_platform.formats.hdf5_attributes import flag_attribute, text_attributes
from robot_data_platform.formats.json_files import JsonObject, read_json

if TYPE_CHECKING:
    import h5py

ROLES = ("wrist", "ext1", "ext2")
"""Cameras of a DROID setup; ``ext1`` has the smaller serial as text (droid, parse.py)."""
KIND_BY_FIELD: Mapping[str, tuple[type, ...]] = {
    "current_task": (str,),
    "success": (bool,),
    "trajectory_length": (int,),
    **{f"{role}_cam_serial": (str, int) for role in ROLES},
}
"""Fields of the JSON file that are used, and what they hold."""
OUTCOMES = {"success": True, "failure": False}
"""Names of the folders that a recorder sorts its episodes into."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """Everything that is said of an episode besides its rows."""

    fields: JsonObject
    """Of ``metadata_*.json``; empty where there is none."""
    attributes: Mapping[str, str]
    """Of ``trajectory.h5``, as text."""
    is_success: bool | None
    findings: tuple[Finding, ...]

    @property
    def task(self) -> str | None:
        """What the person was asked to do."""
        return _text(self.fields.get("current_task")) or self.attributes.get("current_task")

    @property
    def robot(self) -> str | None:
        """Robot model: what stands before the serial number (``panda-2953...``)."""
        serial = self.attributes.get("robot_serial_number") or self.fields.get("robot_serial")
        model, dash, _ = (_text(serial) or "").partition("-")
        return model if model and dash else None

    @property
    def metadata(self) -> dict[str, str]:
        """Attributes, with a slash before their names, and the fields of the JSON file."""
        plain = {k: v if isinstance(v, str) else json.dumps(v) for k, v in self.fields.items()}
        return {**{f"/{key}": text for key, text in self.attributes.items()}, **plain}

    def serial(self, role: str) -> str | None:
        """Return the serial number of the camera with a role."""
        value = self.fields.get(f"{role}_cam_serial")
        return str(value) if isinstance(value, str | int) and value != "" else None


def read_declared(
    source: Source, folder: EpisodeFolder, file: h5py.File, num_rows: int, subject: str
) -> Declared:
    """Return what is said of an episode, held against its rows and against itself.

    Raises
    ------
    DataFaultError
        ``metadata-contradiction``: two JSON files.
    """
    fields, unreadable = _fields(source, folder, subject)
    said = {
        "attribute `success`": flag_attribute(file, "success"),
        "`success` of the JSON file": _flag(fields.get("success")),
        "the folder's name": next(
            (OUTCOMES[part] for part in folder.path.split("/") if part in OUTCOMES), None
        ),
    }
    stated = {where: value for where, value in said.items() if value is not None}
    where, is_success = next(iter(stated.items()), ("", None))
    length = fields.get("trajectory_length")
    claimed = length if type(length) is int and abs(length) <= sys.maxsize else None
    return Declared(
        fields=fields,
        attributes=text_attributes(file),
        is_success=is_success,
        findings=(
            *unreadable,
            *_wrong_fields(fields, subject),
            *row_count_findings(claimed, num_rows, "`trajectory_length`", subject),
            *outcome_findings(is_success, where, subject),
            *_contradiction(stated, subject),
        ),
    )


def _fields(
    source: Source, folder: EpisodeFolder, subject: str
) -> tuple[JsonObject, tuple[Finding, ...]]:
    if len(folder.metadata) > 1:
        raise DataFaultError(
            f"{subject} has several descriptions: got {folder.metadata}, expected one. Remove the "
            "wrong ones.",
            kind=ErrorKind.METADATA_CONTRADICTION,
            paths=folder.metadata,
        )
    try:
        return (read_json(source, folder.metadata[0]) if folder.metadata else {}), ()
    except DataFaultError as err:
        finding = Finding(
            rule="metadata_is_readable",
            severity=Severity.FAIL,
            message=f"{subject}: its description was left out. {err}",
            where=folder.metadata[0],
        )
        return {}, (finding,)


def _wrong_fields(fields: JsonObject, subject: str) -> Iterator[Finding]:
    for key, kinds in KIND_BY_FIELD.items():
        value = fields.get(key)
        if value is not None and type(value) not in kinds:
            yield Finding(
                rule="metadata_is_readable",
                severity=Severity.FAIL,
                message=f"{subject}: `{key}` of its description was left out: got {value!r:.80}, "
                f"expected {' or '.join(kind.__name__ for kind in kinds)}.",
                where=key,
            )


def _contradiction(stated: Mapping[str, bool], subject: str) -> tuple[Finding, ...]:
    if len(set(stated.values())) < 2:
        return ()
    first = next(iter(stated))
    told = ", ".join(f"{where} says {value}" for where, value in stated.items())
    finding = Finding(
        rule="outcome_as_declared",
        severity=Severity.WARN,
        message=f"{subject} is said to have succeeded and to have failed: got {told}, expected "
        f"one answer. That of {first} was taken.",
        where=first,
    )
    return (finding,)


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
