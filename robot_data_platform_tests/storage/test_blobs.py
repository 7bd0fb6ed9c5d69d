"""The blob column: what is written comes back, by stable row id, one ranged GET a blob."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from robot_data_platform.core.schema import key_field, table_schema
from robot_data_platform.errors import StorageError
from robot_data_platform.storage.commit import commit_fragments, rewrite_columns, write_rows
from robot_data_platform.storage.compaction import compact
from robot_data_platform.storage.creation import create_table, with_blob_column
from robot_data_platform.storage.predicate import equals, is_in
from robot_data_platform.storage.table import BLOB_COLUMN, LakeTable, blob_array, open_table
from robot_data_platform.storage.upkeep import delete_rows
from robot_data_platform_tests.counting_proxy import CountingProxy, Request

SCHEMA = with_blob_column(
    table_schema([key_field("gop_key", pa.int64()), pa.field("note", pa.string())])
)
NUM_GOPS = 24


def payload(key: int) -> bytes:
    """Return 30 to 90 kB that no other key has."""
    return np.random.default_rng(key).bytes(30_000 + 2_500 * (key % NUM_GOPS))


def write_gops(uri: str, keys: range, max_rows_per_file: int = 1 << 20) -> None:
    batches = []
    for key in keys:
        columns = [pa.array([key]), pa.array([None], pa.string()), blob_array([payload(key)])]
        batches += pa.table(columns, schema=SCHEMA).to_batches()
    fragments = write_rows(uri, SCHEMA, batches, max_rows_per_file)
    commit_fragments(uri, fragments, properties={})


@pytest.fixture
def gops(table_uri: str) -> LakeTable:
    """GOPs in three fragments."""
    create_table(table_uri, SCHEMA)
    write_gops(table_uri, range(NUM_GOPS), max_rows_per_file=8)
    return open_table(table_uri)


def row_ids(table: LakeTable, *keys: int) -> npt.NDArray[np.uint64]:
    rows = table.read(["gop_key"], with_row_id=True).to_pylist()
    row_id_by_key = {row["gop_key"]: row["_rowid"] for row in rows}
    return np.array([row_id_by_key[key] for key in keys], dtype=np.uint64)


def test_blobs_come_in_the_order_asked_for_with_repeats(gops: LakeTable) -> None:
    keys = (17, 0, 17, 9, 23)
    assert gops.read_blobs(row_ids(gops, *keys)) == [payload(key) for key in keys]


def test_no_blob_asked_for_is_none_given(gops: LakeTable) -> None:
    assert gops.read_blobs(np.array([], dtype=np.uint64)) == []


def test_a_blob_keeps_its_row_id_through_compaction_and_column_rewrites(gops: LakeTable) -> None:
    keys = (1, 8, 22)
    wanted = row_ids(gops, *keys)
    delete_rows(gops.uri, is_in("gop_key", [0, 2, 9, 10, 21]), {})
    note = pa.table({"gop_key": [8, 22], "note": ["seen", "seen"]})
    rewrite_columns(gops.uri, note, key="gop_key", properties={})
    assert compact(gops.uri)
    table = open_table(gops.uri)
    assert table.read_blobs(wanted) == [payload(key) for key in keys]
    assert gops.read_blobs(wanted) == [payload(key) for key in keys]


def test_a_row_that_was_deleted_has_no_blob(gops: LakeTable) -> None:
    wanted = row_ids(gops, 3, 4)
    delete_rows(gops.uri, equals("gop_key", 3), {})
    with pytest.raises(StorageError, match="first missing row ID 3 was deleted"):
        open_table(gops.uri).read_blobs(wanted)


def test_blobs_are_left_out_of_plain_reads(gops: LakeTable) -> None:
    assert gops.read().column_names == ["gop_key", "note"]
    assert BLOB_COLUMN in gops.schema.names


@pytest.fixture
def counted(
    s3_root: str, s3_proxy: CountingProxy, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, CountingProxy]:
    """A table of GOPs on S3, reached through the proxy that counts."""
    uri = f"{s3_root}/gops.lance"
    create_table(uri, SCHEMA)
    write_gops(uri, range(NUM_GOPS))
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3_proxy.endpoint_url)
    return uri, s3_proxy


def payload_requests(proxy: CountingProxy) -> list[Request]:
    return [request for request in proxy.requests if request.path.endswith(".blob")]


@pytest.mark.parametrize("key", [0, 11, NUM_GOPS - 1])
def test_a_gop_costs_one_ranged_get_of_its_own_bytes(
    counted: tuple[str, CountingProxy], key: int
) -> None:
    uri, proxy = counted
    table = open_table(uri)
    wanted = row_ids(table, key)
    proxy.clear()
    assert table.read_blobs(wanted) == [payload(key)]
    (request,) = payload_requests(proxy)
    assert (request.method, request.num_bytes) == ("GET", len(payload(key)))
    start = sum(len(payload(k)) for k in range(key))
    assert request.byte_range == f"bytes={start}-{start + len(payload(key)) - 1}"


def test_gops_far_apart_cost_one_get_each_however_often_asked_for(
    counted: tuple[str, CountingProxy],
) -> None:
    uri, proxy = counted
    table = open_table(uri)
    keys = [20, 2, 11, 2, 20]
    wanted = row_ids(table, *keys)
    proxy.clear()
    assert table.read_blobs(wanted) == [payload(key) for key in keys]
    sizes = sorted(request.num_bytes for request in payload_requests(proxy))
    assert sizes == sorted(len(payload(key)) for key in {2, 11, 20})


def test_a_quality_write_back_writes_no_blob_again(
    counted: tuple[str, CountingProxy],
) -> None:
    uri, proxy = counted
    note = pa.table({"gop_key": range(NUM_GOPS), "note": ["seen"] * NUM_GOPS})
    rewrite_columns(uri, note, key="gop_key", properties={})
    assert payload_requests(proxy) == []
    written = sum(r.num_bytes for r in proxy.requests if r.method == "PUT")
    assert written < len(payload(0))
    assert open_table(uri).read(["note"])["note"].to_pylist() == ["seen"] * NUM_GOPS


def test_opening_a_table_costs_two_requests_once_its_folder_is_known(
    counted: tuple[str, CountingProxy],
) -> None:
    uri, proxy = counted
    open_table(uri)
    proxy.clear()
    open_table(uri)
    assert len(proxy.requests) == 2
