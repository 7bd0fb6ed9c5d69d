"""Tables of others are read as Lance itself reads them, and their damage stays with them."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest

from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.storage.foreign_tables import ForeignTable, open_foreign_table

PAYLOADS = (b"a" * 100, b"b" * 200_000, b"c" * 5_000_000)
"""Sizes at which Lance keeps a blob in the data file, in one that several share, in its own."""


def write(folder: Path, **settings: Any) -> Path:  # noqa: ANN401
    table = pa.table({"episode_index": [0, 1, 1, 2], "value": [0.5, 1.5, 2.5, 3.5]})
    lance.write_dataset(table, str(folder), data_storage_version="2.2", **settings)
    return folder


def write_blobs(
    folder: Path,
    payloads: Sequence[bytes | str] = PAYLOADS,
    **settings: Any,  # noqa: ANN401
) -> Path:
    blobs = lance.blob_array(list(payloads))
    table = pa.table({"id": range(len(blobs))}).append_column(lance.blob_field("video"), blobs)
    lance.write_dataset(table, str(folder), data_storage_version="2.2", **settings)
    return folder


def opened(folder: Path) -> ForeignTable:
    return open_foreign_table(folder, f"Table {folder.name!r}")


def all_rows(table: ForeignTable, step: int = 100) -> pa.Table:
    columns = [name for name in table.schema.names if name != "video"]
    return pa.Table.from_batches(
        batch
        for fragment in table.fragments
        for batch in table.rows(fragment.number, columns, 0, fragment.num_rows, step)
    )


def test_rows_are_those_that_lance_reads(tmp_path: Path) -> None:
    folder = write(tmp_path / "t.lance", max_rows_per_file=3)
    rows = all_rows(opened(folder))
    assert rows.drop_columns(["_rowid"]) == lance.dataset(str(folder)).to_table()


def test_a_stretch_of_rows_is_read_step_by_step(tmp_path: Path) -> None:
    (fragment,) = opened(write(tmp_path / "t.lance")).fragments
    batches = list(opened(tmp_path / "t.lance").rows(fragment.number, ["value"], 1, 4, 2))
    assert [batch["value"].to_pylist() for batch in batches] == [[1.5, 2.5], [3.5]]


def test_a_stretch_counts_no_row_that_was_deleted(tmp_path: Path) -> None:
    lance.dataset(str(write(tmp_path / "t.lance"))).delete("value = 1.5")
    table = opened(tmp_path / "t.lance")
    (fragment,) = table.fragments
    assert fragment.num_rows == 3
    (batch,) = table.rows(fragment.number, ["value"], 1, 3, 10)
    assert batch["value"].to_pylist() == [2.5, 3.5]


def test_rows_that_were_deleted_and_changed_are_read_as_they_are_now(tmp_path: Path) -> None:
    folder = write(tmp_path / "t.lance")
    table = lance.dataset(str(folder))
    table.delete("value = 1.5")
    table.update({"value": "9.5"}, where="episode_index = 0")
    rows = all_rows(opened(folder))
    assert dict(zip(rows["value"].to_pylist(), rows["episode_index"].to_pylist(), strict=True)) == {
        2.5: 1,
        3.5: 2,
        9.5: 0,
    }


def test_the_files_of_a_fragment_are_named(tmp_path: Path) -> None:
    folder = write(tmp_path / "t.lance", max_rows_per_file=2)
    named = {file for fragment in opened(folder).fragments for file in fragment.files}
    assert named == {f"data/{path.name}" for path in (folder / "data").iterdir()}


@pytest.mark.parametrize("stable", [False, True], ids=["row addresses", "stable row ids"])
def test_blobs_of_every_size_are_copied_byte_for_byte(tmp_path: Path, stable: bool) -> None:
    table = opened(write_blobs(tmp_path / "t.lance", enable_stable_row_ids=stable))
    for row_id, payload in zip(all_rows(table)["_rowid"].to_pylist(), PAYLOADS, strict=True):
        table.copy_blob("video", row_id, tmp_path / "copy")
        assert (tmp_path / "copy").read_bytes() == payload


def test_a_blob_that_lies_elsewhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"not the table's")
    folder = write_blobs(
        tmp_path / "t.lance",
        [(tmp_path / "secret").as_uri()],
        allow_external_blob_outside_bases=True,
    )
    with pytest.raises(DataFaultError, match="'video' leads out of the table"):
        opened(folder).copy_blob("video", 0, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_a_table_whose_files_lie_elsewhere_is_refused(tmp_path: Path) -> None:
    table = lance.dataset(str(write(tmp_path / "t.lance")))
    table.shallow_clone(str(tmp_path / "clone.lance"), reference=1)
    with pytest.raises(DataFaultError, match=r"'clone\.lance' leads out of its folder") as caught:
        opened(tmp_path / "clone.lance")
    assert caught.value.kind is ErrorKind.UNSAFE_PATH


def test_a_folder_without_a_table_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(DataFaultError, match=r"'t\.lance' can't be read") as caught:
        opened(tmp_path / "t.lance")
    assert caught.value.kind is ErrorKind.UNREADABLE_FILE


def test_a_file_that_asks_for_four_gigabytes_is_refused_and_other_tables_are_read(
    tmp_path: Path,
) -> None:
    folder = write(tmp_path / "t.lance")
    (path,) = (folder / "data").iterdir()
    content = bytearray(path.read_bytes())
    content[-16:-12] = struct.pack("<I", 0x0FFFFFFF)  # number of the file's global buffers
    path.write_bytes(content)
    damaged = opened(folder)
    with pytest.raises(DataFaultError, match=r"'t\.lance' can't be read") as caught:
        all_rows(damaged)
    assert caught.value.kind is ErrorKind.UNREADABLE_FILE
    assert all_rows(opened(write(tmp_path / "whole.lance"))).num_rows == 4


def test_a_manifest_that_makes_lance_panic_is_refused(tmp_path: Path) -> None:
    folder = write(tmp_path / "t.lance")
    (path,) = (folder / "_versions").glob("*.manifest")
    content = bytearray(path.read_bytes())
    (position,) = struct.unpack("<Q", content[-16:-8])
    content[position : position + 4] = struct.pack("<I", 0xFFFFFFFF)  # the manifest's length
    path.write_bytes(content)
    with pytest.raises(DataFaultError, match="the end of Lance's reader"):
        opened(folder)
