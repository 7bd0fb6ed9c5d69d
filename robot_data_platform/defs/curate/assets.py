"""Assets per dataset: curated_splits and dataset_release; trained_models is made elsewhere."""

import time

import dagster as dg
from pydantic import Field

from robot_data_platform.curation.release import create_release
from robot_data_platform.curation.spec import SplitSpec, default_spec, parse_spec
from robot_data_platform.curation.splits import curate
from robot_data_platform.defs.failures import failures
from robot_data_platform.defs.ingest.assets import CODE_VERSION, RETRY, spatial_results
from robot_data_platform.defs.metadata import table_metadata
from robot_data_platform.defs.partitions import DATASETS
from robot_data_platform.defs.resources import Platform, run_info
from robot_data_platform.lineage.edges import record_edges


class SplitConfig(dg.Config):
    """What to curate."""

    spec: str = Field(default="", description="YAML text of a split spec; empty = the default.")

    def parsed(self) -> SplitSpec:
        """Return the spec."""
        return parse_spec(self.spec) if self.spec else default_spec()


class ReleaseConfig(SplitConfig):
    """What to release, and under which name."""

    name: str = Field(default="", description="Release name; empty = r- and the digest's start.")


@dg.asset(
    partitions_def=DATASETS,
    deps=[dg.AssetDep(spatial_results, partition_mapping=dg.AllPartitionMapping())],
    group_name="curation",
    kinds={"lance"},
    code_version=CODE_VERSION,
    retry_policy=RETRY,
    pool="lance_splits",
)
def curated_splits(
    context: dg.AssetExecutionContext, config: SplitConfig, platform: Platform
) -> dg.MaterializeResult[None]:
    """One row per episode of an assignment: which split it is in, for good."""
    started, run, dataset = time.perf_counter(), run_info(context), context.partition_key
    with failures():
        lake = platform.writable.lake
        result = curate(lake, dataset, config.parsed(), run)
        reads = {"episodes": result.episodes_version}
        if result.is_new:
            record_edges(lake, dataset, ("splits", result.version), list(reads.items()), run)
    return dg.MaterializeResult(
        data_version=dg.DataVersion(result.assignment_id),
        metadata={
            **table_metadata(lake, dataset, "splits", result.version, reads),
            "dataset": dataset,
            "assignment_id": result.assignment_id,
            "num_by_split": dg.MetadataValue.json(result.counts),
            "num_excluded": dg.MetadataValue.json(result.excluded),
            "is_new": result.is_new,
            "wall_s": time.perf_counter() - started,
        },
    )


@dg.asset(
    partitions_def=DATASETS,
    deps=[curated_splits],
    group_name="curation",
    kinds={"lance"},
    code_version=CODE_VERSION,
    retry_policy=RETRY,
    pool="lance_catalog",
)
def dataset_release(
    context: dg.AssetExecutionContext, config: ReleaseConfig, platform: Platform
) -> dg.MaterializeResult[None]:
    """One immutable release: a name for a version of every table; its data version, the digest."""
    started, run, dataset = time.perf_counter(), run_info(context), context.partition_key
    with failures():
        lake = platform.writable.lake
        result = create_release(lake, dataset, config.parsed(), run, name=config.name or None)
        version = lake.ensure_catalog("releases").version
        if result.is_new:
            record_edges(lake, dataset, ("releases", version), list(result.tables.items()), run)
    return dg.MaterializeResult(
        data_version=dg.DataVersion(result.digest),
        metadata={
            "dagster/uri": lake.catalog_uri("releases"),
            "dataset": dataset,
            "release": result.name,
            "digest": result.digest,
            "lance/version": version,
            "lance/reads": dg.MetadataValue.json(dict(result.tables)),
            "is_new": result.is_new,
            "wall_s": time.perf_counter() - started,
        },
    )


trained_models = dg.AssetSpec(
    "trained_models",
    deps=[dataset_release],
    group_name="models",
    kinds={"lance"},
    description="One materialization per trained model, reported by whoever trained it; the record "
    "itself is in the lake's catalog.",
)
