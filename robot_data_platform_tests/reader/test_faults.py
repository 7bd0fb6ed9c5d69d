from __future__ import annotations

import hashlib
from collections.abc import Sequence

import lance
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from robot_data_platform.errors import DataFaultError, ErrorKind, StorageError
from robot_data_platform.reader import RobotLanceDataset
from robot_data_platform.storage.commit import commit_fragments, write_rows
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.table import BLOB_COLUMN, LakeTable, blob_array
from robot_data_platform.testing.lake import release_lake
from robot_data_platform.testing.lake_model import LakeModel


def frames_of(model: LakeModel) -> lance.LanceDataset:
    return lance.dataset(f"{model.root}/{model.dataset}/frames.lance")


def replace_gop(model: LakeModel, where: str, *, is_hashed: bool, change: slice) -> None:
    """Overwrite some bytes of a stored GOP; ``is_hashed`` = its sha256 follows the change."""
    table = Lake(model.root).open(model.dataset, "gops")
    rows = table.read(where=where, with_row_id=True)
    (data,) = table.read_blobs(rows["_rowid"].to_numpy())
    damaged = bytearray(data)
    damaged[change] = b"\xff" * len(damaged[change])
    (row,) = rows.drop_columns("_rowid").to_pylist()
    if is_hashed:
        row["sha256"] = hashlib.sha256(damaged).hexdigest()
    plain = pa.schema([field for field in table.schema if field.name != BLOB_COLUMN])
    new = pa.Table.from_pylist([row], plain)
    new = new.append_column(table.schema.field(BLOB_COLUMN), blob_array([bytes(damaged)]))
    batches = new.select(table.schema.names).cast(table.schema).to_batches()
    fragments = write_rows(table.uri, table.schema, batches)
    commit_fragments(table.uri, fragments, properties={}, replace=where)


SECOND_GOP = "episode_index = 1 AND gop_index = 1"
FIRST_BAD, FIRST_GOOD = 20 + 8, 20 + 16
"""Positions: the second episode's rows 8 to 15 show frames 4 to 7, its second GOP."""


@pytest.mark.parametrize("is_hashed", [False, True], ids=["other hash", "broken when written"])
def test_a_damaged_gop_is_named_and_never_shown(own: LakeModel, is_hashed: bool) -> None:
    release_lake(own.root, own.dataset, "r0", {})
    replace_gop(own, SECOND_GOP, is_hashed=is_hashed, change=slice(0, 200))
    episode = own.episodes[1].episode_id
    release_lake(own.root, own.dataset, "r1", {episode: "train"})
    rows = RobotLanceDataset(own.root, own.dataset, release="r1")
    with pytest.raises(DataFaultError) as caught:
        rows[8]
    assert caught.value.kind is ErrorKind.GOP_DAMAGED
    named = f"GOP 1 of camera 'env' of episode '{episode}' (episode_index 1) of dataset 'robot' "
    assert f"{named}release 'r1'" in str(caught.value)


def test_a_flipped_bit_that_would_still_decode_is_found(own: LakeModel) -> None:
    replace_gop(own, SECOND_GOP, is_hashed=False, change=slice(-1, None))
    with pytest.raises(DataFaultError, match="sha256") as caught:
        RobotLanceDataset(own.root, own.dataset)[FIRST_BAD]
    assert caught.value.kind is ErrorKind.GOP_DAMAGED


def test_rows_of_other_gops_are_read_after_a_damaged_one(own: LakeModel) -> None:
    before = RobotLanceDataset(own.root, own.dataset)[FIRST_GOOD]["observation.images.env"]
    replace_gop(own, SECOND_GOP, is_hashed=True, change=slice(0, 200))
    rows = RobotLanceDataset(own.root, own.dataset)
    for _ in range(3):
        with pytest.raises(DataFaultError):
            rows.__getitems__([FIRST_BAD, FIRST_GOOD])
        np.testing.assert_array_equal(rows[FIRST_GOOD]["observation.images.env"], before)


def test_a_missing_gop_is_named(own: LakeModel) -> None:
    lance.dataset(f"{own.root}/robot/gops.lance").delete(SECOND_GOP)
    rows = RobotLanceDataset(own.root, own.dataset)
    episode = own.episodes[1].episode_id
    named = rf"GOP 1 of camera 'env' of episode '{episode}' .*dataset 'robot' version 2"
    with pytest.raises(DataFaultError, match=named) as caught:
        rows[FIRST_BAD]
    assert caught.value.kind is ErrorKind.GOP_MISSING
    assert rows[FIRST_GOOD]["index"] == FIRST_GOOD


def test_a_row_that_refers_past_the_end_of_its_gop_is_refused(own: LakeModel) -> None:
    column = "observation_images_env_frame_index_in_gop"
    frames_of(own).update({column: "4"}, where="episode_index = 0 AND frame_index = 3")
    with pytest.raises(DataFaultError, match=r"GOP 0 .*frame 4, expected 0\.\.3") as caught:
        RobotLanceDataset(own.root, own.dataset)[3]
    assert caught.value.kind is ErrorKind.ROW_MISMATCH


