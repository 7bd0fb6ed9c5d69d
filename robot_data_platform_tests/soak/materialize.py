"""What the assets of an upload do, without Dagster around it: one function, and its edges."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from robot_data_platform.compute.episodes_map import Fanout
from robot_data_platform.compute.findings import record_source_findings
from robot_data_platform.compute.frames import write_frames
from robot_data_platform.compute.gop_video import write_gop_video
from robot_data_platform.compute.ingestion import Ingestion, Workplace
from robot_data_platform.compute.publish import publish_episodes
from robot_data_platform.compute.quality import write_quality
from robot_data_platform.compute.registration import find_ingestion, register_upload
from robot_data_platform.compute.spatial import write_spatial
from robot_data_platform.core.run import RunInfo
from robot_data_platform.errors import ErrorKind, RobotDataError
from robot_data_platform.lineage.edges import record_edges
from robot_data_platform.video.settings import GopSettings

SETTINGS = GopSettings(profile="anchored", gop_size=4, crf=12, preset="ultrafast")
IN_PROCESS = Fanout(num_workers=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a step ended."""

    is_new: bool = False
    error: ErrorKind | None = None
    message: str = ""
    ingestion: Ingestion | None = None
    output: tuple[str, int] | None = None
    """Table and version, of a step that records edges."""
    reads: Mapping[str, int] = field(default_factory=dict)


def materialize(place: Workplace, asset: str, upload: str, run: RunInfo) -> Outcome:
    """Do what an asset does, edges included."""
    outcome = do_step(place, asset, upload, run)
    record(place, outcome, run)
    return outcome


def do_step(place: Workplace, asset: str, upload: str, run: RunInfo) -> Outcome:
    """Do a step; an error of the platform is an outcome, any other one is raised."""
    try:
        if asset == "raw_episodes":
            return _register(place, upload, run)
        return _STEPS[asset](find_ingestion(place, upload, SETTINGS), run)
    except RobotDataError as err:
        return Outcome(error=err.kind, message=str(err))


def record(place: Workplace, outcome: Outcome, run: RunInfo) -> None:
    """Record the edges of what a step wrote, which it does after its last commit."""
    if outcome.is_new and outcome.output is not None:
        record_edges(place.lake, _dataset(outcome), outcome.output, [*outcome.reads.items()], run)


def _dataset(outcome: Outcome) -> str:
    assert outcome.ingestion is not None
    return outcome.ingestion.dataset


def _register(place: Workplace, upload: str, run: RunInfo) -> Outcome:
    planned = register_upload(place, upload, SETTINGS, run)
    record_source_findings(planned.ingestion, planned.findings, run)
    return Outcome(is_new=planned.is_new, ingestion=planned.ingestion)


def _gop_video(ingestion: Ingestion, run: RunInfo) -> Outcome:
    result = write_gop_video(ingestion, IN_PROCESS, run)
    uploads = ingestion.workplace.lake.ensure_catalog("uploads").version
    return Outcome(
        is_new=result.is_new,
        ingestion=ingestion,
        output=("gops", result.gops_version),
        reads={"uploads": uploads},
    )


def _frames(ingestion: Ingestion, run: RunInfo) -> Outcome:
    result = write_frames(ingestion, IN_PROCESS, run)
    return Outcome(
        is_new=result.is_new,
        ingestion=ingestion,
        output=("frames", result.frames_version),
        reads={"gops": result.gops_version},
    )


def _episodes(ingestion: Ingestion, run: RunInfo) -> Outcome:
    result = publish_episodes(ingestion, IN_PROCESS, run)
    output = ("episodes", result.episodes_version)
    return Outcome(is_new=result.is_new, ingestion=ingestion, output=output, reads=result.reads)


def _quality(ingestion: Ingestion, run: RunInfo) -> Outcome:
    result = write_quality(ingestion, IN_PROCESS, run)
    output = ("quality", result.quality_version)
    return Outcome(is_new=result.is_new, ingestion=ingestion, output=output, reads=result.reads)


def _spatial(ingestion: Ingestion, run: RunInfo) -> Outcome:
    result = write_spatial(ingestion, IN_PROCESS, run)
    output = ("spatial", result.spatial_version)
    return Outcome(is_new=result.is_new, ingestion=ingestion, output=output, reads=result.reads)


_STEPS: Mapping[str, Callable[[Ingestion, RunInfo], Outcome]] = {
    "gop_video": _gop_video,
    "frames": _frames,
    "episodes": _episodes,
    "quality_results": _quality,
    "spatial_results": _spatial,
}
