"""A synthetic lake as ingestion leaves it: a fragment for each upload in every table."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from robot_data_platform.storage.catalog import EdgeRow, add_edges
from robot_data_platform.storage.commit import append_rows, commit_fragments, write_rows
from robot_data_platform.storage.lake import Lake
from robot_data_platform_tests.scale.columns import filled
from robot_data_platform_tests.scale.synthetic import Upload, upload_tables
from robot_data_platform_tests.scale.template import DATASET, Template, ingest_template

Say = Callable[[str], None]

READS = {
    "gops": ("uploads",),
    "frames": ("gops",),
    "episodes": ("gops", "frames", "quality"),
    "quality": ("episodes", "frames", "gops"),
    "spatial": ("episodes", "frames", "gops"),
}
"""What each asset reads, by the table that it writes."""
ASSET_OF = {"gops": "gop_video", "quality": "quality_results", "spatial": "spatial_results"}
UPLOADS_PER_COMMIT = 20
"""Fewer commits than ingestion makes, which changes how long building takes and nothing else."""
DONE = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How large a lake is."""

    num_episodes: int
    num_uploads: int

    def uploads(self) -> Iterator[Upload]:
        """Yield the uploads; index 0 is the template's."""
        bounds = [
            1 + self.num_episodes * number // self.num_uploads
            for number in range(self.num_uploads + 1)
        ]
        for number, (first, stop) in enumerate(itertools.pairwise(bounds)):
            yield Upload(number=number, first_episode_index=first, num_episodes=stop - first)


def built(folder: Path, shape: Shape, say: Say) -> Path:
    """Return a folder with ``lake`` and ``landing`` of a shape; made where it is not there yet."""
    if not (folder / DONE).is_file():
        shutil.rmtree(folder, ignore_errors=True)
        build(folder, shape, say)
        (folder / DONE).touch()
    return folder


def build(folder: Path, shape: Shape, say: Say) -> None:
    """Write a lake of a shape below ``folder``."""
    template = ingest_template(folder)
    lake = Lake(folder / "lake")
    uploads = list(shape.uploads())
    for first in range(0, len(uploads), UPLOADS_PER_COMMIT):
        say(f"{shape.num_episodes:,} episodes: upload {first} of {shape.num_uploads}")
        add_uploads(lake, template, uploads[first : first + UPLOADS_PER_COMMIT])


def add_uploads(lake: Lake, template: Template, uploads: Sequence[Upload]) -> None:
    """Write the rows of some uploads: a fragment each in every table, and one commit a table."""
    fragments: dict[str, list[str]] = {}
    for upload in uploads:
        for name, rows in upload_tables(template, upload).items():
            new = write_rows(lake.table_uri(DATASET, name), rows.schema, rows.to_batches())
            fragments.setdefault(name, []).extend(new)
    versions = {"uploads": _register(lake, template, uploads)}
    for name, new in fragments.items():
        uri = lake.table_uri(DATASET, name)
        versions[name] = commit_fragments(uri, new, properties={}).version
    versions["spatial"] = lake.open(DATASET, "spatial").version
    edges = [edge for upload in uploads for edge in _edges(upload, versions)]
    add_edges(lake, edges, {})


def _register(lake: Lake, template: Template, uploads: Sequence[Upload]) -> int:
    table = lake.ensure_catalog("uploads")
    columns = {
        "ingestion_id": [upload.ingestion_id for upload in uploads],
        "upload": [upload.name for upload in uploads],
        "first_episode_index": [upload.first_episode_index for upload in uploads],
        "num_episodes": [upload.num_episodes for upload in uploads],
        "created_ns": [upload.created_ns for upload in uploads],
        "run_id": [upload.run_id for upload in uploads],
    }
    rows = filled(table.schema, columns, template.upload, len(uploads))
    return append_rows(table.uri, rows, properties={}).version


def _edges(upload: Upload, versions: dict[str, int]) -> list[EdgeRow]:
    """Return the edges of every asset of one upload."""
    return [
        EdgeRow(
            asset=ASSET_OF.get(table, table),
            dataset=DATASET,
            partition=upload.name,
            output_table=table,
            output_version=versions[table],
            input_table=read,
            input_version=str(versions[read]),
            run_id=upload.run_id,
            code_version="0",
            created_ns=upload.created_ns,
        )
        for table, reads in READS.items()
        for read in reads
    ]


def linked(source: Path, target: Path) -> Path:
    """Return a copy of a lake made of hard links: what Lance wrote once is never written again."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, copy_function=os.link)
    return target
