"""A lake: every table of every dataset below one root."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robot_data_platform.core import catalog_schema, schema
from robot_data_platform.core.findings_schema import findings_schema, spatial_schema
from robot_data_platform.core.identity import check_name
from robot_data_platform.core.measurement_schema import MEASUREMENTS, measurements_schema
from robot_data_platform.errors import ErrorKind, NotFoundError
from robot_data_platform.storage.creation import create_table, ensure_config, with_blob_column
from robot_data_platform.storage.objects import check_conditional_put
from robot_data_platform.storage.table import LakeTable, find_table, open_table
from robot_data_platform.storage.uri import join, normalise_root

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pyarrow as pa

CATALOG = "_catalog"

GOPS_CONFIG = {"lance.compaction.target_rows_per_fragment": "500"}
"""Compaction copies blob bytes, so it must leave all but the smallest fragments of `gops` alone."""

_DATASET_SCHEMAS = {
    "episodes": schema.episodes_schema,
    "quality": findings_schema,
    "spatial": spatial_schema,
    MEASUREMENTS: measurements_schema,
    "splits": schema.splits_schema,
}
_CATALOG_SCHEMAS = {
    "uploads": catalog_schema.uploads_schema,
    "releases": catalog_schema.releases_schema,
    "models": catalog_schema.models_schema,
    "lineage": catalog_schema.lineage_schema,
    "calibrations": catalog_schema.calibrations_schema,
    "retirements": catalog_schema.retirements_schema,
}


class Lake:
    """Where the tables are; opening one costs two requests, whatever the lake's size."""

    def __init__(self, root: str | Path) -> None:
        self.root = normalise_root(root)

    def check_writable(self) -> Lake:
        """Return this lake, unless its store would lose commits; for whoever is about to write.

        Raises
        ------
        StorageError
            ``store-unsafe``: the store ignores or refuses ``If-None-Match``; ``store-denied``.
        """
        check_conditional_put(self.root)
        return self

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
            ``dataset-not-found``: the lake has no such dataset; ``table-not-found``: the dataset
            has no such table yet; ``version-not-found``.
        """
        try:
            return open_table(self.table_uri(dataset, table), version)
        except NotFoundError as err:
            if err.kind is not ErrorKind.TABLE_NOT_FOUND:
                raise
            raise self._not_there(dataset, table) from err

    def _not_there(self, dataset: str, table: str) -> NotFoundError:
        datasets = self.datasets()
        if dataset in datasets:
            kind, advice = ErrorKind.TABLE_NOT_FOUND, "Materialize it for the dataset first."
        else:
            kind, advice = ErrorKind.DATASET_NOT_FOUND, "Check the name and --lake."
        return NotFoundError(
            f"Dataset {dataset!r} has no table {table!r} in {self.root!r}: the lake holds "
            f"datasets {datasets}. {advice}",
            kind=kind,
            dataset=dataset,
            table=table,
        )

    def find(self, dataset: str, table: str, version: int | str | None = None) -> LakeTable | None:
        """Return a dataset's table, or None where there is none yet."""
        return find_table(self.table_uri(dataset, table), version)

    def find_catalog(self, table: str) -> LakeTable | None:
        """Return a table of the catalog, or None where nothing was written to it yet."""
        return find_table(self.catalog_uri(table))

    def ensure(self, dataset: str, table: str) -> LakeTable:
        """Return a table with the same columns in every dataset, created where absent."""
        return self._ensure(self.table_uri(dataset, table), _DATASET_SCHEMAS[table]())

    def ensure_gops(self, dataset: str) -> LakeTable:
        """Return the dataset's ``gops`` table, created where absent."""
        columns = with_blob_column(schema.gops_schema())
        return self._ensure(self.table_uri(dataset, "gops"), columns, GOPS_CONFIG)

    def ensure_frames(self, dataset: str, columns: pa.Schema) -> LakeTable:
        """Return the dataset's ``frames`` table, created with ``columns`` where absent."""
        return self._ensure(self.table_uri(dataset, "frames"), columns)

    def ensure_catalog(self, table: str) -> LakeTable:
        """Return a table of the catalog, created where absent."""
        return self._ensure(self.catalog_uri(table), _CATALOG_SCHEMAS[table]())

    def _ensure(
        self, uri: str, columns: pa.Schema, config: Mapping[str, str] | None = None
    ) -> LakeTable:
        table = find_table(uri)
        if table is not None:
            return ensure_config(table, config or {})
        self.check_writable()
        return create_table(uri, columns, config)

    def datasets(self) -> list[str]:
        """Return the names of the datasets that something was ingested to, sorted."""
        uploads = self.find_catalog("uploads")
        if uploads is None:
            return []
        return sorted(set(uploads.read(["dataset"])["dataset"].to_pylist()))
