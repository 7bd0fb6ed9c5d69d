"""The process that reads Lance tables of others: one line of JSON a request, one a reply.

Lance trusts what its files say, so that a single wrong byte may make it ask for more memory than
there is, which ends a process at once. This one may end.
"""

from __future__ import annotations

import base64
import json
import os
import re
import resource
import sys
from contextlib import ExitStack
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, cast

import lance
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lance.fragment import FragmentMetadata, LanceFragment

MAX_MEMORY_BYTES = 2 << 30
"""Writable memory of this process; tables are streamed through it in pieces of a few MiB."""
COPY_BYTES = 4 << 20
"""Bytes of a blob at a time."""
CACHE_BYTES = 64 << 20
"""Room for what Lance keeps of a table's metadata, and of its indices."""
EXTERNAL_BLOB = 3
"""Kind of a blob that lies elsewhere (Lance, blob v2 descriptors)."""
_SOURCE_POSITION = re.compile(r",? ?(?:/[\w.@-]+)+\.rs:\d+:\d+")

Reply = dict[str, object]


def open_table(folder: str) -> Reply:
    """Return what the latest version of a table is made of."""
    table = _open(folder, None)
    fragments = table.get_fragments()
    inside = not table.base_paths() and all(_is_plain(f.metadata) for f in fragments)
    return {
        "version": int(table.version),
        "schema": base64.b64encode(table.schema.serialize()).decode(),
        "is_inside": inside,
        "fragments": [_fragment(fragment) for fragment in fragments] if inside else [],
    }


def _is_plain(metadata: FragmentMetadata) -> bool:
    deleted = metadata.deletion_file
    is_at_home = all(
        file.base_id is None and PurePosixPath(file.path).name == file.path
        for file in metadata.files
    )
    return is_at_home and (deleted is None or deleted.base_id is None)


def _fragment(fragment: LanceFragment) -> tuple[int, int, list[str]]:
    number, deleted = int(fragment.fragment_id), fragment.metadata.deletion_file
    files = [f"data/{file.path}" for file in fragment.metadata.files]
    files += [deleted.path(number)] if deleted else []
    return number, int(fragment.count_rows()), files


def export_rows(
    folder: str,
    version: int,
    fragment: int,
    columns: Sequence[str],
    start: int,
    stop: int,
    step: int,
    target: str,
) -> Reply:
    """Write rows of a fragment to an Arrow stream file, ``step`` rows a batch; ``_rowid`` last."""
    table = _kept(folder, version)
    with ExitStack() as stack:
        stream = None
        for offset in range(start, stop, step):
            rows = _rows(table, fragment, columns, offset, min(step, stop - offset))
            if stream is None:
                file = stack.enter_context(pa.OSFile(target, "wb"))
                stream = stack.enter_context(pa.ipc.new_stream(file, rows.schema))
            stream.write_table(rows.combine_chunks())
    return {}


def _rows(
    table: lance.LanceDataset, fragment: int, columns: Sequence[str], offset: int, limit: int
) -> pa.Table:
    stored = table.get_fragment(fragment)
    if stored is None:
        raise ValueError(f"no fragment {fragment}")
    return table.scanner(
        columns=list(columns),
        fragments=[stored],
        offset=offset,
        limit=limit,
        with_row_id=True,
        scan_in_order=True,
        use_scalar_index=False,
    ).to_table()


def copy_blob(folder: str, version: int, column: str, row_id: int, target: str) -> Reply:
    """Write one blob to a file."""
    table = _kept(folder, version)
    _check_inside(table, column, row_id)
    (blob,) = table.take_blobs(column, ids=[row_id])
    if blob is None:
        raise ValueError(f"column {column!r} is null")
    with Path(target).open("wb") as out:
        while piece := blob.read(COPY_BYTES):
            out.write(piece)
    return {}


def _check_inside(table: lance.LanceDataset, column: str, row_id: int) -> None:
    described = table._take_rows([row_id], columns=[column])[column][0].as_py()
    if described and (described.get("kind") == EXTERNAL_BLOB or described.get("blob_uri")):
        raise ValueError(f"column {column!r} leads out of the table")


def _open(folder: str, version: int | None) -> lance.LanceDataset:
    return lance.dataset(
        folder,
        version=version,
        metadata_cache_size_bytes=CACHE_BYTES,
        index_cache_size_bytes=CACHE_BYTES,
    )


_kept = lru_cache(maxsize=4)(_open)

OPERATIONS: dict[str, Callable[..., Reply]] = {
    "open_table": open_table,
    "export_rows": export_rows,
    "copy_blob": copy_blob,
}


def _answer(request: dict[str, object]) -> Reply:
    operation = OPERATIONS[cast("str", request.pop("operation"))]
    if operation is open_table:
        _kept.cache_clear()  # the folder may hold other files than when it was last opened
    try:
        return operation(**request)
    except (OSError, ValueError, RuntimeError, MemoryError, KeyError, TypeError) as err:
        return {"error": _SOURCE_POSITION.sub("", f"{type(err).__name__}: {err}")}


def main() -> None:
    """Answer requests until the pipe is closed; what libraries print goes to stderr."""
    resource.setrlimit(resource.RLIMIT_DATA, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    with os.fdopen(os.dup(1), "w", buffering=1) as replies:
        os.dup2(2, 1)
        for line in sys.stdin:
            replies.write(json.dumps(_answer(json.loads(line))) + "\n")


if __name__ == "__main__":
    main()
