"""Uploads of one dataset agree on how their numbers read: others are refused, never mixed in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from robot_data_platform.core.conventions import (
    CONTROL_HZ,
    GRIPPER_CONVENTION,
    GRIPPER_RANGE,
    QUATERNION_ORDER,
    Conventions,
    conflicts,
    conventions_of,
    doubts,
)
from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.errors import DataFaultError, ErrorKind, InvalidInputError
from robot_data_platform.storage.predicate import equals

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from robot_data_platform.core.conventions import Difference
    from robot_data_platform.core.recording import EpisodeRef, Recording
    from robot_data_platform.core.source import Source
    from robot_data_platform.formats.profile import Profile
    from robot_data_platform.formats.protocol import Format
    from robot_data_platform.storage.lake import Lake
    from robot_data_platform.storage.table import LakeTable


def upload_conventions(
    source: Source, file_format: Format, refs: Sequence[EpisodeRef], profile: Profile
) -> dict[str, object]:
    """Return the conventions of an upload: its profile's, and of its first readable episode."""
    for ref in refs:
        try:
            recording = file_format.read(source, ref, profile)
        except (DataFaultError, InvalidInputError):
            continue  # its worker puts it in quarantine, with the reason
        if recording.signals:
            return episode_conventions(recording, profile)
    return _stated(profile)


def episode_conventions(recording: Recording, profile: Profile) -> dict[str, object]:
    """Return the conventions of one episode."""
    return conventions_of(recording, _stated(profile))


def _stated(profile: Profile) -> dict[str, object]:
    values = {
        GRIPPER_CONVENTION: profile.gripper.convention,
        GRIPPER_RANGE: profile.gripper.range and list(profile.gripper.range),
        QUATERNION_ORDER: profile.quaternion_order,
    }
    return {subject: value for subject, value in values.items() if value is not None}


def published_conventions(lake: Lake, dataset: str, episodes: LakeTable) -> dict[str, Conventions]:
    """Return the conventions by upload of what a version of ``episodes`` publishes, first first."""
    uploads = lake.find_catalog("uploads")
    if uploads is None or "conventions_json" not in uploads.schema.names:
        return {}
    published: set[str] = set()
    for batch in episodes.batches(["ingestion_id"]):
        published.update(batch["ingestion_id"].unique().to_pylist())
    columns = ["upload", "ingestion_id", "first_episode_index", "conventions_json"]
    rows = uploads.read(columns, equals("dataset", dataset)).sort_by("first_episode_index")
    return {
        row["upload"]: json.loads(row["conventions_json"])
        for row in rows.to_pylist()
        if row["ingestion_id"] in published and row["conventions_json"] is not None
    }


def refuse_mixed(
    dataset: str, upload: str, mine: Conventions, published: Mapping[str, Conventions]
) -> None:
    """Refuse an upload that states anything otherwise than another one of its dataset.

    Raises
    ------
    DataFaultError
        ``mixed-conventions``: names each subject with both values, and the other upload.
    """
    for other, held in published.items():
        different = conflicts(mine, held) if other != upload else []
        if different:
            raise DataFaultError(
                f"Upload {upload!r} can't go into dataset {dataset!r}: its conventions differ from "
                f"those of upload {other!r}. {_listed(different)}. Correct its profile, declare a "
                "conversion (`joints.order`, `joints.stored_as`), or choose another dataset.",
                kind=ErrorKind.MIXED_CONVENTIONS,
                upload=upload,
                other=other,
                subjects=[difference.subject for difference in different],
            )


def check_episode(key: str, mine: Conventions, upload: Conventions) -> None:
    """Refuse an episode that states anything otherwise than its upload; rates are left to rules.

    Raises
    ------
    DataFaultError
        ``mixed-conventions``: names each subject with both values.
    """
    different = [d for d in conflicts(mine, upload) if d.subject != CONTROL_HZ]
    if different:
        raise DataFaultError(
            f"Episode {key!r} has other conventions than its upload. {_listed(different)}. Upload "
            "it apart, or put it in the order of the others by `joints.order`.",
            kind=ErrorKind.MIXED_CONVENTIONS,
            episode=key,
            subjects=[difference.subject for difference in different],
        )


def doubtful(
    upload: str, mine: Conventions, published: Mapping[str, Conventions]
) -> Iterator[Finding]:
    """Yield what an upload or another one of its dataset leaves unsaid, so nobody can compare."""
    told: set[str] = set()
    for other, held in published.items():
        for doubt in doubts(mine, held) if other != upload else []:
            if doubt.subject not in told:
                told.add(doubt.subject)
                yield _doubt_finding(doubt, other)


def _doubt_finding(doubt: Difference, other: str) -> Finding:
    return Finding(
        rule="conventions_are_stated",
        severity=Severity.WARN,
        message=f"Only one of two uploads states {doubt}, as in upload {other!r}. They were put "
        "into one dataset as if they agreed; state it in both profiles.",
        where=doubt.subject,
    )


def _listed(different: Sequence[Difference]) -> str:
    return "; ".join(map(str, different))
