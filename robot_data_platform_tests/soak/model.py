"""What a lake has to hold after each step, kept in memory beside the real one.

The model knows what each asset does, to which upload, in which state; not how. What only the code
under test can tell (verdicts of rules, versions of tables) is taken over once, when it may change,
and has to stay as it is from then on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from robot_data_platform.errors import ErrorKind
from robot_data_platform.storage.landing import Manifest
from robot_data_platform_tests.soak.content import Content

DATASET = "robot"
ASSETS = ("raw_episodes", "gop_video", "frames", "episodes", "quality_results", "spatial_results")

Row: TypeAlias = dict[str, object]
Edge: TypeAlias = tuple[str, str | None, str, int, str, str, str]
"""Asset, partition, output table and version, input table and version, run."""


def stable_id(upload: str, source_key: str) -> str:
    """Return an episode's id as `docs/format.md` says it is made."""
    text = "\x1f".join((DATASET, upload, source_key))
    return "ep_" + hashlib.sha256(text.encode()).hexdigest()[:24]


@dataclass(frozen=True, slots=True)
class Landed:
    """An upload as it lies in the landing folder now."""

    content: Content
    manifest: Manifest


@dataclass(slots=True, kw_only=True)
class Ingested:
    """An ingestion that was registered, and how far it went."""

    upload: str
    landed: Landed
    ingestion_id: str
    first_index: int
    created_ns: int
    has_gops: bool = False
    has_frames: bool = False
    is_noted: bool = False
    """Whether a finding says that its last episode is lost."""

    @property
    def content(self) -> Content:
        """What it holds."""
        return self.landed.content

    def number_of(self, index: object) -> int:
        """Return the position of one of its episode indices."""
        return int(str(index)) - self.first_index

    def indices(self) -> range:
        """Return the episode indices that it reserved."""
        return range(self.first_index, self.first_index + self.content.num_episodes)


@dataclass(frozen=True, slots=True)
class Expected:
    """How a step has to end: with a change or without, or refused for one of some reasons."""

    is_new: bool = False
    refusals: frozenset[ErrorKind] = frozenset()
    may_pass: bool = False
    """Whether it may as well go through without a change, where it could be refused."""


def refused(*kinds: ErrorKind) -> Expected:
    return Expected(refusals=frozenset(kinds))


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """A release as it was made."""

    name: str
    digest: str
    tables: Mapping[str, int]
    rows: Mapping[str, Row]
    """Of ``episodes``, those that it holds, by id."""
    ingestions: Sequence[Ingested]
    split_by_episode: Mapping[str, str]
    run_id: str


