"""One ingestion of an upload: what is read, how, and under which episode indices.

An ingestion is named by everything that decides its content: the manifest, the profile, the
settings and the code version. The same name again is the same content, so nothing is written
twice; another name gets fresh episode indices, and nothing that was published is touched.
"""

from __future__ import annotations

import itertools
import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from robot_data_platform.compute.episodes_map import Fanout, num_workers_of
from robot_data_platform.core.finding import Finding
from robot_data_platform.core.fingerprint import digest as digest_of
from robot_data_platform.core.identity import episode_id
from robot_data_platform.core.recording import EpisodeRef, Recording
from robot_data_platform.core.run import RunInfo
from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, ErrorKind, NotFoundError
from robot_data_platform.formats.profile import Profile, find_profile, load_profile
from robot_data_platform.formats.registry import detect_format
from robot_data_platform.storage.commit import append_built
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.landing import Landing, Manifest
from robot_data_platform.storage.predicate import equals, in_range
from robot_data_platform.storage.table import LakeTable
from robot_data_platform.video.settings import GopSettings

INGEST_VERSION = "1"
"""Raised by hand when the same upload would become other rows; part of the ingestion's name."""

BATCH_BYTES = 256 << 20
"""Source bytes that one task works on at most, where its episodes are smaller than that."""

Reference = TypeVar("Reference")


@dataclass(frozen=True, slots=True, kw_only=True)
class Workplace:
    """Where uploads lie and tables go; small and picklable."""

    lake_root: str
    landing_root: str

    @property
    def lake(self) -> Lake:
        """The lake."""
        return Lake(self.lake_root)

    @property
    def landing(self) -> Landing:
        """The landing folder."""
        return Landing(self.landing_root)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingestion:
    """One named ingestion with its reserved episode indices; small and picklable."""

    workplace: Workplace
    dataset: str
    upload: str
    ingestion_id: str
    format: str
    profile: Profile
    settings: GopSettings
    first_episode_index: int
    num_episodes: int

    @property
    def index_range(self) -> tuple[int, int]:
        """Half-open range of its episode indices."""
        return self.first_episode_index, self.first_episode_index + self.num_episodes

    def where(self) -> str:
        """Return the predicate of its rows, in any table that has ``episode_index``."""
        return in_range("episode_index", *self.index_range)


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeTask:
    """One episode to work on."""

    ref: EpisodeRef
    episode_index: int
    episode_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchTask:
    """Some episodes of an ingestion, for one worker to write as one fragment."""

    ingestion: Ingestion
    episodes: tuple[EpisodeTask, ...]


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
        whole can't be ingested.
    InvalidInputError
        ``invalid-profile``.
    """
    manifest = workplace.landing.manifest(upload)
    workplace.landing.verify(manifest)
    with open_source(workplace, manifest) as source:
        profile = find_profile(source, _stated_profile(manifest))
        file_format = detect_format(source, manifest.format)
        listing = file_format.list_episodes(source, profile)
    if not listing.episodes:
        raise _no_episodes(upload, file_format.name, listing.findings)
    ingestion = Ingestion(
        workplace=workplace,
        dataset=manifest.dataset,
        upload=upload,
        ingestion_id=_ingestion_id(manifest, profile, settings),
        format=file_format.name,
        profile=profile,
        settings=settings,
        first_episode_index=-1,
        num_episodes=len(listing.episodes),
    )
    reserved, version, is_new = _reserve(ingestion, manifest, run)
    return Planned(
        ingestion=reserved,
        findings=listing.findings,
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
        ``upload-not-found``: the upload as it is now was not registered yet.
    """
    manifest = workplace.landing.manifest(upload)
    with open_source(workplace, manifest) as source:
        profile = find_profile(source, _stated_profile(manifest))
    name = _ingestion_id(manifest, profile, settings)
    table = workplace.lake.find_catalog("uploads")
    row = _registered(table, name) if table is not None else None
    if row is None:
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
        format=str(row["format"]),
        profile=profile,
        settings=settings,
        first_episode_index=int(str(row["first_episode_index"])),
        num_episodes=int(str(row["num_episodes"])),
    )


