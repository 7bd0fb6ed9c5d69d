"""Lineage edges: which table version was made from which, by which run."""

from __future__ import annotations

from collections.abc import Sequence

from robot_data_platform.core.run import RunInfo
from robot_data_platform.storage.catalog import EdgeRow, add_edges, list_edges
from robot_data_platform.storage.lake import Lake


def record_edges(
    lake: Lake,
    dataset: str,
    output: tuple[str, int],
    inputs: Sequence[tuple[str, str | int]],
    run: RunInfo,
) -> bool:
    """Append one edge for each input of an output version; return whether they were written.

    The edges of one (asset, dataset, partition, output table, output version) are written once:
    a second call, from a retry or a re-run that committed nothing, writes nothing.

    Parameters
    ----------
    output : tuple of str and int
        Table and version that the run committed, or found to be there.
    inputs : sequence of tuple of str and str or int
        Table and version that were read; for an upload, its name and its manifest's sha256. No
        inputs, no edges.
    run : RunInfo
        The run; its asset and partition are part of the key.
    """
    rows = [
        EdgeRow(
            asset=run.asset,
            dataset=dataset,
            partition=run.partition,
            output_table=output[0],
            output_version=output[1],
            input_table=table,
            input_version=str(version),
            run_id=run.run_id,
            code_version=run.code_version,
            created_ns=run.created_ns,
        )
        for table, version in inputs
    ]
    return add_edges(lake, rows, run.properties()).is_new if rows else False


def edges_are_missing(
    lake: Lake, dataset: str, output_table: str, run: RunInfo, since_ns: int
) -> bool:
    """Return whether a run committed rows of this asset and partition and died before its edges.

    Asked by a run that finds the rows there.

    Parameters
    ----------
    output_table : str
        The table that the rows are in.
    run : RunInfo
        Asset and partition.
    since_ns : int
        When what the rows belong to was registered: edges from before are of other rows.
    """
    return not any(
        edge["asset"] == run.asset
        and edge["partition"] == run.partition
        and edge["output_table"] == output_table
        and edge["created_ns"] >= since_ns
        for edge in list_edges(lake, dataset)
    )
