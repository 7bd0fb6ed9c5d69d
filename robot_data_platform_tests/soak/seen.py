"""What a lake shows: whole rows as they are stored, and pictures as they decode."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache

import av
import numpy as np

from robot_data_platform.core.recording import Int64Array
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.table import LakeTable
from robot_data_platform.testing.pictures import read_number
from robot_data_platform.testing.rawlog import RawlogEpisode
from robot_data_platform_tests.soak.content import HEIGHT_PX, WIDTH_PX, gripper, written
from robot_data_platform_tests.soak.model import DATASET, Edge, Ingested, Row

CAMERA = "observation_images_"


def rows_by(rows: Iterable[Row], *key: str) -> dict[tuple[object, ...], Row]:
    """Return rows by their key; a key that is there twice fails."""
    listed = list(rows)
    by_key = {tuple(row[column] for column in key): row for row in listed}
    counts = Counter(tuple(row[column] for column in key) for row in listed)
    assert len(by_key) == len(listed), f"doubled: {[k for k, n in counts.items() if n > 1]}"
    return by_key


def episodes_of(table: LakeTable) -> dict[str, Row]:
    """Return the rows of ``episodes`` by id."""
    rows: list[Row] = table.read().to_pylist()
    rows_by(rows, "episode_index")
    return {str(key[0]): row for key, row in rows_by(rows, "episode_id").items()}


def edges_of(lake: Lake) -> Counter[Edge]:
    """Return the edges of the dataset."""
    table = lake.find_catalog("lineage")
    columns: tuple[str, ...] = ("asset", "partition", "output_table", "output_version")
    columns += ("input_table", "input_version", "run_id")
    rows = [] if table is None else table.read(columns).to_pylist()
    return Counter(tuple(row[name] for name in columns) for row in rows)


class Pictures:
    """The GOPs of one version of ``gops``, each held against its hash, decoded once per content."""

    def __init__(self, table: LakeTable) -> None:
        read = table.read(with_row_id=True)
        blobs = table.read_blobs(read["_rowid"].to_numpy().astype(np.uint64)) if len(read) else []
        self.by_key = rows_by(read.drop_columns(["_rowid"]).to_pylist(), "ref_id", "gop_index")
        rows_by(self.by_key.values(), "gop_key")
        self._numbers = {}
        for key, row, blob in zip(self.by_key, self.by_key.values(), blobs, strict=True):
            assert hashlib.sha256(blob).hexdigest() == row["sha256"], f"damaged: {key}"
            self._numbers[key] = numbers_in(blob)
            assert len(self._numbers[key]) == row["num_frames"]

    def indices(self) -> set[object]:
        """Return the episode indices that have GOPs."""
        return {row["episode_index"] for row in self.by_key.values()}

    def numbers(self, ingested: Ingested) -> set[int]:
        """Return the positions of an ingestion's episodes that have GOPs."""
        mine = self.indices() & set(ingested.indices())
        return {ingested.number_of(index) for index in mine}

    def number(self, reference: tuple[object, object, object]) -> int | None:
        """Return the number in the picture that a row refers to; None where it refers to none."""
        ref_id, gop_index, frame = reference
        if ref_id is None:
            assert gop_index is None
            assert frame is None
            return None
        return self._numbers[ref_id, gop_index][int(str(frame))]


@lru_cache(maxsize=4096)
def numbers_in(blob: bytes) -> tuple[int, ...]:
    """Return the numbers in the pictures of a GOP, in the order they are shown."""
    decoder = av.CodecContext.create("h264", "r")
    packets = [*decoder.parse(blob), *decoder.parse(None)]
    frames = [f for packet in [*packets, None] for f in decoder.decode(packet)]
    pictures = (frame.to_ndarray(format="rgb24").astype(np.uint8) for frame in frames)
    return tuple(read_number(p[:HEIGHT_PX, :WIDTH_PX]) for p in pictures)


