"""Recordings that nobody here made, through `rdp`, held against the files read independently."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import numpy as np
import pyarrow.parquet as pq
import pytest

from robot_data_platform.reader import RobotLanceDataset
from robot_data_platform.storage.lake import Lake
from robot_data_platform_tests.end_to_end.conftest import run_rdp

MIN_PSNR_DB = 38.0


@dataclass(frozen=True)
class Recorded:
    """What the folder holds, as its files say."""

    folder: str
    rows: dict[int, int]
    """By the source's episode number."""
    table: str
    video: str
    camera: str
    profile: str
    fps: int


SETS = {
    "piper": Recorded(
        folder="lerobot_v30_piper_2cam",
        rows={0: 300},
        table="data/chunk-000/file-000.parquet",
        video="videos/observation.images.wrist/chunk-000/file-000.mp4",
        camera="wrist",
        profile="copy",
        fps=15,
    ),
    "g1": Recorded(
        folder="lerobot_v21_g1_inspire",
        rows={29: 221, 30: 277, 31: 267},
        table="data/chunk-000/episode_{index:06d}.parquet",
        video="videos/chunk-000/observation.images.cam_high/episode_{index:06d}.mp4",
        camera="cam_high",
        profile="copy",
        fps=30,
    ),
    "gr1": Recorded(
        folder="lerobot_v20_gr1_sim",
        rows={0: 416, 1: 470, 2: 470, 3: 412, 4: 328},
        table="data/chunk-000/episode_{index:06d}.parquet",
        video="videos/chunk-000/observation.images.ego_view/episode_{index:06d}.mp4",
        camera="ego_view",
        profile="anchored",
        fps=20,
    ),
}


@dataclass(frozen=True)
class Ingested:
    """A dataset after `rdp ingest` and `rdp release create`."""

    name: str
    recorded: Recorded
    source: Path
    root: Path
    said: dict[str, Any]
    episodes: list[dict[str, Any]]

    def view(self, index: int) -> RobotLanceDataset:
        """Return one episode of the release, by the source's number."""
        chosen = next(e for e in self.episodes if e["source_episode_index"] == index)
        return RobotLanceDataset(
            self.root / ".rdp" / "lake", self.name, release="v1", episodes=[chosen["episode_id"]]
        )


@pytest.fixture(scope="module", params=list(SETS))
def ingested(
    request: pytest.FixtureRequest, shared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Ingested:
    name = request.param
    source = shared_data / SETS[name].folder
    root = tmp_path_factory.mktemp(name)
    done = run_rdp(root, "ingest", str(source), "--dataset", name, "--json")
    assert done.returncode == 0, done.stderr
    released = run_rdp(root, "release", "create", name, "v1")
    assert released.returncode == 0, released.stderr
    listed = run_rdp(root, "episodes", name, "--json")
    return Ingested(
        name, SETS[name], source, root, json.loads(done.stdout), json.loads(listed.stdout)
    )


def decoded(path: Path) -> list[np.ndarray]:
    with av.open(str(path)) as container:
        return [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]


def psnr_db(first: np.ndarray, second: np.ndarray) -> float:
    error = np.mean((first.astype(np.float64) - second.astype(np.float64)) ** 2)
    return math.inf if error == 0 else 10 * math.log10(255**2 / error)


def test_every_episode_is_converted(ingested: Ingested) -> None:
    assert ingested.said["episodes"] == {
        "converted": len(ingested.recorded.rows),
        "flagged": 0,
        "quarantined": 0,
    }


def test_each_episode_has_the_rows_of_its_table(ingested: Ingested) -> None:
    got = {e["source_episode_index"]: e["rows"] for e in ingested.episodes}
    assert got == ingested.recorded.rows


def test_states_equal_the_parquet_file(ingested: Ingested) -> None:
    for index, num_rows in ingested.recorded.rows.items():
        table = pq.read_table(ingested.source / ingested.recorded.table.format(index=index))
        expected = np.array(table["observation.state"].to_pylist(), dtype=np.float32)
        view = RobotLanceDataset(
            ingested.root / ".rdp" / "lake",
            ingested.name,
            release="v1",
            episodes=[_id(ingested, index)],
            cameras=[],
        )
        got = np.stack([item["observation.state"] for item in view.__getitems__(range(num_rows))])
        np.testing.assert_array_equal(got, expected)


def _id(ingested: Ingested, index: int) -> str:
    facts = next(e for e in ingested.episodes if e["source_episode_index"] == index)
    return str(facts["episode_id"])


def test_pictures_equal_the_source_decoded_independently(ingested: Ingested) -> None:
    index = max(ingested.recorded.rows)
    frames = decoded(ingested.source / ingested.recorded.video.format(index=index))
    rows = list(range(0, len(frames), 7))
    key = f"observation.images.{ingested.recorded.camera}"
    items = ingested.view(index).__getitems__(rows)
    worst = min(psnr_db(item[key], frames[row]) for item, row in zip(items, rows, strict=True))
    expected = math.inf if ingested.recorded.profile == "copy" else MIN_PSNR_DB
    assert worst >= expected


def test_copied_packets_are_those_of_the_source_byte_for_byte(ingested: Ingested) -> None:
    if ingested.recorded.profile != "copy":
        pytest.skip("its long GOPs are encoded anew, by design")
    index = max(ingested.recorded.rows)
    with av.open(str(ingested.source / ingested.recorded.video.format(index=index))) as container:
        packets = [bytes(p) for p in container.demux(video=0) if p.size]
    gops = Lake(ingested.root / ".rdp" / "lake").open(ingested.name, "gops")
    chosen = next(e for e in ingested.episodes if e["source_episode_index"] == index)
    where = f"episode_index = {chosen['episode_index']} AND camera = '{ingested.recorded.camera}'"
    rows = gops.read(["gop_index"], where, with_row_id=True).sort_by("gop_index")
    blobs = gops.read_blobs(rows["_rowid"].to_numpy().astype(np.uint64))
    assert b"".join(blobs) == b"".join(packets)


def test_the_time_of_a_row_is_its_number_over_the_rate(ingested: Ingested) -> None:
    index = min(ingested.recorded.rows)
    items = ingested.view(index).__getitems__([0, 1, 100])
    expected = [0.0, 1 / ingested.recorded.fps, 100 / ingested.recorded.fps]
    np.testing.assert_allclose([item["timestamp"] for item in items], expected, atol=2e-5)