def test_pictures_of_another_size_than_episodes_says_are_refused(own: LakeModel) -> None:
    table = Lake(own.root).open(own.dataset, "episodes")
    rows = table.read().to_pylist()
    for row in rows:
        row["cameras"][0]["width_px"] += 2
    batches = pa.Table.from_pylist(rows, table.schema).to_batches()
    fragments = write_rows(table.uri, table.schema, batches)
    commit_fragments(table.uri, fragments, properties={}, replace="true")
    with pytest.raises(DataFaultError, match=r"48x64, expected height x width 48x66") as caught:
        RobotLanceDataset(own.root, own.dataset)[0]
    assert caught.value.kind is ErrorKind.ROW_MISMATCH


@pytest.mark.parametrize("ram_budget_bytes", [0, 1 << 30])
def test_a_row_that_refers_to_another_episode_is_refused_and_no_other_row(
    own: LakeModel, ram_budget_bytes: int
) -> None:
    reference = {"observation_images_env_ref_id": str(1 << 8)}
    frames_of(own).update(reference, where="episode_index = 0 AND frame_index = 3")
    rows = RobotLanceDataset(own.root, own.dataset, ram_budget_bytes=ram_budget_bytes)
    with pytest.raises(DataFaultError, match=r"Row 3 of episode .*episode_index 1") as caught:
        rows[3]
    assert caught.value.kind is ErrorKind.ROW_MISMATCH
    assert rows[4]["index"] == 4


def test_a_row_that_is_lost_or_doubled_is_found_when_the_dataset_is_opened(own: LakeModel) -> None:
    frames = frames_of(own)
    lance.write_dataset(frames.to_table(filter="frame_index = 7"), frames.uri, mode="append")
    with pytest.raises(DataFaultError, match=r"got 21 rows.*expected 20") as doubled:
        RobotLanceDataset(own.root, own.dataset)
    frames_of(own).delete("frame_index = 7")
    with pytest.raises(DataFaultError, match=r"got 19 rows.*expected 20") as lost:
        RobotLanceDataset(own.root, own.dataset)
    assert doubled.value.kind is lost.value.kind is ErrorKind.ROW_MISMATCH


def test_a_dataset_that_lost_all_of_its_rows_is_refused(own: LakeModel) -> None:
    frames_of(own).delete("true")
    with pytest.raises(DataFaultError, match=r"got 0 rows.*expected 20") as caught:
        RobotLanceDataset(own.root, own.dataset)
    assert caught.value.kind is ErrorKind.ROW_MISMATCH


def test_rows_that_count_right_but_number_wrong_are_found(own: LakeModel) -> None:
    frames_of(own).update({"frame_index": "6"}, where="episode_index = 1 AND frame_index = 7")
    episode = own.episodes[1].episode_id
    with pytest.raises(DataFaultError, match=f"Episode '{episode}'") as caught:
        RobotLanceDataset(own.root, own.dataset)
    assert caught.value.kind is ErrorKind.ROW_MISMATCH


@pytest.mark.parametrize("fault", ["other rows", "fewer rows"])
def test_a_store_that_returns_other_rows_than_asked_for_is_caught(
    own: LakeModel, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    take = LakeTable.take

    def astray(
        table: LakeTable, row_ids: npt.NDArray[np.uint64], columns: Sequence[str]
    ) -> pa.Table:
        return take(table, row_ids + 1 if fault == "other rows" else row_ids[1:], columns)

    rows = RobotLanceDataset(own.root, own.dataset, ram_budget_bytes=0)
    monkeypatch.setattr(LakeTable, "take", astray)
    with pytest.raises(DataFaultError, match=r"Row 2 of episode.*'robot'") as caught:
        rows.__getitems__([2, 3])
    assert caught.value.kind is ErrorKind.ROW_MISMATCH


def test_a_gops_table_that_returns_other_rows_is_caught(
    own: LakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    take = LakeTable.take

    def astray(
        table: LakeTable, row_ids: npt.NDArray[np.uint64], columns: Sequence[str]
    ) -> pa.Table:
        return take(table, row_ids[::-1] if "gop_key" in columns else row_ids, columns)

    rows = RobotLanceDataset(own.root, own.dataset)
    monkeypatch.setattr(LakeTable, "take", astray)
    with pytest.raises(DataFaultError, match="Table gops of dataset 'robot'") as caught:
        rows[0]
    assert caught.value.kind is ErrorKind.ROW_MISMATCH


@pytest.mark.parametrize("name", ["episodes", "frames", "gops"])
def test_a_table_of_a_newer_format_is_refused(own: LakeModel, name: str) -> None:
    table = lance.dataset(f"{own.root}/robot/{name}.lance")
    table.update_schema_metadata({"rdp.format_version": "99"})
    with pytest.raises(StorageError, match="99") as caught:
        RobotLanceDataset(own.root, own.dataset)
    assert caught.value.kind is ErrorKind.NEWER_FORMAT_VERSION
