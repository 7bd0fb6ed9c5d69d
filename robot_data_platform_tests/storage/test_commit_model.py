"""Any order of changes leaves what an in-memory model holds, at every version ever made."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from typing import TypedDict

import pyarrow as pa
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from robot_data_platform.storage.commit import grow_schema, rewrite_columns
from robot_data_platform.storage.compaction import compact
from robot_data_platform.storage.predicate import equals, is_in
from robot_data_platform.storage.table import LakeTable, open_table
from robot_data_platform.storage.upkeep import ensure_index, fold_indices
from robot_data_platform_tests.storage.racing import holds
from robot_data_platform_tests.storage.small_table import add, make_table

UPLOADS = st.sampled_from(["a", "b", "c", "it's"])
COLUMNS = st.sampled_from(["one", "two", "three"])


@dataclass(frozen=True, slots=True)
class Row:
    """A row as the model holds it."""

    upload: str
    score: float | None = None


class Seen(TypedDict):
    """What a table shows at one version."""

    rows: dict[int, Row]
    names: list[str]


def seen_in(table: LakeTable) -> Seen:
    rows = table.read().to_pylist()
    by_key = {row["key"]: Row(row["upload"], row["score"]) for row in rows}
    assert len(by_key) == len(rows)
    return {"rows": by_key, "names": table.schema.names}


class ChangesOfATable(RuleBasedStateMachine):
    """One table and its model; keys are never used twice."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.uri = f"{self.folder.name}/numbers.lance"
        self.rows: dict[int, Row] = {}
        self.next_key = 0
        self.row_ids: dict[int, int] = {}
        self.history: dict[int, Seen] = {}

    @initialize()
    def create(self) -> None:
        self.names = list(make_table(self.uri).schema.names)

    @rule(upload=UPLOADS, num_rows=st.integers(1, 4))
    def append(self, upload: str, num_rows: int) -> None:
        keys = self.new_keys(num_rows)
        assert add(self.uri, keys, upload).is_new
        self.rows |= {key: Row(upload) for key in keys}

    @rule(upload=UPLOADS)
    def append_unless_there(self, upload: str) -> None:
        keys = self.new_keys(2)
        is_there = upload in {row.upload for row in self.rows.values()}
        assert add(self.uri, keys, upload, is_done=holds(upload)).is_new is not is_there
        if not is_there:
            self.rows |= {key: Row(upload) for key in keys}

    @rule(upload=UPLOADS, num_rows=st.integers(0, 3))
    def replace_upload(self, upload: str, num_rows: int) -> None:
        keys = self.new_keys(num_rows)
        add(self.uri, keys, upload, replace=True)
        self.rows = {k: row for k, row in self.rows.items() if row.upload != upload}
        self.rows |= {key: Row(upload) for key in keys}

    @rule(data=st.data(), score=st.one_of(st.none(), st.floats(allow_nan=False)))
    def rewrite(self, data: st.DataObject, score: float | None) -> None:
        known = st.sampled_from(sorted(self.rows)) if self.rows else st.just(-1)
        keys = sorted(data.draw(st.sets(st.one_of(known, st.just(-1)), min_size=1)))
        scores = pa.array([score] * len(keys), pa.float64())
        new = {k: replace(row, score=score) for k, row in self.rows.items() if k in keys}
        changes = any(self.rows[key] != row for key, row in new.items())
        rows = pa.table({"key": pa.array(keys, pa.int64()), "score": scores})
        assert rewrite_columns(self.uri, rows, key="key", properties={}).is_new is changes
        self.rows |= new

    @rule(name=COLUMNS)
    def grow(self, name: str) -> None:
        grow_schema(self.uri, [pa.field(name, pa.list_(pa.float32(), 3))], {"rdp.last": name})
        self.names += [name] if name not in self.names else []
        assert open_table(self.uri).metadata["rdp.last"] == name

    @precondition(lambda self: self.rows)
    @rule()
    def compact(self) -> None:
        compact(self.uri)

    @rule(column=st.sampled_from(["key", "upload"]))
    def index(self, column: str) -> None:
        ensure_index(self.uri, column)

    @rule()
    def fold(self) -> None:
        fold_indices(self.uri)

    @invariant()
    def a_filter_finds_what_a_scan_finds(self) -> None:
        table = open_table(self.uri)
        for upload in {row.upload for row in self.rows.values()}:
            found = table.read(["key"], equals("upload", upload))["key"].to_pylist()
            assert sorted(found) == [k for k, row in self.rows.items() if row.upload == upload]
        wanted = range(0, self.next_key, 2)
        found = table.read(["key"], is_in("key", wanted))["key"].to_pylist()
        assert sorted(found) == sorted(set(wanted) & set(self.rows))

    @invariant()
    def every_version_shows_what_it_showed(self) -> None:
        table = open_table(self.uri)
        self.history.setdefault(table.version, {"rows": dict(self.rows), "names": [*self.names]})
        for version, seen in self.history.items():
            assert seen_in(open_table(self.uri, version)) == seen
        assert seen_in(table) == {"rows": self.rows, "names": self.names}

    @invariant()
    def a_row_keeps_its_id(self) -> None:
        rows = open_table(self.uri).read(["key"], with_row_id=True).to_pylist()
        found = {row["key"]: row["_rowid"] for row in rows}
        assert len(set(found.values())) == len(found)
        assert all(self.row_ids.setdefault(key, row_id) == row_id for key, row_id in found.items())

    def new_keys(self, count: int) -> range:
        keys = range(self.next_key, self.next_key + count)
        self.next_key += count
        return keys

    def teardown(self) -> None:
        self.folder.cleanup()


ChangesOfATable.TestCase.settings = settings(max_examples=15, stateful_step_count=15, deadline=None)
test_any_order_of_changes = ChangesOfATable.TestCase
