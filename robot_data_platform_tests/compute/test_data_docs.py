"""Data Docs of suites: pages in the lake on a disk and on S3, listed, and served to a browser."""

from __future__ import annotations

import shutil
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from robot_data_platform.cli.docs_server import docs_server
from robot_data_platform.compute.checks import CheckReport
from robot_data_platform.compute.data_docs import list_pages, read_page
from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.compute.registration import find_ingestion
from robot_data_platform.compute.suites import episodes_suite_holds, frames_suite_holds
from robot_data_platform.core.finding import Severity
from robot_data_platform.errors import NotFoundError
from robot_data_platform.storage.commit import rewrite_columns
from robot_data_platform.storage.lake import Lake
from robot_data_platform.testing.rawlog import RawlogShape
from robot_data_platform_tests.compute.uploads import SETTINGS, ingest, land, workplace
from robot_data_platform_tests.servers import S3Server

UPLOAD, DATASET = "u-fold", "fold"


def filled(place: Workplace) -> Workplace:
    land(place, DATASET, UPLOAD, RawlogShape(num_episodes=2, num_rows=12, cameras=("env",)))
    ingest(place, UPLOAD)
    return place


def suites_of(place: Workplace) -> list[CheckReport]:
    mine = find_ingestion(place, UPLOAD, SETTINGS)
    return [frames_suite_holds(mine), episodes_suite_holds(mine)]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    made = filled(workplace(tmp_path_factory.mktemp("docs")))
    suites_of(made)
    return made


def test_each_suite_has_a_page_beside_the_tables(place: Workplace) -> None:
    facts = list_pages(place.lake, DATASET)
    assert [(f["upload"], f["suite"]) for f in facts] == [(UPLOAD, "episodes"), (UPLOAD, "frames")]
    for each in facts:
        assert each["uri"].startswith(f"{place.lake_root}/{DATASET}/_data_docs/")
        assert Path(each["uri"]).read_text().startswith("<!DOCTYPE html>")


def test_a_page_names_the_expectations_that_ran(place: Workplace) -> None:
    page = Path(list_pages(place.lake, DATASET)[1]["uri"])
    assert "frame_index_step" in page.read_text()
    assert UPLOAD in page.parts


def test_checking_again_replaces_its_pages(place: Workplace) -> None:
    folder = Path(place.lake_root) / DATASET / "_data_docs"
    before = sorted(folder.rglob("*"))
    suites_of(place)
    assert sorted(folder.rglob("*")) == before


def test_a_broken_expectation_weighs_what_it_is_declared_to(
    place: Workplace, tmp_path: Path
) -> None:
    copy = str(shutil.copytree(place.lake_root, tmp_path / "lake"))
    episodes = Lake(copy).open(DATASET, "episodes")
    untold = pa.table({"episode_index": [0, 1], "task": pa.nulls(2, pa.string())})
    rewrite_columns(episodes.uri, untold, key="episode_index", properties={})
    there = Workplace(lake_root=copy, landing_root=place.landing_root)
    (_, report) = suites_of(there)
    assert (report.is_passed, report.severity) == (False, Severity.WARN)
    row = "| expect_column_values_to_not_be_null | task | warn | broken by 2 rows |"
    assert row in report.table


def test_no_other_file_of_the_lake_is_read_as_a_page(place: Workplace) -> None:
    for key in (
        f"{DATASET}/episodes.lance/_versions/1.manifest",
        f"{DATASET}/_data_docs/x/frames/../../../secret.html",
        f"{DATASET}/_data_docs/index.html",
        "/etc/passwd.html",
    ):
        with pytest.raises(NotFoundError, match="no page of Data Docs"):
            read_page(place.lake, key)


@pytest.fixture
def address(place: Workplace) -> Iterator[str]:
    with docs_server(place.lake, "127.0.0.1", 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_browser_is_shown_the_page(place: Workplace, address: str) -> None:
    facts = list_pages(place.lake, DATASET)[0]
    with urllib.request.urlopen(f"{address}/{facts['key']}") as answer:
        assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
        assert answer.read() == Path(facts["uri"]).read_bytes()


@pytest.mark.parametrize("path", ["/", "/fold/episodes.lance/x.html", "/fold/%2e%2e/x.html"])
def test_a_browser_is_shown_nothing_else(address: str, path: str) -> None:
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(address + path)


def test_on_s3_the_page_is_an_object_that_the_same_server_shows(
    s3_environment: S3Server, tmp_path: Path
) -> None:
    bucket = s3_environment.make_bucket("docs")
    there = Workplace(lake_root=f"{bucket}/lake", landing_root=str(tmp_path / "landing"))
    (report, _) = suites_of(filled(there))
    facts = list_pages(Lake(there.lake_root), DATASET)[1]
    assert facts["uri"] == f"{bucket}/lake/{report.page_key}"
    assert read_page(Lake(there.lake_root), facts["key"]).startswith(b"<!DOCTYPE html>")
