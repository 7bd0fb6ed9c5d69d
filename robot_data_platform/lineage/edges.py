"""Lineage edges: which table version was made from which, by which run."""

from __future__ import annotations

from collections.abc import Sequence

from robot_data_platform.core.run import RunInfo
from robot_data_platform.storage.catalog import EdgeRow, add_edges
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
