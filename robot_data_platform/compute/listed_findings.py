"""Findings that hold for what is published now, as plain values with stable keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

import pyarrow.compute as pc

from robot_data_platform.compute.findings import SOURCE_EPISODE_INDEX
from robot_data_platform.storage.predicate import all_of, equals

if TYPE_CHECKING:
    import pyarrow as pa

    from robot_data_platform.storage.lake import Lake


class FindingFacts(TypedDict):
    """One finding about a published episode, or about its upload."""

    episode_index: int | None
    rule: str
    severity: str
    value: float | None
    threshold: float | None
    unit: str
    where: str
    message: str


_VERSION_COLUMNS = ("ingestion_id", "q_version", "s_version")
"""Columns of ``episodes`` that say which findings hold."""
_FINDING = ("rules_version", *FindingFacts.__annotations__)


def list_findings(
    lake: Lake,
    dataset: str,
    *,
    episode_index: int | None = None,
    rule: str | None = None,
    severity: str | None = None,
) -> list[FindingFacts]:
    """Return the findings that hold for what is published now.

    Those of an earlier ingestion, or of earlier rules, are left out.
    """
    of_episode = equals("episode_index", episode_index) if episode_index is not None else None
    published = lake.open(dataset, "episodes")
    columns = [name for name in _VERSION_COLUMNS if name in published.schema.names]
    is_of_source = episode_index == SOURCE_EPISODE_INDEX
    episodes = published.read(["episode_index", *columns], None if is_of_source else of_episode)
    tables = [lake.find(dataset, name) for name in ("quality", "spatial")]
    where = all_of(
        of_episode,
        equals("rule", rule) if rule else None,
        equals("severity", severity) if severity else None,
    )
    read = [table.read(_FINDING, where) for table in tables if table is not None]
    held = [row for rows in read for row in rows.filter(_holds(rows, episodes)).to_pylist()]
    return [
        FindingFacts(
            episode_index=row["episode_index"] if row["episode_index"] >= 0 else None,
            rule=row["rule"],
            severity=row["severity"],
            value=row["value"],
            threshold=row["threshold"],
            unit=row["unit"],
            where=row["where"],
            message=row["message"],
        )
        for row in sorted(held, key=lambda r: (r["episode_index"], r["rule"], r["where"] or ""))
    ]


def _holds(findings: pa.Table, episodes: pa.Table) -> pa.ChunkedArray:
    """Return which findings are of the versions that the published episodes name."""
    version, ingestions = findings["rules_version"], episodes["ingestion_id"].unique()
    at = pc.index_in(
        findings["episode_index"], value_set=episodes["episode_index"].combine_chunks()
    )
    holds = pc.and_(
        pc.equal(findings["episode_index"], SOURCE_EPISODE_INDEX),
        pc.is_in(version, value_set=ingestions),
    )
    for name in set(_VERSION_COLUMNS).intersection(episodes.column_names):
        holds = pc.or_(holds, pc.fill_null(pc.equal(episodes[name].take(at), version), False))
    return holds
