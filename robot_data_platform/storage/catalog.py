"""Rows of the catalog: releases, models and lineage edges, and the episodes of a release."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

import pyarrow as pa

from robot_data_platform.core.catalog_schema import (
    lineage_schema,
    models_schema,
    releases_schema,
)
from robot_data_platform.errors import ErrorKind, NotFoundError
from robot_data_platform.storage.commit import Committed, append_rows
from robot_data_platform.storage.predicate import all_of, equals

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from robot_data_platform.storage.lake import Lake
    from robot_data_platform.storage.snapshot import ReleaseRow, TableVersion
    from robot_data_platform.storage.table import LakeTable


class ModelRow(TypedDict):
    """One row of ``_catalog/models``."""

    model: str
    dataset: str
    release: str
    release_digest: str
    splits: list[str]
    tables: list[TableVersion]
    code_commit: str | None
    parameters_json: str
    metrics_json: str
    artifact_uri: str | None
    artifact_sha256: str | None
    started_ns: int
    finished_ns: int
    run_id: str
    code_version: str


class EdgeRow(TypedDict):
    """One row of ``_catalog/lineage``: an output version came from an input version."""

    asset: str
    dataset: str
    partition: str | None
    output_table: str
    output_version: int
    input_table: str
    input_version: str
    run_id: str
    code_version: str
    created_ns: int


def versions_of(tables: Sequence[TableVersion]) -> dict[str, int]:
    """Return the version by table of a stored set of pinned versions."""
    return {entry["table"]: entry["version"] for entry in tables}


def table_versions(versions: Mapping[str, int]) -> list[TableVersion]:
    """Return a set of pinned versions as it is stored."""
    return [{"table": table, "version": version} for table, version in versions.items()]


def add_release(lake: Lake, row: ReleaseRow, properties: Mapping[str, str]) -> Committed:
    """Append a release; where one of its name is there, write nothing, whatever its digest."""
    return append_rows(
        lake.ensure_catalog("releases").uri,
        pa.Table.from_pylist([row], schema=releases_schema()),
        properties=properties,
        is_done=lambda table: table.count_rows(equals("release_key", row["release_key"])) > 0,
    )


def release_episodes(
    lake: Lake, release: ReleaseRow, columns: Sequence[str], where: str | None = None
) -> pa.Table:
    """Return columns of ``splits`` for the episodes of a release, at the release's version.

    Parameters
    ----------
    where : str, optional
        Only the rows for which this predicate holds.
    """
    version = versions_of(release["tables"])["splits"]
    splits = lake.open(release["dataset"], "splits", version)
    return splits.read(columns, all_of(equals("assignment_id", release["assignment_id"]), where))


def add_model(lake: Lake, row: ModelRow, properties: Mapping[str, str]) -> Committed:
    """Append a model; where one of its name is there, write nothing."""
    return append_rows(
        lake.ensure_catalog("models").uri,
        pa.Table.from_pylist([row], schema=models_schema()),
        properties=properties,
        is_done=lambda table: table.count_rows(equals("model", row["model"])) > 0,
    )


def list_models(lake: Lake, model: str | None = None) -> list[ModelRow]:
    """Return the models of the lake, or the one of a name, in the order of recording."""
    where = equals("model", model) if model else None
    rows: list[ModelRow] = _read(lake.find_catalog("models"), where)
    return sorted(rows, key=lambda row: row["finished_ns"])


def find_model(lake: Lake, model: str) -> ModelRow:
    """Return one model.

    Raises
    ------
    NotFoundError
        ``model-not-found``: the message lists those there are.
    """
    rows = list_models(lake, model)
    if not rows:
        raise NotFoundError(
            f"The lake {lake.root!r} has no model {model!r}: it has "
            f"{sorted(row['model'] for row in list_models(lake))}. Record one with training_run().",
            kind=ErrorKind.MODEL_NOT_FOUND,
            model=model,
        )
    return rows[0]


def add_edges(lake: Lake, rows: Sequence[EdgeRow], properties: Mapping[str, str]) -> Committed:
    """Append the edges of one output version, unless edges of it by that asset are there."""
    first = rows[0]
    where = all_of(
        equals("asset", first["asset"]),
        equals("dataset", first["dataset"]),
        equals("output_table", first["output_table"]),
        equals("output_version", first["output_version"]),
    )
    return append_rows(
        lake.ensure_catalog("lineage").uri,
        pa.Table.from_pylist(rows, schema=lineage_schema()),
        properties=properties,
        is_done=lambda table: (
            first["partition"] in table.read(["partition"], where)["partition"].to_pylist()
        ),
    )


def list_edges(lake: Lake, dataset: str) -> list[EdgeRow]:
    """Return the edges of a dataset, in the order of recording."""
    rows: list[EdgeRow] = _read(lake.find_catalog("lineage"), equals("dataset", dataset))
    return rows


def _read(table: LakeTable | None, where: str | None) -> list:  # type: ignore[type-arg]
    return [] if table is None else table.read(where=where).to_pylist()
