"""Arrow schemas of the catalog's tables: uploads, releases, models and lineage."""

from __future__ import annotations

import pyarrow as pa

from robot_data_platform.core.schema import key_field, required_field, table_schema


def table_versions_type() -> pa.DataType:
    """Return the type of a set of pinned table versions."""
    return pa.list_(pa.struct([pa.field("table", pa.string()), pa.field("version", pa.int64())]))


def uploads_schema() -> pa.Schema:
    """Return the columns of ``uploads``: one row per ingestion, with the indices it reserved."""
    text = pa.string()
    return table_schema(
        [
            key_field("ingestion_id", text),
            required_field("dataset", text),
            required_field("upload", text),
            required_field("manifest_sha256", text),
            required_field("format", text),
            pa.field("profile_yaml", text),
            pa.field("settings_json", text),
            pa.field("conventions_json", text),
            required_field("first_episode_index", pa.int64()),
            required_field("num_episodes", pa.int64()),
            required_field("created_ns", pa.int64()),
            required_field("run_id", text),
            required_field("code_version", text),
        ]
    )


def releases_schema() -> pa.Schema:
    """Return the columns of ``releases``: one immutable row per release of a dataset."""
    text = pa.string()
    return table_schema(
        [
            key_field("release_key", text),
            required_field("dataset", text),
            required_field("release", text),
            required_field("digest", text),
            required_field("assignment_id", text),
            required_field("spec_json", text),
            pa.field("tables", table_versions_type()),
            required_field("num_episodes", pa.int64()),
            required_field("num_rows", pa.int64()),
            required_field("created_ns", pa.int64()),
            required_field("run_id", text),
            required_field("code_version", text),
        ]
    )


def models_schema() -> pa.Schema:
    """Return the columns of ``models``: one row per trained model."""
    text = pa.string()
    return table_schema(
        [
            key_field("model", text),
            required_field("dataset", text),
            required_field("release", text),
            required_field("release_digest", text),
            pa.field("splits", pa.list_(text)),
            pa.field("tables", table_versions_type()),
            pa.field("code_commit", text),
            pa.field("parameters_json", text),
            pa.field("metrics_json", text),
            pa.field("artifact_uri", text),
            pa.field("artifact_sha256", text),
            required_field("started_ns", pa.int64()),
            required_field("finished_ns", pa.int64()),
            required_field("run_id", text),
            required_field("code_version", text),
        ]
    )


def lineage_schema() -> pa.Schema:
    """Return the columns of ``lineage``: one row per edge, output version from input version."""
    text = pa.string()
    return table_schema(
        [
            required_field("asset", text),
            required_field("dataset", text),
            pa.field("partition", text),
            required_field("output_table", text),
            required_field("output_version", pa.int64()),
            required_field("input_table", text),
            pa.field("input_version", text),
            required_field("run_id", text),
            required_field("code_version", text),
            required_field("created_ns", pa.int64()),
        ]
    )


def retirements_schema() -> pa.Schema:
    """Return the columns of ``retirements``: one row per episode that was taken out for good."""
    text = pa.string()
    return table_schema(
        [
            key_field("episode_id", text),
            required_field("dataset", text),
            required_field("upload", text),
            required_field("source_key", text),
            required_field("reason", text),
            required_field("retired_by", text),
            required_field("retired_ns", pa.int64()),
            required_field("run_id", text),
            required_field("code_version", text),
        ]
    )


def calibrations_schema() -> pa.Schema:
    """Return the columns of ``calibrations``: one row per proposal that somebody accepted."""
    text = pa.string()
    return table_schema(
        [
            key_field("acceptance_id", text),
            required_field("dataset", text),
            required_field("upload", text),
            required_field("camera", text),
            pa.field("declared_json", text),
            required_field("calibration_json", text),
            required_field("episode_id", text),
            required_field("rules_version", text),
            required_field("cause", text),
            required_field("accepted_by", text),
            required_field("accepted_ns", pa.int64()),
            required_field("run_id", text),
            required_field("code_version", text),
        ]
    )
