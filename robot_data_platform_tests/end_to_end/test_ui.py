"""What a person sees: Dagster's pages on the demonstration's instance, in a real browser."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from robot_data_platform_tests.end_to_end.browser import chromium, dagster_dev
from robot_data_platform_tests.end_to_end.conftest import Demonstration

if TYPE_CHECKING:
    from selenium import webdriver

ASSETS = {
    *("raw_episodes", "gop_video", "frames", "episodes", "quality_results", "spatial_results"),
    *("curated_splits", "dataset_release", "trained_models"),
}
WAIT_S = 60
LATEST = """{ assetNodes { assetKey { path } assetMaterializations(limit: 1) { timestamp } } }"""


@pytest.fixture(scope="module")
def address(demonstration: Demonstration) -> Iterator[str]:
    with dagster_dev(demonstration.folder) as served:
        yield served


@pytest.fixture(scope="module")
def page(address: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    with chromium(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


def query(address: str, text: str) -> dict[str, Any]:
    request = urllib.request.Request(
        f"{address}/graphql",
        data=json.dumps({"query": text}).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=WAIT_S) as answer:
        data: dict[str, Any] = json.loads(answer.read())["data"]
    return data


def shows(page: webdriver.Chrome, *texts: str) -> bool:
    """Wait until the page shows every text."""

    def are_there(browser: webdriver.Chrome) -> bool:
        body = browser.find_element(By.TAG_NAME, "body").text
        return all(text in body for text in texts)

    return bool(WebDriverWait(page, WAIT_S).until(are_there))


def test_every_asset_is_materialized(address: str) -> None:
    nodes = query(address, LATEST)["assetNodes"]
    done = {n["assetKey"]["path"][0] for n in nodes if n["assetMaterializations"]}
    assert done == ASSETS


def test_the_graph_shows_the_groups_from_ingest_to_models(
    page: webdriver.Chrome, address: str
) -> None:
    page.get(f"{address}/asset-groups")
    assert shows(page, "ingest", "tables", "quality", "curation", "models")


def test_a_materialization_shows_its_lance_version(page: webdriver.Chrome, address: str) -> None:
    page.get(f"{address}/assets/gop_video?view=events")
    assert shows(page, "lance/version", "lance/reads", "gops.lance")


def test_a_contact_sheet_shows_as_a_picture(page: webdriver.Chrome, address: str) -> None:
    page.get(f"{address}/assets/gop_video?view=events")
    shows(page, "[Show Markdown]")
    page.find_element(By.XPATH, "//*[text()='[Show Markdown]']").click()
    picture = WebDriverWait(page, WAIT_S).until(
        lambda browser: browser.find_element(By.CSS_SELECTOR, "img[src^='data:image/']")
    )
    width = page.execute_script("return arguments[0].naturalWidth", picture)
    assert width > 100


def test_the_checks_show_what_they_found(page: webdriver.Chrome, address: str) -> None:
    page.get(f"{address}/assets/frames?view=checks")
    assert shows(page, "frames_are_contiguous", "references_resolve", "out of order")


def test_the_model_shows_the_release_it_came_from(page: webdriver.Chrome, address: str) -> None:
    page.get(f"{address}/assets/trained_models?view=events")
    assert shows(page, "release_digest", "train_rmse")


def test_the_sensors_and_the_schedule_are_there(page: webdriver.Chrome, address: str) -> None:
    page.get(f"{address}/automation")
    assert shows(page, "new_uploads", "release_after_ingest", "nightly_maintenance")
