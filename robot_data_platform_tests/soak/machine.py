"""Any order of what can be done to a lake, with a model beside it."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from robot_data_platform.compute.scrub_share import NONE
from robot_data_platform.compute.upkeep_policy import UpkeepPolicy
from robot_data_platform.storage.commit import grow_schema, rewrite_columns
from robot_data_platform.storage.compaction import compact
from robot_data_platform.storage.upkeep import ensure_index, fold_indices
from robot_data_platform_tests.soak.content import Content, land
from robot_data_platform_tests.soak.driver import DAY_NS, TABLES, Driver
from robot_data_platform_tests.soak.effects import apply, assert_ended
from robot_data_platform_tests.soak.episodes import restore, retire
from robot_data_platform_tests.soak.materialize import Outcome, materialize
from robot_data_platform_tests.soak.model import ASSETS, DATASET, Landed

MAX_RELEASES = 5
MAX_IDLE = 2

UPLOADS = st.sampled_from(["u1", "u2", "u3"])
CONTENTS = st.builds(
    Content,
    seed=st.integers(0, 9),
    num_episodes=st.integers(1, 3),
    cameras=st.sampled_from([("env",), ("env",), ("env", "wrist")]),
    has_gripper=st.booleans(),
    fault=st.sampled_from([None, None, None, "nan_state", "truncated_video", "time_backwards"]),
)
POLICIES = st.builds(
    UpkeepPolicy,
    keep_versions=st.sampled_from([timedelta(0), timedelta(days=14)]),
    grace=st.sampled_from([timedelta(0), timedelta(days=1)]),
)
GENTLE = UpkeepPolicy(keep_versions=timedelta(days=14), grace=timedelta(days=1), scrub=NONE)


def first_index(outcomes: Sequence[Outcome]) -> int:
    """Return the first episode index that an ingestion reserved."""
    ingestion = outcomes[0].ingestion
    assert ingestion is not None
    return ingestion.first_episode_index


class AnyOrder(RuleBasedStateMachine):
    """One dataset of at most three uploads, whose corrections are many."""

    counts: ClassVar[Counter[str]] = Counter()
    """How often each rule ran, over all machines of the process."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(prefix="rdp-soak-")
        self.driver = Driver(Path(self.folder.name))
        self.num_releases_tried = 0
        self.num_idle = 0
        """Steps in a row that change nothing that anybody sees; a few are enough."""
        self.place, self.lake, self.model = self.driver.place, self.driver.lake, self.driver.model

    def teardown(self) -> None:
        self.folder.cleanup()

    @rule(upload=UPLOADS, content=CONTENTS)
    def upload_or_correct(self, upload: str, content: Content) -> None:
        self.count("upload" if upload not in self.model.landed else "correct")
        manifest = land(self.place, DATASET, upload, content)
        self.model.landed[upload] = Landed(content, manifest)

    @precondition(lambda self: self.model.landed and self.num_idle < MAX_IDLE)
    @rule(data=st.data())
    def upload_the_same_again(self, data: st.DataObject) -> None:
        upload = self.draw_upload(data)
        landed = self.model.landed[upload]
        self.count("upload again", is_idle=True)
        assert land(self.place, DATASET, upload, landed.content) == landed.manifest

    @precondition(lambda self: self.model.landed)
    @rule(data=st.data(), asset=st.sampled_from(ASSETS))
    def materialize_any(self, data: st.DataObject, asset: str) -> None:
        self.count(asset)
        self.driver.materialize(asset, self.draw_upload(data))

    @precondition(lambda self: self.model.landed)
    @rule(data=st.data())
    def materialize_the_next(self, data: st.DataObject) -> None:
        upload = self.draw_upload(data)
        due = [asset for asset in ASSETS if self.model.expected(asset, upload).is_new]
        if due:
            self.count(due[0])
            self.driver.materialize(due[0], upload)

    @precondition(lambda self: self.model.landed)
    @rule(data=st.data(), num_assets=st.integers(4, len(ASSETS)))
    def materialize_in_order(self, data: st.DataObject, num_assets: int) -> None:
        upload = self.draw_upload(data)
        self.count("ingest")
        for asset in ASSETS[:num_assets]:
            self.driver.materialize(asset, upload)

    @precondition(lambda self: self.model.landed)
    @rule(
        data=st.data(),
        asset=st.sampled_from(ASSETS),
        number=st.integers(0, 2),
        other=st.sampled_from([*ASSETS, "maintain", "release", "compact"]),
    )
    def two_at_once(self, data: st.DataObject, asset: str, number: int, other: str) -> None:
        """Let another writer in, just before a commit of a step."""
        mine, theirs = self.draw_upload(data), self.draw_upload(data)
        intruders: dict[str, Callable[[], None]] = {
            "maintain": lambda: self.driver.maintain(GENTLE),
            "release": self.driver.release,
            "compact": self.driver.compact_all,
        }
        self.count(f"two at once: {other if other in intruders else 'asset'}")
        intrude = intruders.get(other, lambda: self.driver.materialize(other, theirs))
        self.driver.materialize(asset, mine, meanwhile=(number, intrude))

    @precondition(lambda self: len(self.model.landed) > 1)
    @rule(data=st.data())
    def in_threads(self, data: st.DataObject) -> None:
        """Ingest two uploads at the same time."""
        self.count("two at once: in threads")
        uploads = data.draw(st.permutations(sorted(self.model.landed)), label="uploads")[:2]
        runs = {u: [self.driver.run_of(asset, u) for asset in ASSETS] for u in uploads}

        def ingest(upload: str) -> list[Outcome]:
            pairs = zip(ASSETS, runs[upload], strict=True)
            return [materialize(self.place, asset, upload, run) for asset, run in pairs]

        with ThreadPoolExecutor(len(uploads)) as pool:
            outcomes = dict(zip(uploads, pool.map(ingest, uploads), strict=True))
        # Uploads do not touch each other, so it is as if one had come after the other.
        for upload in sorted(uploads, key=lambda name: first_index(outcomes[name])):
            for number, asset in enumerate(ASSETS):
                outcome, run = outcomes[upload][number], runs[upload][number]
                assert_ended(outcome, self.model.expected(asset, upload), f"{asset} of {upload}")
                apply(self.model, self.lake, asset, upload, outcome, run)

    @precondition(lambda self: self.num_releases_tried < MAX_RELEASES and self.model.ingestions)
    @rule()
    def release_all(self) -> None:
        self.count("release", is_idle=True)
        self.num_releases_tried += 1
        self.driver.release()

    @precondition(lambda self: self.model.ingestions and self.num_idle < MAX_IDLE)
    @rule(policy=POLICIES, days=st.sampled_from([0, 0, 2]))
    def maintain_after(self, policy: UpkeepPolicy, days: int) -> None:
        self.count("maintain", is_idle=True)
        self.driver.now_ns += days * DAY_NS
        self.driver.maintain(policy)

    @precondition(lambda self: self.model.landed)
    @rule(data=st.data(), number=st.integers(0, 3), asset=st.sampled_from(ASSETS))
    def maintain_and_another(self, data: st.DataObject, number: int, asset: str) -> None:
        """Let a step in, just before a commit of maintenance."""
        self.count("two at once: asset in maintain")
        upload = self.draw_upload(data)
        self.driver.now_ns += 2 * DAY_NS
        self.driver.maintain(
            GENTLE, meanwhile=(number, lambda: self.driver.materialize(asset, upload))
        )

    @precondition(lambda self: self.model.ingestions and self.num_idle < MAX_IDLE)
    @rule(table=st.sampled_from(TABLES))
    def compact_and_index(self, table: str) -> None:
        self.count("compact and index", is_idle=True)
        if self.lake.find(DATASET, table) is not None:
            uri = self.lake.table_uri(DATASET, table)
            compact(uri)
            if table in ("gops", "frames"):
                ensure_index(uri, "episode_index")
            fold_indices(uri)

    @precondition(lambda self: self.model.episodes)
    @rule(data=st.data(), name=st.sampled_from(["note_a", "note_b"]), value=st.integers(0, 9))
    def add_or_fill_a_column(self, data: st.DataObject, name: str, value: int) -> None:
        self.count("add a column")
        uri = self.lake.table_uri(DATASET, "episodes")
        grow_schema(uri, [pa.field(name, pa.int64())], {})
        rows = self.model.episodes
        chosen = data.draw(st.sets(st.sampled_from(sorted(rows)), min_size=1), label="episodes")
        self.model.episodes = {
            key: {**row, name: value if key in chosen else row.get(name)}
            for key, row in rows.items()
        }
        new = pa.table(
            {
                "episode_index": pa.array([rows[key]["episode_index"] for key in chosen]),
                name: pa.array([value] * len(chosen), pa.int64()),
            }
        )
        rewrite_columns(uri, new, key="episode_index", properties={})

    @precondition(lambda self: self.model.episodes)
    @rule(data=st.data())
    def retire(self, data: st.DataObject) -> None:
        self.count("retire")
        episode = data.draw(st.sampled_from(sorted(self.model.episodes)), label="episode")
        retire(self.lake, self.model, episode, self.driver.run_of("retirements"))

    @precondition(lambda self: self.driver.watch.history)
    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        self.count("restore")
        version = data.draw(st.sampled_from(sorted(self.driver.watch.history)), label="version")
        rows = self.driver.watch.history[version]
        may_be_gone = version <= self.driver.last_cleaned
        restore(
            self.lake, self.model, version, rows, may_be_gone, self.driver.run_of("restorations")
        )

    @invariant()
    def the_lake_is_as_the_model(self) -> None:
        self.driver.watch.look()

    def draw_upload(self, data: st.DataObject) -> str:
        """Draw one of the uploads that were landed."""
        return data.draw(st.sampled_from(sorted(self.model.landed)), label="upload")

    def count(self, what: str, *, is_idle: bool = False) -> None:
        """Count a step."""
        AnyOrder.counts[what] += 1
        self.num_idle = self.num_idle + 1 if is_idle else 0
