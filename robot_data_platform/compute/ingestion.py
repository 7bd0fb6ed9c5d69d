"""One ingestion of an upload: what is read, how, and under which episode indices.

An ingestion is named by everything that decides its content: the manifest, the profile, the
settings and the code version. The same name again is the same content, so nothing is written
twice; another name gets fresh episode indices, and nothing that was published is touched.
"""

from __future__ import annotations

import itertools
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from robot_data_platform.compute.episodes_map import Fanout, num_workers_of
from robot_data_platform.compute.retired import retired_ids
from robot_data_platform.core.identity import episode_id
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.registry import detect_format
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.landing import Landing, Manifest
from robot_data_platform.storage.predicate import in_range

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from robot_data_platform.core.conventions import Conventions
    from robot_data_platform.core.recording import EpisodeRef, Recording
    from robot_data_platform.core.source import Source
    from robot_data_platform.formats.profile import Profile
    from robot_data_platform.video.settings import GopSettings

BATCH_BYTES = 768 << 20
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
    manifest_sha256: str
    """Digest of the marker that it was registered from."""
    format: str
    profile: Profile
    settings: GopSettings
    conventions: Conventions
    """How its numbers read, as far as profile and first episode state it."""
    first_episode_index: int
    num_episodes: int
    registered_ns: int
    """When its indices were reserved, by the clock of the run that did so."""

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


@contextmanager
def open_source(workplace: Workplace, manifest: Manifest) -> Iterator[Source]:
    """Yield the upload's files; what was fetched from a remote store is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="rdp-source-") as cache:
        yield workplace.landing.source(manifest, Path(cache))


@contextmanager
def open_ingestion_source(ingestion: Ingestion) -> Iterator[Source]:
    """Yield the files of an ingestion's upload.

    Raises
    ------
    DataFaultError
        ``hash-mismatch``: the upload was corrected since it was registered.
    """
    manifest = ingestion.workplace.landing.manifest(ingestion.upload)
    if manifest.manifest_sha256 != ingestion.manifest_sha256:
        raise _corrected(ingestion, manifest)
    with open_source(ingestion.workplace, manifest) as source:
        yield source


def read_recording(ingestion: Ingestion, source: Source, ref: EpisodeRef) -> Recording:
    """Return one episode as its format reads it."""
    return detect_format(source, ingestion.format).read(source, ref, ingestion.profile)


def list_tasks(ingestion: Ingestion) -> list[EpisodeTask]:
    """Return every episode of the ingestion, but the retired, with its index and its stable id.

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
    tasks = [
        EpisodeTask(
            ref=ref,
            episode_index=ingestion.first_episode_index + number,
            episode_id=episode_id(ingestion.dataset, ingestion.upload, ref.source_key),
        )
        for number, ref in enumerate(episodes)
    ]
    retired = retired_ids(ingestion.workplace.lake, ingestion.dataset)
    return [task for task in tasks if task.episode_id not in retired]


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


def _corrected(ingestion: Ingestion, manifest: Manifest) -> DataFaultError:
    return DataFaultError(
        f"Upload {ingestion.upload!r} was corrected while it was ingested: its marker has digest "
        f"{manifest.manifest_sha256[:16]}, expected {ingestion.manifest_sha256[:16]}. Run the "
        "ingestion again; nothing of this one is visible.",
        kind=ErrorKind.HASH_MISMATCH,
        upload=ingestion.upload,
    )