@contextmanager
def open_source(workplace: Workplace, manifest: Manifest) -> Iterator[Source]:
    """Yield the upload's files; what was fetched from a remote store is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="rdp-source-") as cache:
        yield workplace.landing.source(manifest, Path(cache))


@contextmanager
def open_ingestion_source(ingestion: Ingestion) -> Iterator[Source]:
    """Yield the files of an ingestion's upload."""
    manifest = ingestion.workplace.landing.manifest(ingestion.upload)
    with open_source(ingestion.workplace, manifest) as source:
        yield source


def read_recording(ingestion: Ingestion, source: Source, ref: EpisodeRef) -> Recording:
    """Return one episode as its format reads it."""
    return detect_format(source, ingestion.format).read(source, ref, ingestion.profile)


def list_tasks(ingestion: Ingestion) -> list[EpisodeTask]:
    """Return every episode of the ingestion with its index and its stable id.

    Raises
    ------
    DataFaultError
        ``metadata-contradiction``: the upload lists another number of episodes than registered.
    """
    with open_ingestion_source(ingestion) as source:
        file_format = detect_format(source, ingestion.format)
        episodes = file_format.list_episodes(source, ingestion.profile).episodes
    if len(episodes) != ingestion.num_episodes:
        raise DataFaultError(
            f"Upload {ingestion.upload!r} lists {len(episodes)} episodes: expected the "
            f"{ingestion.num_episodes} that were registered. Upload it anew under another id.",
            kind=ErrorKind.METADATA_CONTRADICTION,
            upload=ingestion.upload,
        )
    return [
        EpisodeTask(
            ref=ref,
            episode_index=ingestion.first_episode_index + number,
            episode_id=episode_id(ingestion.dataset, ingestion.upload, ref.source_key),
        )
        for number, ref in enumerate(episodes)
    ]


def batch_tasks(
    ingestion: Ingestion, tasks: Sequence[EpisodeTask], fanout: Fanout
) -> list[BatchTask]:
    """Return the episodes in batches: few enough for large fragments, enough for all workers."""
    manifest = ingestion.workplace.landing.manifest(ingestion.upload)
    num_bytes = sum(entry.size_bytes for entry in manifest.files)
    wanted = max(2 * num_workers_of(fanout, len(tasks)), -(-num_bytes // BATCH_BYTES))
    return [BatchTask(ingestion=ingestion, episodes=tuple(part)) for part in _split(tasks, wanted)]


def _split(items: Sequence[Reference], num_parts: int) -> list[Sequence[Reference]]:
    num_parts = min(num_parts, len(items))
    bounds = [len(items) * part // num_parts for part in range(num_parts + 1)] if items else []
    return [items[a:b] for a, b in itertools.pairwise(bounds)]


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


def _reserve(ingestion: Ingestion, manifest: Manifest, run: RunInfo) -> tuple[Ingestion, int, bool]:
    """Reserve episode indices by one compare-and-swap; the loser of a race counts again."""
    lake = ingestion.workplace.lake
    table = lake.ensure_catalog("uploads")

    def row_at(at: LakeTable) -> pa.Table:
        held = at.read(
            ["first_episode_index", "num_episodes"], equals("dataset", ingestion.dataset)
        ).to_pylist()
        first = max((r["first_episode_index"] + r["num_episodes"] for r in held), default=0)
        return pa.Table.from_pylist(
            [_upload_row(ingestion, manifest, run, first)], schema=at.schema
        )

    committed = append_built(
        table.uri,
        row_at,
        properties=run.properties(),
        is_done=lambda at: _registered(at, ingestion.ingestion_id) is not None,
    )
    row = _registered(lake.ensure_catalog("uploads"), ingestion.ingestion_id)
    assert row is not None
    first = int(str(row["first_episode_index"]))
    return replace(ingestion, first_episode_index=first), committed.version, committed.is_new


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