def assert_frames(
    rows: Sequence[Row], ingested: Ingested, pictures: Pictures, required: Collection[int]
) -> None:
    """Hold rows and pictures of an ingestion against what its upload holds.

    ``required`` are the positions of the episodes that have to be there.
    """
    by_number: dict[int, list[Row]] = {}
    for row in rows:
        by_number.setdefault(ingested.number_of(row["episode_index"]), []).append(row)
    assert by_number.keys() >= set(required), f"lost: {set(required) - by_number.keys()}"
    assert by_number.keys() <= set(range(ingested.content.num_good))
    for number, found in by_number.items():
        _assert_episode(found, written(ingested.content).episodes[number], ingested, pictures)


def _assert_episode(
    rows: list[Row], episode: RawlogEpisode, ingested: Ingested, pictures: Pictures
) -> None:
    rows.sort(key=lambda row: int(str(row["frame_index"])))
    expected: dict[str, list[object]] = {
        "frame_index": list(range(len(episode.timestamp_ns))),
        "timestamp_ns": episode.timestamp_ns.tolist(),
        "task": [episode.task] * len(rows),
        "observation_state": episode.state.tolist(),
        "action": episode.action.tolist(),
    }
    if ingested.content.has_gripper:
        held = gripper(episode, ingested.content.seed)
        expected["observation_gripper"] = held[:, None].tolist()
    elif "observation_gripper" in rows[0]:
        expected["observation_gripper"] = [None] * len(rows)
    for name, values in expected.items():
        np.testing.assert_equal([row[name] for row in rows], values, err_msg=name)
    for camera in _cameras(rows[0]):
        numbers = episode.picture_number.get(camera)
        assert _shown(rows, camera, pictures) == _listed(numbers, len(rows)), camera


def _cameras(row: Row) -> list[str]:
    suffix = "_ref_id"
    names = [name for name in row if name.startswith(CAMERA) and name.endswith(suffix)]
    return [name.removeprefix(CAMERA).removesuffix(suffix) for name in names]


def _listed(numbers: Int64Array | None, num_rows: int) -> list[int | None]:
    return [None] * num_rows if numbers is None else numbers.tolist()


def _shown(rows: Sequence[Row], camera: str, pictures: Pictures) -> list[int | None]:
    names = [f"{CAMERA}{camera}_{part}" for part in ("ref_id", "gop_index", "frame_index_in_gop")]
    return [pictures.number((row[names[0]], row[names[1]], row[names[2]])) for row in rows]


def assert_episode_row(row: Row, ingested: Ingested, number: int, run_id: str) -> None:
    """Hold a row of ``episodes`` that was just published against what its upload holds."""
    episode = written(ingested.content).episodes[number]
    is_good = number < ingested.content.num_good
    folder = f"episodes/{episode.source_key}/"
    files = {f.path: f.sha256 for f in ingested.landed.manifest.files if f.path.startswith(folder)}
    cameras = sorted(episode.picture_number) if is_good else []
    expected: Mapping[str, object] = {
        "episode_index": ingested.first_index + number,
        "source_key": episode.source_key,
        "upload": ingested.upload,
        "ingestion_id": ingested.ingestion_id,
        "num_rows": len(episode.timestamp_ns) if is_good else 0,
        "status": _status(ingested, number),
        "run_id": run_id,
        "q_version": None,
        "s_version": None,
    }
    assert {name: row[name] for name in expected} == expected
    paths, digests = row["source_paths"], row["source_sha256"]
    assert isinstance(paths, list)
    assert isinstance(digests, list)
    assert dict(zip(paths, digests, strict=True)) == files, json.dumps(sorted(files))
    facts = row["cameras"]
    assert isinstance(facts, list)
    assert [fact["name"] for fact in facts] == cameras


def _status(ingested: Ingested, number: int) -> str:
    if number >= ingested.content.num_good:
        return "quarantined"
    return "ok"


def lineage_sources(rows: Iterable[Row]) -> list[tuple[str, str]]:
    """Return path and hash of every file that some episodes were read from, sorted."""
    files: set[tuple[str, str]] = set()
    for row in rows:
        paths, digests = row["source_paths"], row["source_sha256"]
        assert isinstance(paths, list)
        assert isinstance(digests, list)
        files.update(zip(paths, digests, strict=True))
    return sorted(files)


def dataset_table(lake: Lake, name: str, version: int | None = None) -> LakeTable | None:
    """Return a table of the dataset, or None where there is none yet."""
    return lake.find(DATASET, name, version)
