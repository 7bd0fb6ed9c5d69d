from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest

from robot_data_platform.core.schema import (
    FORMAT_VERSION,
    FORMAT_VERSION_KEY,
    frames_base_fields,
    table_schema,
)
from robot_data_platform.errors import ErrorKind, InvalidInputError, NotFoundError, StorageError
from robot_data_platform.storage.commit import append_rows
from robot_data_platform.storage.creation import create_table
from robot_data_platform.storage.lake import GOPS_CONFIG, Lake
from robot_data_platform.storage.table import BLOB_COLUMN, LakeTable
from robot_data_platform_tests.storage.silent_servers import answering
from robot_data_platform_tests.storage.small_table import SCHEMA

FRAMES = table_schema(frames_base_fields())


@pytest.fixture
def lake(root: str) -> Lake:
    """An empty lake, locally and on S3."""
    return Lake(root)


@pytest.fixture
def local_lake(tmp_path: object) -> Lake:
    """An empty lake on this machine."""
    return Lake(str(tmp_path))


def register(lake: Lake, dataset: str) -> None:
    """Let the catalog know of a dataset."""
    table = lake.ensure_catalog("uploads")
    row = {"ingestion_id": f"in_{dataset}", "dataset": dataset, "upload": "u", "format": "rawlog"}
    row |= dict.fromkeys(("manifest_sha256", "run_id", "code_version"), "")
    numbers = dict.fromkeys(("first_episode_index", "num_episodes", "created_ns"), 0)
    rows = pa.Table.from_pylist([{**row, **numbers}], schema=table.schema)
    append_rows(table.uri, rows, properties={})


def make_all(lake: Lake) -> list[LakeTable]:
    return [
        *(lake.ensure("set", name) for name in ("episodes", "quality", "splits")),
        lake.ensure_gops("set"),
        lake.ensure_frames("set", FRAMES),
        *(lake.ensure_catalog(name) for name in ("uploads", "releases", "models", "lineage")),
    ]


def test_every_table_is_made_once_with_what_only_creation_can_give(lake: Lake) -> None:
    made = make_all(lake)
    for table in made:
        assert table.lance.has_stable_row_ids
        assert table.lance.data_storage_version == "2.2"
        assert table.metadata[FORMAT_VERSION_KEY] == str(FORMAT_VERSION)
        assert table.count_rows() == 0
    assert [t.version for t in make_all(lake)] == [t.version for t in made]


def test_gops_have_a_blob_column_and_fragments_that_compaction_leaves_alone(lake: Lake) -> None:
    gops = lake.ensure_gops("set")
    assert gops.schema.names[-1] == BLOB_COLUMN
    assert GOPS_CONFIG.items() <= gops.lance.config().items()


def test_configuration_that_a_dead_creator_left_out_is_made_up_for(local_lake: Lake) -> None:
    create_table(local_lake.table_uri("set", "gops"), SCHEMA)
    gops = local_lake.ensure_gops("set")
    assert GOPS_CONFIG.items() <= gops.lance.config().items()
    assert local_lake.ensure_gops("set").version == gops.version


def test_creators_at_once_end_with_one_table(lake: Lake) -> None:
    with ThreadPoolExecutor(6) as pool:
        made = list(pool.map(lambda _: lake.ensure_gops("set"), range(6)))
    assert {table.uri for table in made} == {lake.table_uri("set", "gops")}
    gops = lake.open("set", "gops")
    assert gops.count_rows() == 0
    assert GOPS_CONFIG.items() <= gops.lance.config().items()


def test_a_lake_knows_the_datasets_that_something_was_ingested_to(lake: Lake) -> None:
    assert lake.datasets() == []
    for dataset in ("b", "a"):
        register(lake, dataset)
    assert lake.datasets() == ["a", "b"]


def test_a_dataset_that_is_not_there_is_told_with_those_that_are(local_lake: Lake) -> None:
    register(local_lake, "piper")
    with pytest.raises(NotFoundError, match=r"'pipr' has no table 'frames'.*\['piper'\]") as caught:
        local_lake.open("pipr", "frames")
    assert caught.value.kind is ErrorKind.DATASET_NOT_FOUND


def test_a_table_that_a_dataset_lacks_is_told_apart_from_a_dataset_that_is_not_there(
    local_lake: Lake,
) -> None:
    register(local_lake, "piper")
    with pytest.raises(
        NotFoundError, match=r"'piper' has no table 'splits'.*Materialize"
    ) as caught:
        local_lake.open("piper", "splits")
    assert caught.value.kind is ErrorKind.TABLE_NOT_FOUND


def test_looking_for_a_table_finds_it_or_none(lake: Lake) -> None:
    assert lake.find("set", "splits") is None
    assert lake.find_catalog("releases") is None
    lake.ensure("set", "splits")
    assert lake.find("set", "splits") is not None


def test_a_version_that_is_not_there_is_told_where_no_table_would_be_none(local_lake: Lake) -> None:
    local_lake.ensure("set", "splits")
    with pytest.raises(NotFoundError, match="has no version 7") as caught:
        local_lake.find("set", "splits", 7)
    assert caught.value.kind is ErrorKind.VERSION_NOT_FOUND


@pytest.mark.parametrize("name", ["../other", "_catalog", "Set", "a/b", ""])
def test_a_name_that_is_no_folder_name_is_refused(local_lake: Lake, name: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        local_lake.ensure(name, "episodes")
    assert caught.value.kind is ErrorKind.INVALID_NAME


@pytest.mark.usefixtures("s3_environment")
def test_no_table_is_made_on_a_store_that_could_lose_commits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    empty_listing = (
        b"<?xml version='1.0'?><ListBucketResult><KeyCount>0</KeyCount>"
        b"<IsTruncated>false</IsTruncated></ListBucketResult>"
    )
    with answering(200, empty_listing) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        with pytest.raises(StorageError, match=r"If-None-Match") as caught:
            Lake("s3://bucket/lake").ensure("set", "episodes")
    assert caught.value.kind is ErrorKind.STORE_UNSAFE
