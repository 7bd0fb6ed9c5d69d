"""Assets per upload: from raw_episodes over the tables to quality and spatial results."""

import time

import dagster as dg

from robot_data_platform.compute.findings import record_source_findings
from robot_data_platform.compute.frames import write_frames
from robot_data_platform.compute.gop_video import write_gop_video
from robot_data_platform.compute.ingestion import Ingestion
from robot_data_platform.compute.pictures import contact_sheets
from robot_data_platform.compute.publish import publish_episodes
from robot_data_platform.compute.quality import write_quality
from robot_data_platform.compute.registration import register_upload
from robot_data_platform.compute.spatial import write_spatial
from robot_data_platform.core.run import RunInfo
from robot_data_platform.defs.failures import failures
from robot_data_platform.defs.metadata import Metadata, data_version, picture, table_metadata
from robot_data_platform.defs.partitions import UPLOADS
from robot_data_platform.defs.progress import progress_of
from robot_data_platform.defs.resources import Platform, run_info
from robot_data_platform.lineage.edges import edges_are_missing, record_edges
from robot_data_platform.storage.uri import join

CODE_VERSION = "1"
RETRY = dg.RetryPolicy(
    max_retries=2, delay=5, backoff=dg.Backoff.EXPONENTIAL, jitter=dg.Jitter.PLUS_MINUS
)


def _untold(ingestion: Ingestion, table: str, run: RunInfo) -> bool:
    """Return whether an earlier run wrote the rows and died before it told what they came from."""
    lake, since_ns = ingestion.workplace.lake, ingestion.registered_ns
    return edges_are_missing(lake, ingestion.dataset, table, run, since_ns)


@dg.asset(
    partitions_def=UPLOADS,
    group_name="ingest",
    kinds={"lance"},
    code_version=CODE_VERSION,
    retry_policy=RETRY,
    pool="lance_catalog",
)
def raw_episodes(
    context: dg.AssetExecutionContext, platform: Platform
) -> dg.MaterializeResult[None]:
    """One registered upload: files verified, format found, episode indices reserved."""
    started, run = time.perf_counter(), run_info(context)
    with failures():
        place = platform.writable
        planned = register_upload(place, context.partition_key, platform.settings, run)
        record_source_findings(planned.ingestion, planned.findings, run)
    return dg.MaterializeResult(
        data_version=dg.DataVersion(planned.ingestion.ingestion_id),
        metadata={
            "dagster/uri": join(
                place.landing_root, planned.ingestion.dataset, context.partition_key
            ),
            "dataset": planned.ingestion.dataset,
            "format": planned.ingestion.format,
            "lance/version": planned.catalog_version,
            "num_episodes": planned.ingestion.num_episodes,
            "num_files": planned.num_files,
            "bytes_read": planned.num_bytes,
            "num_contradictions": len(planned.findings),
            "is_new": planned.is_new,
            "wall_s": time.perf_counter() - started,
        },
    )


@dg.asset(
    partitions_def=UPLOADS,
    deps=[raw_episodes],
    group_name="tables",
    kinds={"lance"},
    code_version=CODE_VERSION,
    retry_policy=RETRY,
    pool="lance_gops",
)
def gop_video(context: dg.AssetExecutionContext, platform: Platform) -> dg.MaterializeResult[None]:
    """One row per GOP: camera video cut in short, independently decodable blobs."""
    started, run = time.perf_counter(), run_info(context)
    with failures():
        ingestion = platform.ingestion(context.partition_key)
        result = write_gop_video(
            ingestion, platform.fanout, run, progress_of("gop_video", context.log)
        )
        sheets = contact_sheets(ingestion, result.gops_version)
        lake, dataset = ingestion.workplace.lake, ingestion.dataset
        uploads = lake.ensure_catalog("uploads").version
        if result.is_new or _untold(ingestion, "gops", run):
            record_edges(lake, dataset, ("gops", result.gops_version), [("uploads", uploads)], run)
    metadata: Metadata = {
        **table_metadata(lake, dataset, "gops", result.gops_version, {"uploads": uploads}),
        "dataset": dataset,
        "num_gops": result.num_gops,
        "num_frames": result.num_frames,
        "bytes_written": result.num_bytes,
        "num_quarantined": result.num_quarantined,
        "streams_by_profile": dg.MetadataValue.json(result.num_streams_by_profile),
        "streams_by_reencode_reason": dg.MetadataValue.json(result.num_streams_by_reencode_reason),
        "is_new": result.is_new,
        "wall_s": time.perf_counter() - started,
        **{f"camera/{name}": picture(sheet, name) for name, sheet in sheets.items()},
    }
    if result.min_psnr_db is not None:
        metadata["min_psnr_db"] = result.min_psnr_db
    return dg.MaterializeResult(
        data_version=data_version(dataset, "gops", result.gops_version), metadata=metadata
    )


