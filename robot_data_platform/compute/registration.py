"""Registering an upload: verify it, find its episodes, and reserve their indices, once."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from robot_data_platform.compute.abandonment import given_up, is_given_up
from robot_data_platform.compute.conventions import (
    doubtful,
    published_conventions,
    refuse_mixed,
    upload_conventions,
)
from robot_data_platform.compute.ingestion import Ingestion, Workplace, open_source
from robot_data_platform.compute.older_tables import with_columns_of
from robot_data_platform.core.catalog_schema import uploads_schema
from robot_data_platform.core.fingerprint import digest as digest_of
from robot_data_platform.errors import DataFaultError, ErrorKind, NotFoundError
from robot_data_platform.formats.profile import Profile, find_profile, load_profile
from robot_data_platform.formats.registry import detect_format
from robot_data_platform.storage.commit import append_built
from robot_data_platform.storage.predicate import equals

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from robot_data_platform.core.conventions import Conventions
    from robot_data_platform.core.finding import Finding
    from robot_data_platform.core.index_ranges import IndexRange
    from robot_data_platform.core.run import RunInfo
    from robot_data_platform.storage.lake import Lake
    from robot_data_platform.storage.landing import Manifest
    from robot_data_platform.storage.table import LakeTable
    from robot_data_platform.video.settings import GopSettings

INGEST_VERSION = "2"
"""Raised by hand when the same upload would become other rows; part of the ingestion's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """What registering an upload came to."""

    ingestion: Ingestion
    findings: tuple[Finding, ...]
    """Contradictions of the source as a whole."""
    catalog_version: int
    is_new: bool
    """False where this very ingestion was registered before."""
    num_files: int
    num_bytes: int


def register_upload(
    workplace: Workplace, upload: str, settings: GopSettings, run: RunInfo
) -> Planned:
    """Verify an upload's files, find its format and episodes, and reserve their indices.

    Raises
    ------
    DataFaultError
        ``hash-mismatch``, ``missing-file``, ``unknown-format``, ``empty-source``: the upload as a
        whole can't be ingested. ``mixed-conventions``: it differs from another one of its dataset.
    InvalidInputError
        ``invalid-profile``.
    """
    manifest = workplace.landing.manifest(upload)
    workplace.landing.verify(manifest)
    with open_source(workplace, manifest) as source:
        profile = find_profile(source, _stated_profile(manifest))
        file_format = detect_format(source, manifest.format or profile.described_format)
        listing = file_format.list_episodes(source, profile)
        conventions = upload_conventions(source, file_format, listing.episodes, profile)
    if not listing.episodes:
        raise _no_episodes(upload, file_format.name, listing.findings)
    published = _published(workplace.lake, manifest.dataset)
    refuse_mixed(manifest.dataset, upload, conventions, published)
    ingestion = Ingestion(
        workplace=workplace,
        dataset=manifest.dataset,
        upload=upload,
        ingestion_id=_ingestion_id(manifest, profile, settings),
        manifest_sha256=manifest.manifest_sha256,
        format=file_format.name,
        profile=profile,
        settings=settings,
        conventions=conventions,
        first_episode_index=-1,
        num_episodes=len(listing.episodes),
        registered_ns=run.created_ns,
    )
    reserved, version, is_new = _reserve(ingestion, manifest, run)
    return Planned(
        ingestion=reserved,
        findings=(*listing.findings, *doubtful(upload, conventions, published)),
        catalog_version=version,
        is_new=is_new,
        num_files=len(manifest.files),
        num_bytes=sum(entry.size_bytes for entry in manifest.files),
    )


def find_ingestion(workplace: Workplace, upload: str, settings: GopSettings) -> Ingestion:
    """Return the ingestion that `register_upload` reserved for the upload as it is now.

    Raises
    ------
    NotFoundError
        ``upload-not-found``: the upload as it is now was not registered yet, or its reservation
        was given up.
    """
    manifest = workplace.landing.manifest(upload)
    with open_source(workplace, manifest) as source:
        profile = find_profile(source, _stated_profile(manifest))
    name = _ingestion_id(manifest, profile, settings)
    table = workplace.lake.find_catalog("uploads")
    row = _registered(table, name) if table is not None else None
    episodes = workplace.lake.find(manifest.dataset, "episodes")
    if row is None or is_given_up(episodes, _indices(row)):
        raise NotFoundError(
            f"Upload {upload!r} of dataset {manifest.dataset!r} is not registered with these "
            "settings. Materialize raw_episodes for it first.",
            kind=ErrorKind.UPLOAD_NOT_FOUND,
            upload=upload,
        )
    return Ingestion(
        workplace=workplace,
        dataset=manifest.dataset,
        upload=upload,
        ingestion_id=name,
        manifest_sha256=manifest.manifest_sha256,
        format=str(row["format"]),
        profile=profile,
        settings=settings,
        conventions=json.loads(str(row["conventions_json"])) if row["conventions_json"] else {},
        first_episode_index=int(str(row["first_episode_index"])),
        num_episodes=int(str(row["num_episodes"])),
        registered_ns=int(str(row["created_ns"])),
    )


