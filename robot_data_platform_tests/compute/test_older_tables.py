"""A lake that an older release made gets the columns that came since."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from robot_data_platform.compute.older_tables import with_columns_of
from robot_data_platform.core.catalog_schema import uploads_schema
from robot_data_platform.core.schema import episodes_schema, gops_schema
from robot_data_platform.storage.creation import create_table, with_blob_column
from robot_data_platform.testing.rawlog import RawlogShape
from robot_data_platform_tests.compute.test_calibrations import PROFILE, calibrations
from robot_data_platform_tests.compute.uploads import (
    assert_holds,
    ingest,
    land,
    workplace,
)

if TYPE_CHECKING:
    import pyarrow as pa

SHAPE = RawlogShape(num_episodes=2, num_rows=12)
NEW = {"gops": "calibration_json", "episodes": "calibrations_json", "uploads": "conventions_json"}


def without(schema: pa.Schema, column: str) -> pa.Schema:
    return schema.remove(schema.get_field_index(column))


def test_an_older_lake_takes_uploads_with_all_that_is_new(tmp_path: Path) -> None:
    place = workplace(tmp_path)
    lake = place.lake
    uris = {
        "gops": lake.table_uri("robot", "gops"),
        "episodes": lake.table_uri("robot", "episodes"),
        "uploads": lake.catalog_uri("uploads"),
    }
    create_table(uris["gops"], with_blob_column(without(gops_schema(), NEW["gops"])))
    create_table(uris["episodes"], without(episodes_schema(), NEW["episodes"]))
    create_table(uris["uploads"], without(uploads_schema(), NEW["uploads"]))
    episodes = land(place, "robot", "u1", SHAPE, PROFILE.replace("rename: scene", ""))
    ingest(place, "u1")
    for known in calibrations(place, "u1"):
        assert sorted(known or ()) == ["env", "wrist"]
    (row,) = lake.ensure_catalog("uploads").read(["conventions_json"]).to_pylist()
    assert '"control_hz": 50.0' in row["conventions_json"]
    assert_holds(place, "robot", "u1", episodes)


@pytest.mark.parametrize("schema", [episodes_schema, uploads_schema])
def test_a_table_that_has_every_column_is_left_as_it_is(
    tmp_path: Path, schema: Callable[[], pa.Schema]
) -> None:
    table = create_table(str(tmp_path / "t.lance"), schema())
    assert with_columns_of(table, schema()) is table
