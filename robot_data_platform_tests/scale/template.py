"""One real upload, ingested by the platform's own steps; every other row is made after its rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robot_data_platform.core.measurement_schema import MEASUREMENTS
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.table import LakeTable
from robot_data_platform.testing.rawlog import RawlogShape
from robot_data_platform_tests.compute.uploads import ingest, land, workplace

if TYPE_CHECKING:
    import pyarrow as pa

DATASET = "fleet"
TEMPLATE_UPLOAD = "20250101t000000z-fleet-0000"
SHAPE = RawlogShape(num_episodes=1, num_rows=3, cameras=("wrist",), rows_per_picture=1)
"""Three rows, and a picture for each: one GOP."""

Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """The rows of one episode in every table, and the tables."""

    tables: dict[str, LakeTable]
    gop: Row
    blob: bytes
    frame: Row
    episode: Row
    measurements: list[Row]
    """Of the episode, and of its camera."""
    upload: Row

    def schema(self, table: str) -> pa.Schema:
        """Return the columns of a table of the dataset."""
        return self.tables[table].schema


def ingest_template(folder: Path) -> Template:
    """Ingest the template into a new lake below ``folder`` and return what it became."""
    place = workplace(folder)
    land(place, DATASET, TEMPLATE_UPLOAD, SHAPE)
    ingest(place, TEMPLATE_UPLOAD)
    return read_template(place.lake)


def read_template(lake: Lake) -> Template:
    """Return the template of a lake that has nothing else yet."""
    names = ("gops", "frames", "episodes", "quality", "spatial", MEASUREMENTS)
    tables = {name: lake.open(DATASET, name) for name in names}
    gops = tables["gops"].read(with_row_id=True)
    gop, *others = gops.to_pylist()
    if others:
        raise RuntimeError(f"The template has {gops.num_rows} GOPs: expected one.")
    (episode,) = tables["episodes"].read().to_pylist()
    (upload,) = lake.ensure_catalog("uploads").read().to_pylist()
    return Template(
        tables=tables,
        gop=gop,
        blob=tables["gops"].read_blobs(gops["_rowid"].to_numpy())[0],
        frame=tables["frames"].read().to_pylist()[0],
        episode=episode,
        measurements=tables[MEASUREMENTS].read().to_pylist(),
        upload=upload,
    )
