"""What is measured on a lake: each entry prepares, and returns what the clock is for.

As a program, with the name of a measure and a place as JSON, it measures once and prints JSON, so
that each figure is of a process that did nothing else.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.compute.listing import list_episodes
from robot_data_platform.compute.upkeep_policy import UpkeepPolicy
from robot_data_platform.core.measurement_schema import MEASUREMENTS
from robot_data_platform.core.run import RunInfo
from robot_data_platform.curation.release import create_release
from robot_data_platform.curation.spec import default_spec
from robot_data_platform.curation.splits import curate
from robot_data_platform.lineage.impact import impact_of
from robot_data_platform.lineage.query import lineage_of
from robot_data_platform.reader import RobotLanceDataset
from robot_data_platform.storage.compaction import compact
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.predicate import equals
from robot_data_platform_tests.scale.synthetic import Upload
from robot_data_platform_tests.scale.template import DATASET

VIEW = "robot_data_platform.reader.view"
"""What a dataset imports when it is first read."""

Facts = Mapping[str, object]
Measure = Callable[[], Facts]

RELEASE = "r1"
MODEL = "policy-1"
RUN = RunInfo(run_id="bench", asset="bench", code_version="0", created_ns=1_800_000_000 * 10**9)
COMPACTED = ("episodes", "frames", "quality", "gops", MEASUREMENTS)
MADE_BY_COMMANDS = (f"{DATASET}/splits", "_catalog/releases", "_catalog/models")
"""Tables that a lake has only after the commands."""
MIDDLE_UPLOAD = Upload(number=5, first_episode_index=0, num_episodes=1).name


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a lake and its landing folder are."""

    lake_root: str
    landing_root: str
    upload: str = ""
    """Upload that `add` ingests; it is in the landing folder."""

    @property
    def lake(self) -> Lake:
        """The lake."""
        return Lake(self.lake_root)

    @property
    def workplace(self) -> Workplace:
        """Both, as ingestion wants them."""
        return Workplace(lake_root=self.lake_root, landing_root=self.landing_root)


def _open(place: Place, release: str | None = None, split: str | None = None) -> Measure:
    importlib.import_module(VIEW)  # which is no part of opening

    def opened() -> Facts:
        rows = RobotLanceDataset(place.lake_root, DATASET, release=release, split=split)
        return {"rows": len(rows)}

    return opened


def _episodes(place: Place, **arguments: str | int) -> Measure:
    def listed() -> Facts:
        found = list_episodes(place.lake, DATASET, **arguments)  # type: ignore[arg-type]
        return {"episodes": len(found), "json_bytes": len(json.dumps(found))}

    return listed


def _split(place: Place) -> Measure:
    spec = default_spec()
    return lambda: {"counts": curate(place.lake, DATASET, spec, RUN).counts}


def _release(place: Place) -> Measure:
    """Release the newest assignment, as the asset does after `curated_splits`."""
    spec = default_spec()
    splits = place.lake.open(DATASET, "splits").batches(["assignment_id"])
    assignment = next(splits)["assignment_id"][0].as_py()

    def released() -> Facts:
        made = create_release(
            place.lake, DATASET, spec, RUN, name=RELEASE, assignment_id=assignment
        )
        return {"episodes": made.num_episodes, "rows": made.num_rows}

    return released


def _lineage(place: Place, name: str) -> Measure:
    def asked() -> Facts:
        told = lineage_of(place.lake, name)
        return {"episodes": len(told.episodes), "sources": len(told.sources)}

    return asked


def _impact(place: Place, column: str) -> Measure:
    episodes = place.lake.open(DATASET, "episodes")
    row = episodes.read([column], equals("upload", MIDDLE_UPLOAD)).to_pylist()[0][column]
    query = row[0] if isinstance(row, list) else row

    def asked() -> Facts:
        told = impact_of(place.lake, query)
        return {"episodes": len(told.episodes), "models": len(told.models)}

    return asked


def _compact(place: Place, table: str) -> Measure:
    uri, policy = place.lake.table_uri(DATASET, table), UpkeepPolicy().compaction_of(table)
    return lambda: {"changed": bool(compact(uri, policy))}


def _add(place: Place) -> Measure:
    """Ingest an upload through the asset graph, all steps and checks in this process."""
    import dagster as dg

    from robot_data_platform.defs import runs
    from robot_data_platform.defs.resources import Platform

    platform = Platform(
        lake=place.lake_root,
        landing=place.landing_root,
        num_workers=1,
        gop_profile="anchored",
        gop_size=4,
    )
    manifest = place.workplace.landing.manifest(place.upload)

    def added() -> Facts:
        with dg.DagsterInstance.ephemeral() as instance:
            runs.ingest(instance, platform, manifest)
            return {"step_s": _step_seconds(instance)}

    return added


def _step_seconds(instance: object) -> dict[str, float]:
    import dagster as dg

    assert isinstance(instance, dg.DagsterInstance)
    (run,) = instance.get_runs()
    steps = instance.get_run_step_stats(run.run_id)
    return {
        step.step_key: round(step.end_time - step.start_time, 3)
        for step in steps
        if step.start_time is not None and step.end_time is not None
    }


MEASURES: Mapping[str, Callable[[Place], Measure]] = {
    **{f"compact_{name}": partial(_compact, table=name) for name in COMPACTED},
    "split": _split,
    "release": _release,
    "split_again": _split,
    "open_live": lambda place: _open(place),
    "open_release": lambda place: _open(place, release=RELEASE),
    "open_split": lambda place: _open(place, release=RELEASE, split="val"),
    "episodes_upload": lambda place: _episodes(place, upload=MIDDLE_UPLOAD),
    "episodes_flagged": lambda place: _episodes(place, status="flagged", limit=1000),
    "episodes_first": lambda place: _episodes(place, task="pick the cube", limit=1000),
    "lineage_release": lambda place: _lineage(place, f"{DATASET}/{RELEASE}"),
    "lineage_model": lambda place: _lineage(place, MODEL),
    "impact_episode": lambda place: _impact(place, "episode_id"),
    "impact_upload": lambda place: _impact(place, "upload"),
    "impact_source": lambda place: _impact(place, "source_sha256"),
    "add": _add,
}
"""In the order in which a lake is measured."""


def measured(name: str, place: Place) -> dict[str, object]:
    """Return wall and processor seconds of one measure, this process's peak, and facts."""
    measure = MEASURES[name](place)
    cpu, wall = time.process_time(), time.perf_counter()
    facts = measure()
    return {
        "wall_s": round(time.perf_counter() - wall, 4),
        "cpu_s": round(time.process_time() - cpu, 4),
        "peak_mb": round(_peak_kb() / 1e3),
        "load": round(os.getloadavg()[0], 1),
        "facts": facts,
    }


def _peak_kb() -> int:
    status = Path("/proc/self/status")
    if not status.is_file():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1])


def as_arguments(name: str, place: Place) -> list[str]:
    """Return what this program is called with."""
    return [name, json.dumps(asdict(place))]


if __name__ == "__main__":
    result = measured(sys.argv[1], Place(**json.loads(sys.argv[2])))
    sys.stdout.write(json.dumps(result) + "\n")
