from __future__ import annotations

import json
import logging
import threading
from base64 import b64encode
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.request import Request, urlopen

import pytest

from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.lineage import dagster_report
from robot_data_platform.lineage.models import training_run
from robot_data_platform.storage.catalog import find_model
from robot_data_platform_tests.curation.small_lake import SmallLake
from robot_data_platform_tests.servers import free_ports

EVENTS = """{ assetsOrError { ... on AssetConnection { nodes {
  key { path }
  assetMaterializations { tags { key value } metadataEntries { label
    ... on TextMetadataEntry { text } ... on FloatMetadataEntry { floatValue }
    ... on JsonMetadataEntry { jsonString } } }
} } } }"""


def materializations(url: str) -> dict[str, list[dict[str, dict[str, object]]]]:
    """Return tags and metadata of what the server holds, by asset."""
    request = Request(
        f"{url}/graphql",
        data=json.dumps({"query": EVENTS}).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urlopen(request, timeout=30) as response:
        nodes = json.load(response)["data"]["assetsOrError"]["nodes"]
    return {
        node["key"]["path"][0]: [
            {
                "tags": {tag["key"]: tag["value"] for tag in event["tags"]},
                "metadata": {entry.pop("label"): entry for entry in event["metadataEntries"]},
            }
            for event in node["assetMaterializations"]
        ]
        for node in nodes
    }


def test_a_model_is_a_materialization_of_trained_models(
    released: SmallLake, dagster_server: str
) -> None:
    with training_run(
        released.lake, "aloha", "v1", model="m", dagster_url=dagster_server + "/"
    ) as run:
        run.log_metrics(loss=0.5, worst=float("inf"))
    event = materializations(dagster_server)["trained_models"][0]
    digest = find_model(released.lake, "m")["release_digest"]
    assert event["tags"]["dagster/data_version"] == f"m@{digest}"
    assert event["metadata"]["release"] == {"text": "v1"}
    assert event["metadata"]["metric/loss"] == {"floatValue": 0.5}
    assert event["metadata"]["metric/worst"] == {"text": "inf"}
    assert json.loads(str(event["metadata"]["lance/reads"]["jsonString"])) == run.versions  # type: ignore[index]


def test_a_server_without_the_asset_gets_no_stray_one(
    dagster_server: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(dagster_report, "ASSET", "unknown_models")
    with caplog.at_level(logging.WARNING):
        assert not dagster_report.report_model(dagster_server, data_version="m@1", metadata={})
    assert "no asset 'unknown_models'" in caplog.text
    assert "unknown_models" not in materializations(dagster_server)


def test_a_server_that_is_away_costs_a_warning_and_no_record(
    released: SmallLake, caplog: pytest.LogCaptureFixture
) -> None:
    (port,) = free_ports(1)
    url = f"http://127.0.0.1:{port}"
    with (
        caplog.at_level(logging.WARNING),
        training_run(released.lake, "aloha", "v1", model="m", dagster_url=url),
    ):
        pass
    assert find_model(released.lake, "m")["release"] == "v1"
    assert "did not take the report" in caplog.text


@pytest.mark.parametrize("url", ["ftp://host", "http://", "host:3000", "http://me:secret@host"])
def test_an_address_of_another_form_is_refused_without_telling_it(url: str) -> None:
    with pytest.raises(InvalidInputError, match="expected http://host:port") as caught:
        dagster_report.check_server_url(url)
    assert caught.value.kind is ErrorKind.INVALID_URI
    assert "secret" not in str(caught.value)


class Proxy(BaseHTTPRequestHandler):
    """Knows every asset, and writes down what each request says of who asks."""

    seen: list[str | None]

    def do_POST(self) -> None:
        self.seen.append(self.headers["Authorization"])
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"__typename": "AssetNode"}')

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def proxy() -> Iterator[tuple[str, list[str | None]]]:
    """The address of a proxy, and who asked it."""
    seen: list[str | None] = []
    handler = type("Recording", (Proxy,), {"seen": seen})
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", seen
        server.shutdown()
        thread.join()


def test_a_proxy_gets_the_password_of_the_environment(
    proxy: tuple[str, list[str | None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, seen = proxy
    monkeypatch.setenv("RDP_DAGSTER_USER", "lab")
    monkeypatch.setenv("RDP_DAGSTER_PASSWORD", "a:b")
    assert dagster_report.report_model(url, data_version="1", metadata={})
    assert seen == ["Basic " + b64encode(b"lab:a:b").decode()] * 2


def test_without_a_user_no_password_is_sent(
    proxy: tuple[str, list[str | None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, seen = proxy
    monkeypatch.delenv("RDP_DAGSTER_USER", raising=False)
    assert dagster_report.report_model(url, data_version="1", metadata={})
    assert seen == [None, None]
