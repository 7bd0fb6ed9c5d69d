"""A lake: every table of every dataset below one root."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from robot_data_platform.core import schema
from robot_data_platform.core.identity import check_name
from robot_data_platform.errors import ErrorKind, NotFoundError
from robot_data_platform.storage.table import (
    LakeTable,
    create_table,
    find_table,
    open_table,
    with_blob_column,
)
from robot_data_platform.storage.uri import join, normalise_root

CATALOG = "_catalog"

GOPS_CONFIG = {"lance.compaction.target_rows_per_fragment": "500"}
"""Compaction copies blob bytes, so it must leave all but the smallest fragments of `gops` alone."""

_DATASET_SCHEMAS = {
    "episodes": schema.episodes_schema,
    "quality": schema.findings_schema,
    "splits": schema.splits_schema,
}
_CATALOG_SCHEMAS = {
    "uploads": schema.uploads_schema,
    "releases": schema.releases_schema,
    "models": schema.models_schema,
    "lineage": schema.lineage_schema,
}


class Lake:
    """Where the tables are; opening one costs two requests, whatever the lake's size."""

    def __init__(self, root: str | Path) -> None:
        self.root = normalise_root(root)

    def table_uri(self, dataset: str, table: str) -> str:
        """Return where a dataset's table is."""
        return join(self.root, check_name(dataset, "dataset"), f"{table}.lance")

    def catalog_uri(self, table: str) -> str:
        """Return where a table of the catalog is."""
        return join(self.root, CATALOG, f"{table}.lance")

    def open(self, dataset: str, table: str, version: int | str | None = None) -> LakeTable:
        """Return a dataset's table at a version or tag, or at its latest version.

        Raises
        ------
        NotFoundError
            ``dataset-not-found``: the lake has no such dataset; ``version-not-found``.
        """
        try:
            return open_table(self.table_uri(dataset, table), version)
        except NotFoundError as err:
            if err.kind is not ErrorKind.TABLE_NOT_FOUND:
                raise
            raise NotFoundError(
                f"Dataset {dataset!r} has no table {table!r} in {self.root!r}: the lake holds "
                f"datasets {self.datasets()}. Check the name and --lake.",
                kind=ErrorKind.DATASET_NOT_FOUND,
                dataset=dataset,
            ) from err

    def find(self, dataset: str, table: str, version: int | str | None = None) -> LakeTable | None:
        """Return a dataset's table, or None where there is none yet."""
        return find_table(self.table_uri(dataset, table), version)

    def find_catalog(self, table: str) -> LakeTable | None:
        """Return a table of the catalog, or None where nothing was written to it yet."""
        return find_table(self.catalog_uri(table))

    def ensure(self, dataset: str, table: str) -> LakeTable:
        """Return ``episodes``, ``quality`` or ``splits`` of a dataset, created where absent."""
        return create_table(self.table_uri(dataset, table), _DATASET_SCHEMAS[table]())

    def ensure_gops(self, dataset: str) -> LakeTable:
        """Return the dataset's ``gops`` table, created where absent."""
        columns = with_blob_column(schema.gops_schema())
        return create_table(self.table_uri(dataset, "gops"), columns, GOPS_CONFIG)

    def ensure_frames(self, dataset: str, columns: pa.Schema) -> LakeTable:
        """Return the dataset's ``frames`` table, created with ``columns`` where absent."""
        return create_table(self.table_uri(dataset, "frames"), columns)

    def ensure_catalog(self, table: str) -> LakeTable:
        """Return a table of the catalog, created where absent."""
        return create_table(self.catalog_uri(table), _CATALOG_SCHEMAS[table]())

    def datasets(self) -> list[str]:
        """Return the names of the datasets that something was ingested to, sorted."""
        uploads = self.find_catalog("uploads")
        if uploads is None:
            return []
        return sorted(set(uploads.read(["dataset"])["dataset"].to_pylist()))