@dataclass(slots=True, kw_only=True)
class Model:
    """Everything that the lake has to show."""

    landed: dict[str, Landed] = field(default_factory=dict)
    ingestions: dict[str, Ingested] = field(default_factory=dict)
    """By (upload and manifest)'s digest, in the order of registration."""
    episodes: dict[str, Row] = field(default_factory=dict)
    """The visible rows of ``episodes``, whole, by id."""
    retired: set[str] = field(default_factory=set)
    given_up: set[int] = field(default_factory=set)
    """Episode indices that maintenance has given up."""
    replaced: list[Ingested] = field(default_factory=list)
    """Ingestions whose indices were given up, and that got others."""
    edges: list[Edge] = field(default_factory=list)
    releases: dict[str, Released] = field(default_factory=dict)
    columns: set[str] = field(default_factory=set)
    """Columns of ``frames``; they never go."""
    next_index: int = 0
    digests: dict[tuple[Content, int], object] = field(default_factory=dict)
    """``content_digest`` of each episode of a content, which any ingestion of it has."""

    def ingestion(self, upload: str) -> Ingested | None:
        """Return the ingestion of an upload as it is now, where it is registered."""
        return self.ingestions.get(_key(upload, self.landed[upload]))

    def add(self, upload: str, ingestion_id: str, created_ns: int) -> Ingested:
        """Register an upload as it is now."""
        landed = self.landed[upload]
        new = Ingested(
            upload=upload,
            landed=landed,
            ingestion_id=ingestion_id,
            first_index=self.next_index,
            created_ns=created_ns,
        )
        self.next_index += landed.content.num_episodes
        before = self.ingestions.get(_key(upload, landed))
        self.replaced += [before] if before else []
        self.ingestions[_key(upload, landed)] = new
        return new

    def note_edges(
        self, output: tuple[str, str | None, str, int], reads: Mapping[str, int], run_id: str
    ) -> None:
        """Note where an output comes from; of one output, by asset and partition, once.

        Checks that find what was found before write verdicts and no new version of findings.
        """
        if not any(edge[:4] == output for edge in self.edges):
            self.edges += [(*output, name, str(at), run_id) for name, at in reads.items()]

    def rows_of(self, upload: str) -> Iterator[Row]:
        """Yield the visible rows of an upload."""
        return (row for row in self.episodes.values() if row["upload"] == upload)

    def is_published(self, ingested: Ingested) -> bool:
        """Return whether an ingestion is what is visible of its upload."""
        return any(row["episode_index"] in ingested.indices() for row in self.episodes.values())

    def at_index(self, index: object) -> Ingested:
        """Return the ingestion that an episode index was reserved for."""
        known = (*self.ingestions.values(), *self.replaced)
        return next(one for one in known if index in one.indices())

    def is_registered(self, ingested: Ingested | None) -> bool:
        """Return whether an ingestion holds its reservation."""
        if ingested is None:
            return False
        return self.is_published(ingested) or not self.given_up.issuperset(ingested.indices())

    def expected(self, asset: str, upload: str, *, has_begun: bool = False) -> Expected:
        """Return how materializing an asset of an upload has to end now.

        A step that has begun goes on where its reservation is given up, but for publishing.
        """
        ingested = self.ingestion(upload)
        if asset == "raw_episodes":
            return Expected(is_new=not self.is_registered(ingested))
        is_held = self.is_registered(ingested) or (has_begun and asset != "episodes")
        if ingested is None or not is_held:
            return refused(ErrorKind.UPLOAD_NOT_FOUND)
        if asset == "gop_video":
            return Expected(is_new=not ingested.has_gops and bool(self.good(ingested)))
        if asset == "frames":
            return self._expected_frames(ingested)
        if asset == "episodes":
            return self._expected_episodes(ingested)
        return self._expected_checks(ingested, "q_version" if "quality" in asset else "s_version")

    def _expected_frames(self, ingested: Ingested) -> Expected:
        if ingested.has_frames:
            return Expected()
        good, is_new = self.good(ingested), not ingested.is_noted and self.lost(ingested)
        is_cut_off = bool(is_new) and ingested.content.fault == "truncated_video"
        if (good and not ingested.has_gops) or (not good and is_cut_off):
            return refused(ErrorKind.GOP_MISSING)
        return Expected(is_new=bool(good))

    def _expected_episodes(self, ingested: Ingested) -> Expected:
        if self.is_published(ingested):
            return Expected()
        lacks_rows = self.good(ingested) and not ingested.has_frames
        if lacks_rows or (self.lost(ingested) and not ingested.is_noted):
            return refused(ErrorKind.NO_ROWS, ErrorKind.TABLE_NOT_FOUND)
        return Expected(is_new=any(self.rows_of(ingested.upload)) or bool(self.shown(ingested)))

    def good(self, ingested: Ingested) -> list[int]:
        """Return the positions of the episodes that get rows."""
        return [n for n in self.shown(ingested) if n < ingested.content.num_good]

    def lost(self, ingested: Ingested) -> list[int]:
        """Return the positions of the episodes that go into quarantine."""
        return [n for n in self.shown(ingested) if n >= ingested.content.num_good]

    def is_gone(self, ingested: Ingested, number: int) -> bool:
        """Return whether what there was of an episode was collected."""
        index = ingested.first_index + number
        is_shown = any(row["episode_index"] == index for row in self.episodes.values())
        return index in self.given_up and not is_shown

    def shown(self, ingested: Ingested) -> list[int]:
        """Return the positions of the episodes that publishing shows: all but the retired."""
        return [
            number
            for number in range(ingested.content.num_episodes)
            if stable_id(ingested.upload, source_key(number)) not in self.retired
        ]

    def _expected_checks(self, ingested: Ingested, version_column: str) -> Expected:
        rows = [r for r in self.episodes.values() if r["episode_index"] in ingested.indices()]
        if rows:
            return Expected(is_new=any(row[version_column] is None for row in rows))
        return Expected(refusals=frozenset({ErrorKind.TABLE_NOT_FOUND}), may_pass=True)


def source_key(number: int) -> str:
    """Return the name of an upload's episode."""
    return f"episode_{number:03d}"


def _key(upload: str, landed: Landed) -> str:
    return f"{upload}:{landed.manifest.manifest_sha256}"
