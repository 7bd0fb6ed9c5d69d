"""Metadata of materializations: the same keys with the same units on every asset."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import dagster as dg

if TYPE_CHECKING:
    from collections.abc import Mapping

    from robot_data_platform.storage.lake import Lake

Metadata = dict[str, dg.MetadataValue | str | int | float]


def table_metadata(
    lake: Lake, dataset: str, table: str, version: int, reads: Mapping[str, int]
) -> Metadata:
    """Return where a table is, which version was made, and exactly what was read for it."""
    opened = lake.open(dataset, table, version)
    return {
        "dagster/uri": opened.uri,
        "dagster/row_count": opened.count_rows(),
        "lance/version": version,
        "lance/reads": dg.MetadataValue.json(dict(reads)),
    }


def data_version(dataset: str, table: str, version: int) -> dg.DataVersion:
    """Return ``<dataset>/<table>@<version>``: bare numbers of two tables would look equal."""
    return dg.DataVersion(f"{dataset}/{table}@{version}")


def picture(data: bytes, caption: str, kind: str = "jpeg") -> dg.MetadataValue:
    """Return a small picture as Markdown, which the UI shows."""
    text = base64.b64encode(data).decode()
    return dg.MetadataValue.md(f"![{caption}](data:image/{kind};base64,{text})")