@dg.asset(
    partitions_def=UPLOADS,
    deps=[gop_video],
    group_name="tables",
    kinds={"lance"},
    code_version=CODE_VERSION,
    retry_policy=RETRY,
    pool="lance_frames",
)
def frames(context: dg.AssetExecutionContext, platform: Platform) -> dg.MaterializeResult[None]:
    """One row per control step, pointing into the GOPs."""
    started, run = time.perf_counter(), run_info(context)
    with failures():
        ingestion = platform.ingestion(context.partition_key)
        told = progress_of("frames", context.log)
        result = write_frames(ingestion, platform.fanout, run, told)
        reads = {"gops": result.gops_version}
        lake, dataset = ingestion.workplace.lake, ingestion.dataset
        if result.is_new or _untold(ingestion, "frames", run):
            record_edges(lake, dataset, ("frames", result.frames_version), list(reads.items()), run)
    return dg.MaterializeResult(
        data_version=data_version(dataset, "frames", result.frames_version),
        metadata={
            **table_metadata(lake, dataset, "frames", result.frames_version, reads),
            "dataset": dataset,
            "num_rows": result.num_rows,
            "num_episodes": result.num_episodes,
            "num_quarantined": result.num_quarantined,
            "is_new": result.is_new,
            "wall_s": time.perf_counter() - started,
        },
    )


@dg.asset(
    partitions_def=UPLOADS,
    deps=[frames, gop_video],
    group_name="tables",
    kinds={"lance"},
    code_version=CODE_VERSION,
    retry_policy=RETRY,
    pool="lance_episodes",
)
def episodes(context: dg.AssetExecutionContext, platform: Platform) -> dg.MaterializeResult[None]:
    """One row per episode; its commit makes the upload visible."""
    started, run = time.perf_counter(), run_info(context)
    with failures():
        ingestion = platform.ingestion(context.partition_key)
        result = publish_episodes(
            ingestion, platform.fanout, run, progress_of("episodes", context.log)
        )
        lake, dataset = ingestion.workplace.lake, ingestion.dataset
        if result.is_new or _untold(ingestion, "episodes", run):
            record_edges(
                lake,
                dataset,
                ("episodes", result.episodes_version),
                list(result.reads.items()),
                run,
            )
    return dg.MaterializeResult(
        data_version=data_version(dataset, "episodes", result.episodes_version),
        metadata={
            **table_metadata(lake, dataset, "episodes", result.episodes_version, result.reads),
            "dataset": dataset,
            "num_episodes": result.num_episodes,
            "num_rows": result.num_rows,
            "num_converted": result.num_converted,
            "num_flagged": result.num_flagged,
            "num_quarantined": result.num_quarantined,
            "is_new": result.is_new,
            "wall_s": time.perf_counter() - started,
        },
    )


@dg.asset(
    partitions_def=UPLOADS,
    deps=[episodes],
    group_name="quality",
    kinds={"lance"},
    code_version=CODE_VERSION,
    retry_policy=RETRY,
    pool="lance_episodes",
)
def quality_results(
    context: dg.AssetExecutionContext, platform: Platform
) -> dg.MaterializeResult[None]:
    """One row per finding; the verdicts go to columns of ``episodes``."""
    started, run = time.perf_counter(), run_info(context)
    with failures():
        ingestion = platform.ingestion(context.partition_key)
        result = write_quality(
            ingestion, platform.fanout, run, progress_of("quality_results", context.log)
        )
        lake, dataset = ingestion.workplace.lake, ingestion.dataset
        if result.is_new or _untold(ingestion, "quality", run):
            record_edges(
                lake, dataset, ("quality", result.quality_version), list(result.reads.items()), run
            )
    return dg.MaterializeResult(
        data_version=data_version(dataset, "quality", result.quality_version),
        metadata={
            **table_metadata(lake, dataset, "quality", result.quality_version, result.reads),
            "dataset": dataset,
            "num_ok": result.num_ok,
            "num_flagged": result.num_flagged,
            "num_quarantined": result.num_quarantined,
            "findings_by_rule": dg.MetadataValue.json(result.num_findings_by_rule),
            "worst": dg.MetadataValue.md(result.worst_markdown()),
            "is_new": result.is_new,
            "wall_s": time.perf_counter() - started,
        },
    )


@dg.asset(
    partitions_def=UPLOADS,
    deps=[quality_results],
    group_name="quality",
    kinds={"lance"},
    code_version=CODE_VERSION,
    retry_policy=RETRY,
    pool="lance_episodes",
)
def spatial_results(
    context: dg.AssetExecutionContext, platform: Platform
) -> dg.MaterializeResult[None]:
    """One row per finding on cameras and joints; the verdicts go to columns of ``episodes``."""
    started, run = time.perf_counter(), run_info(context)
    with failures():
        ingestion = platform.ingestion(context.partition_key)
        result = write_spatial(
            ingestion,
            platform.fanout,
            run,
            progress_of("spatial_results", context.log),
            segmenter=platform.segmenter_name,
        )
        lake, dataset = ingestion.workplace.lake, ingestion.dataset
        if result.is_new or _untold(ingestion, "spatial", run):
            record_edges(
                lake, dataset, ("spatial", result.spatial_version), list(result.reads.items()), run
            )
    return dg.MaterializeResult(
        data_version=data_version(dataset, "spatial", result.spatial_version),
        metadata={
            **table_metadata(lake, dataset, "spatial", result.spatial_version, result.reads),
            "dataset": dataset,
            **{f"camera/{name}": picture(sheet, name) for name, sheet in result.overlays.items()},
            "episodes_by_verdict": dg.MetadataValue.json(result.num_by_verdict),
            "findings_by_rule": dg.MetadataValue.json(result.num_findings_by_rule),
            "worst": dg.MetadataValue.md(result.worst_markdown()),
            "is_new": result.is_new,
            "wall_s": time.perf_counter() - started,
        },
    )