def _published(lake: Lake, dataset: str) -> dict[str, Conventions]:
    episodes = lake.find(dataset, "episodes")
    return {} if episodes is None else published_conventions(lake, dataset, episodes)


def _stated_profile(manifest: Manifest) -> Profile | None:
    return load_profile(manifest.profile) if manifest.profile else None


def _ingestion_id(manifest: Manifest, profile: Profile, settings: GopSettings) -> str:
    named = {
        "dataset": manifest.dataset,
        "upload": manifest.upload,
        "manifest_sha256": manifest.manifest_sha256,
        "profile": profile.digest(),
        "settings": settings.as_dict(),
        "ingest_version": INGEST_VERSION,
    }
    return "in_" + digest_of(named)[:24]


def _registered(table: LakeTable, ingestion_id: str) -> dict[str, object] | None:
    rows = table.read(where=equals("ingestion_id", ingestion_id)).to_pylist()
    return rows[0] if rows else None


def _indices(row: Mapping[str, object]) -> IndexRange:
    """Return the half-open range of episode indices that a row of ``uploads`` reserves."""
    first = int(str(row["first_episode_index"]))
    return first, first + int(str(row["num_episodes"]))


def _reserve(ingestion: Ingestion, manifest: Manifest, run: RunInfo) -> tuple[Ingestion, int, bool]:
    """Reserve episode indices by one compare-and-swap; the loser of a race counts again.

    A reservation that was given up is replaced by one of fresh indices.
    """
    lake = ingestion.workplace.lake
    episodes = lake.find(ingestion.dataset, "episodes")
    used = [stop for _, stop in given_up(episodes)] if episodes else []
    table = with_columns_of(lake.ensure_catalog("uploads"), uploads_schema())

    def row_at(at: LakeTable) -> pa.Table:
        held = at.read(
            ["first_episode_index", "num_episodes"], equals("dataset", ingestion.dataset)
        )
        stops = pc.add(held["first_episode_index"], held["num_episodes"])
        first = max([pc.max(stops).as_py() or 0, *used])
        return pa.Table.from_pylist(
            [_upload_row(ingestion, manifest, run, first)], schema=at.schema
        )

    committed = append_built(
        table.uri,
        row_at,
        properties=run.properties(),
        is_done=lambda at: _is_reserved(at, ingestion.ingestion_id, episodes),
        replace=equals("ingestion_id", ingestion.ingestion_id),
    )
    row = _registered(lake.ensure_catalog("uploads"), ingestion.ingestion_id)
    assert row is not None
    reserved = replace(
        ingestion,
        first_episode_index=int(str(row["first_episode_index"])),
        registered_ns=int(str(row["created_ns"])),
    )
    return reserved, committed.version, committed.is_new


def _is_reserved(table: LakeTable, ingestion_id: str, episodes: LakeTable | None) -> bool:
    row = _registered(table, ingestion_id)
    return row is not None and not is_given_up(episodes, _indices(row))


def _upload_row(
    ingestion: Ingestion, manifest: Manifest, run: RunInfo, first_episode_index: int
) -> dict[str, object]:
    return {
        "ingestion_id": ingestion.ingestion_id,
        "dataset": ingestion.dataset,
        "upload": ingestion.upload,
        "manifest_sha256": manifest.manifest_sha256,
        "format": ingestion.format,
        "profile_yaml": ingestion.profile.model_dump_json(exclude_defaults=True),
        "settings_json": json.dumps(ingestion.settings.as_dict()),
        "conventions_json": json.dumps(ingestion.conventions, sort_keys=True),
        "first_episode_index": first_episode_index,
        "num_episodes": ingestion.num_episodes,
        "created_ns": run.created_ns,
        "run_id": run.run_id,
        "code_version": run.code_version,
    }


def _no_episodes(upload: str, name: str, findings: Sequence[Finding]) -> DataFaultError:
    said = " ".join(finding.message for finding in findings)
    return DataFaultError(
        f"Upload {upload!r} ({name}) holds no episode: expected at least one. {said}".strip(),
        kind=ErrorKind.EMPTY_SOURCE,
        upload=upload,
    )
