"""An ephemeral Dagster instance, and a landing folder that markers are put into."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import dagster as dg
import pytest

from robot_data_platform.defs.resources import Platform
from robot_data_platform.storage.landing import Landing, Manifest

Put = Callable[..., Manifest]


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


@pytest.fixture
def platform(tmp_path: Path) -> Platform:
    return Platform(lake=str(tmp_path / "lake"), landing=str(tmp_path / "landing"), num_workers=1)


@pytest.fixture
def put(platform: Platform, tmp_path: Path) -> Put:
    """Put an upload of one small file; its content is the text given."""

    def put_upload(upload: str, content: str = "x", dataset: str = "pick") -> Manifest:
        source = tmp_path / "source" / upload
        source.mkdir(parents=True, exist_ok=True)
        (source / "file.txt").write_text(content)
        return Landing(platform.landing).put(source, dataset, upload)

    return put_upload
