"""The stores that are measured, each made from the same source pictures by its own writer."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from robot_data_platform.video.settings import GopSettings
from robot_data_platform_tests.benchmarks import lakes
from robot_data_platform_tests.benchmarks.figures import rounded
from robot_data_platform_tests.benchmarks.matching import matched_crf
from robot_data_platform_tests.benchmarks.scale import CAMERAS, Scale
from robot_data_platform_tests.benchmarks.source_files import land_source, source_index
from robot_data_platform_tests.benchmarks.source_index import INDEX_FILE, SourceIndex, psnr_db
from robot_data_platform_tests.benchmarks.worker import Worker

CODECS = {"av1": ("libsvtav1", 30), "h264": ("h264", 20)}
"""LeRobot's codecs: its default with its default CRF, and H.264 at about the same PSNR."""

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """Where and how a run works."""

    scale: Scale
    folder: Path
    peers_python: Path | None
    """None = without peers."""
    say: Say

    def own_worker(self, environment: Mapping[str, str] | None = None) -> Worker:
        """Start a process of ours."""
        log = self.folder / "logs" / "own.log"
        return Worker(sys.executable, "own_worker", log, environment)

    def peer_worker(self) -> Worker:
        """Start a process of the peers."""
        assert self.peers_python is not None
        return Worker(self.peers_python, "peer_worker", self.folder / "logs" / "peer.log")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """What is there to read, and what each store holds."""

    source: SourceIndex
    lake: Path
    facts: dict[str, dict[str, object]]
    """Settings, bytes a picture and PSNR of each store, by its name."""

    def peer_root(self, peer: str, codec: str) -> Path:
        """Return the folder of a peer's store."""
        return self.lake.parent / f"{peer}_{codec}"


def make_stores(bench: Bench) -> Stores:
    """Make every store that is not there from an earlier run; ours is always made anew."""
    folder = bench.folder / "stores"
    source = _source(bench, folder)
    facts = {}
    if bench.peers_python is not None:
        for codec in CODECS:
            bench.say(f"writing LeRobot's store, {codec}")
            facts[f"lerobot_{codec}"] = _peer_store(bench, folder, source, codec)
    lake = folder / "lake"
    shutil.rmtree(lake, ignore_errors=True)
    settings = _settings(bench, source, facts)
    bench.say(f"ingesting our lake, CRF {settings.crf}")
    lakes.ingest(folder, lake, settings)
    facts["ours"] = {
        "settings": settings.as_dict(),
        **_measured(lakes.stored_bytes(lake), lakes.fidelity(lake, source), bench.scale),
    }
    return Stores(source=source, lake=lake, facts=facts)


def _source(bench: Bench, folder: Path) -> SourceIndex:
    if (folder / INDEX_FILE).is_file():
        return source_index(folder)
    shutil.rmtree(folder, ignore_errors=True)
    bench.say("writing the source pictures")
    return land_source(folder, bench.scale)


def _settings(
    bench: Bench, source: SourceIndex, facts: Mapping[str, Mapping[str, object]]
) -> GopSettings:
    """Return the default profile, at the quality of LeRobot's default store where there is one."""
    default = GopSettings(profile="anchored")
    if "lerobot_av1" not in facts:
        return default
    bench.say("searching the CRF of equal quality")
    goal = facts["lerobot_av1"]["psnr_db"]
    assert isinstance(goal, dict)
    return matched_crf(source, default, float(goal["mean"]))


def _peer_store(bench: Bench, folder: Path, source: SourceIndex, codec: str) -> dict[str, object]:
    """Write LeRobot's store and lerobot-lancedb's copy of it; return what the store holds."""
    root, converted = folder / f"lerobot_{codec}", folder / f"lerobot_lancedb_{codec}"
    known = folder / f"lerobot_{codec}.json"
    if known.is_file():
        facts: dict[str, object] = json.loads(known.read_text())
        return facts
    for path in (root, converted):
        shutil.rmtree(path, ignore_errors=True)
    name, crf = CODECS[codec]
    place = {"folder": str(source.folder), "index_file": str(folder / INDEX_FILE)}
    with bench.peer_worker() as peer:
        peer.ask("write", **place, out=str(root), codec=name, crf=crf)
        peer.ask("convert", root=str(root), out=str(converted))
        peer.ask("open", peer="lerobot", root=str(root), backend="torchcodec")
        errors = peer.ask("fidelity", **place)["errors"]
    num_bytes = sum(path.stat().st_size for path in root.rglob("*.mp4"))
    facts = {"settings": {"codec": name, "gop_size": 2, "crf": crf}}
    facts |= _measured(num_bytes, errors, bench.scale)
    known.write_text(json.dumps(facts))
    return facts


def _measured(num_bytes: int, errors: Mapping[str, list[float]], scale: Scale) -> dict[str, object]:
    psnr = {camera: psnr_db(errors[camera]) for camera in CAMERAS}
    mean = sum(psnr.values()) / len(psnr)
    return {
        "bytes": num_bytes,
        "bytes_per_picture": round(num_bytes / scale.num_rows / len(CAMERAS)),
        "psnr_db": {name: rounded(value) for name, value in {**psnr, "mean": mean}.items()},
    }
