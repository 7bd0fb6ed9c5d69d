"""How much a batch reads and decodes: each thing once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pytest

from robot_data_platform.core.gop import PacketIndex, StreamFormat
from robot_data_platform.reader import RobotLanceDataset
from robot_data_platform.reader.episodes import choose_episodes
from robot_data_platform.reader.gop_index import GopIndex
from robot_data_platform.reader.place import Place
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.snapshot import open_snapshot
from robot_data_platform.storage.table import LakeTable
from robot_data_platform.testing.lake_model import LakeModel
from robot_data_platform.video.decode import GopDecoder

if TYPE_CHECKING:
    import av
    import pyarrow as pa


class Ledger:
    """Writes down what is asked of storage and of the decoders, and passes it on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.takes: list[tuple[str, int]] = []
        self.blobs: list[list[int]] = []
        self.decodes: list[tuple[bytes, list[int]]] = []
        take, read_blobs = LakeTable.take, LakeTable.read_blobs
        each = GopDecoder.each

        def noted_take(
            table: LakeTable, row_ids: npt.NDArray[np.uint64], columns: Sequence[str]
        ) -> pa.Table:
            self.takes.append((table.uri.rsplit("/", 1)[1], len(row_ids)))
            return take(table, row_ids, columns)

        def noted_read(table: LakeTable, row_ids: npt.NDArray[np.uint64]) -> list[bytes]:
            self.blobs.append(row_ids.tolist())
            return read_blobs(table, row_ids)

        def noted_decode(
            decoder: GopDecoder,
            packets: PacketIndex,
            data: bytes,
            frames: npt.NDArray[np.int64],
            fmt: StreamFormat,
        ) -> Iterator[tuple[int, av.VideoFrame]]:
            self.decodes.append((data, frames.tolist()))
            return each(decoder, packets, data, frames, fmt)

        monkeypatch.setattr(LakeTable, "take", noted_take)
        monkeypatch.setattr(LakeTable, "read_blobs", noted_read)
        monkeypatch.setattr(GopDecoder, "each", noted_decode)


@pytest.fixture
def ledger(monkeypatch: pytest.MonkeyPatch) -> Ledger:
    return Ledger(monkeypatch)


def with_windows(model: LakeModel, ram_budget_bytes: int = 1 << 30) -> RobotLanceDataset:
    keys = ["action", *(f"observation.images.{camera}" for camera in model.shape.cameras)]
    window = [step / model.shape.control_hz for step in range(-4, 5)]
    return RobotLanceDataset(
        model.root,
        model.dataset,
        delta_timestamps=dict.fromkeys(keys, window),
        ram_budget_bytes=ram_budget_bytes,
    )


def test_a_batch_takes_its_rows_at_once_and_each_row_once(built: LakeModel, ledger: Ledger) -> None:
    with_windows(built, ram_budget_bytes=0).__getitems__([20, 22, 20, 24])
    assert [take for take in ledger.takes if take[0] == "frames.lance"] == [("frames.lance", 13)]


def test_rows_held_in_memory_are_not_taken(built: LakeModel, ledger: Ledger) -> None:
    with_windows(built).__getitems__([20, 22, 20, 24])
    assert "frames.lance" not in {table for table, _ in ledger.takes}


def test_a_batch_reads_the_blobs_of_all_cameras_at_once_and_each_blob_once(
    built: LakeModel, ledger: Ledger
) -> None:
    with_windows(built).__getitems__([20, 22, 20, 100])
    (row_ids,) = ledger.blobs
    assert len(set(row_ids)) == len(row_ids)


def test_a_batch_decodes_each_gop_once_and_only_the_frames_it_needs(
    built: LakeModel, ledger: Ledger
) -> None:
    with_windows(built).__getitems__([20, 22, 20, 24])
    # Rows 16 to 28 show frames 8 to 14: the first seven of each camera's second GOP.
    assert [sorted(set(frames)) for _, frames in ledger.decodes] == [[0, 1, 2, 3, 4, 5, 6]] * 2
    assert len({data for data, _ in ledger.decodes}) == 2


def test_packet_indices_are_read_once_for_an_episode(built: LakeModel, ledger: Ledger) -> None:
    rows = RobotLanceDataset(built.root, built.dataset)
    rows.__getitems__([5, 6])
    first = [take for take in ledger.takes if take[0] == "gops.lance"]
    rows.__getitems__([20, 30])
    assert len(first) == 2
    assert [take for take in ledger.takes if take[0] == "gops.lance"] == first


def test_a_full_cache_forgets_the_oldest_stream_and_answers_the_same(
    built: LakeModel, ledger: Ledger
) -> None:
    snapshot = open_snapshot(Lake(built.root), built.dataset)
    place = Place(snapshot)
    episodes = choose_episodes(snapshot, split=None, episodes=None, place=place)
    roomy = GopIndex(snapshot.gops, episodes, place)
    tight = GopIndex(snapshot.gops, episodes, place, cache_bytes=1)
    keys = np.array([0, 1 << 20, (1 << 28) + 1], dtype=np.int64)
    for _ in range(2):
        before = len(ledger.takes)
        expected = roomy.entries(keys)
        from_roomy = len(ledger.takes) - before
        found = tight.entries(keys)
        from_tight = len(ledger.takes) - before - from_roomy
        assert [entry.sha256 for entry in found] == [entry.sha256 for entry in expected]
    assert (from_roomy, from_tight) == (0, 2)
