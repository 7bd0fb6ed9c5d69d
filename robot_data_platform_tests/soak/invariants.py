"""What has to hold after every step: the lake shows what the model holds, whole and once."""

from __future__ import annotations

from collections import Counter

from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.table import LakeTable
from robot_data_platform_tests.soak.episodes import without_null
from robot_data_platform_tests.soak.model import DATASET, Ingested, Model, Row
from robot_data_platform_tests.soak.releases import assert_release, assert_releases_listed
from robot_data_platform_tests.soak.seen import Pictures, assert_frames, edges_of, episodes_of

READ = ("episodes", "frames", "gops", "quality")


class Watch:
    """Looks at all of a lake; what did not change since the last look is not read again."""

    def __init__(self, lake: Lake, model: Model) -> None:
        self._lake, self._model = lake, model
        self._seen: dict[str, int] = {}
        self._columns: set[str] = set()
        self.history: dict[int, dict[str, Row]] = {}
        """What each version of ``episodes`` showed, while it was the latest."""
        self._num_looks = 0
        self._is_trusted = True

    def distrust(self) -> None:
        """Read everything again at the next look: files may have been removed."""
        self._is_trusted = False

    def look(self) -> None:
        """Hold the lake against the model."""
        tables = {name: self._lake.find(DATASET, name) for name in READ}
        versions = {name: table.version for name, table in tables.items() if table is not None}
        if versions != self._seen or not self._is_trusted:
            self._look_at_rows(tables)
        self._look_at_catalog()
        self._look_at_releases()
        self._seen, self._is_trusted = versions, True
        self._num_looks += 1

    def _look_at_rows(self, tables: dict[str, LakeTable | None]) -> None:
        episodes, frames, gops = (tables[name] for name in ("episodes", "frames", "gops"))
        shown = {} if episodes is None else episodes_of(episodes)
        assert without_null(shown) == without_null(self._model.episodes)
        if episodes is not None:
            self.history[episodes.version] = dict(shown)
        pictures = None if gops is None else Pictures(gops)
        rows: list[Row] = [] if frames is None else frames.read().to_pylist()
        by_range = _by_ingestion(self._model, rows)
        for ingested in (*self._model.ingestions.values(), *self._model.replaced):
            mine = by_range.get(ingested.first_index, [])
            self._look_at_ingestion(ingested, mine, pictures)
        if frames is not None:
            assert self._columns <= set(frames.schema.names)
            self._columns = set(frames.schema.names)
        if tables["quality"] is not None:
            _assert_findings(tables["quality"], self._model)

    def _look_at_ingestion(
        self, ingested: Ingested, rows: list[Row], pictures: Pictures | None
    ) -> None:
        """Hold all that there is of an ingestion, visible or not, against its upload."""
        if not self._model.is_registered(ingested):
            return
        good = set(self._model.good(ingested))
        assert pictures is not None or not ingested.has_gops
        if pictures is None:
            return
        cut = pictures.numbers(ingested)
        assert bool(cut) is ingested.has_gops, ingested.ingestion_id
        assert cut <= set(range(ingested.content.num_good))
        assert cut >= (good if ingested.has_gops else set()), ingested.ingestion_id
        assert bool(rows) is ingested.has_frames, ingested.ingestion_id
        assert_frames(rows, ingested, pictures, good if ingested.has_frames else ())

    def _look_at_catalog(self) -> None:
        assert edges_of(self._lake) == Counter(self._model.edges)
        table = self._lake.find_catalog("uploads")
        columns = ["ingestion_id", "first_episode_index", "num_episodes"]
        rows = [] if table is None else table.read(columns).to_pylist()
        assert sorted(tuple(row.values()) for row in rows) == sorted(
            (one.ingestion_id, one.first_index, one.content.num_episodes)
            for one in self._model.ingestions.values()
        )

    def _look_at_releases(self) -> None:
        assert_releases_listed(self._lake, self._model)
        releases = list(self._model.releases.values())
        if releases and self._is_trusted:
            releases = [releases[self._num_looks % len(releases)]]
        for release in releases:
            assert_release(self._lake, self._model, release)


def _by_ingestion(model: Model, rows: list[Row]) -> dict[int, list[Row]]:
    """Return rows by the first index of their ingestion; a row of none fails."""
    known = (*model.ingestions.values(), *model.replaced)
    first_by_index = {index: one.first_index for one in known for index in one.indices()}
    grouped: dict[int, list[Row]] = {}
    for row in rows:
        grouped.setdefault(first_by_index[int(str(row["episode_index"]))], []).append(row)
    return grouped


def _assert_findings(quality: LakeTable, model: Model) -> None:
    """Hold the counts in each judged row against the findings that hold of it."""
    columns = ["episode_index", "rules_version", "severity"]
    found = Counter(tuple(row.values()) for row in quality.read(columns).to_pylist())
    for row in model.episodes.values():
        if row["q_version"] is not None:
            versions = (row["ingestion_id"], row["q_version"])
            for severity in ("info", "warn", "fail"):
                held = sum(found[row["episode_index"], version, severity] for version in versions)
                assert row[f"q_num_{severity}"] == held, (row["episode_index"], severity)
