"""Dagster's pages as the outside reaches them: through the proxy."""

from __future__ import annotations

import json
import urllib.request
from base64 import b64encode
from dataclasses import dataclass, field
from typing import Any
from urllib.error import HTTPError

RUNS = """query($tags: [ExecutionTag!]) { runsOrError(filter: {tags: $tags}) { ... on Runs {
  results { runId status jobName tags { key value } stepStats { stepKey status } } } } }"""

MODELS = """{ assetOrError(assetKey: {path: ["trained_models"]}) { ... on Asset {
  assetMaterializations { metadataEntries { label ... on TextMetadataEntry { text } } } } } }"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What Dagster says of a run."""

    run_id: str
    job: str
    status: str
    status_by_step: dict[str, str]
    tags: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Web:
    """The proxy's address, and who asks."""

    url: str
    user: str
    password: str = field(repr=False)

    def status_of(self, path: str, body: dict[str, object], *, with_password: bool) -> int:
        """Return the HTTP status that a POST is answered with."""
        try:
            with self._post(path, body, with_password=with_password) as answer:
                return int(answer.status)
        except HTTPError as err:
            return err.code

    def runs(self, tag: str, value: str) -> list[Run]:
        """Return the runs with a tag, the latest first."""
        tags = [{"key": tag, "value": value}]
        found = self._ask(RUNS, {"tags": tags})["runsOrError"]["results"]
        return [
            Run(
                run_id=run["runId"],
                job=run["jobName"],
                status=run["status"],
                status_by_step={step["stepKey"]: step["status"] for step in run["stepStats"]},
                tags={tag["key"]: tag["value"] for tag in run["tags"]},
            )
            for run in found
        ]

    def reported_models(self) -> list[str]:
        """Return the models that were reported, the latest first."""
        events = self._ask(MODELS, {})["assetOrError"].get("assetMaterializations", [])
        return [
            entry["text"]
            for event in events
            for entry in event["metadataEntries"]
            if entry["label"] == "model"
        ]

    def _ask(self, query: str, variables: dict[str, object]) -> Any:  # noqa: ANN401 (JSON)
        body: dict[str, object] = {"query": query, "variables": variables}
        with self._post("/graphql", body, with_password=True) as answer:
            return json.load(answer)["data"]

    def _post(self, path: str, body: dict[str, object], *, with_password: bool) -> Any:  # noqa: ANN401
        headers = {"Content-Type": "application/json"}
        if with_password:
            token = b64encode(f"{self.user}:{self.password}".encode()).decode()
            headers["Authorization"] = f"Basic {token}"
        request = urllib.request.Request(
            self.url + path, data=json.dumps(body).encode(), headers=headers
        )
        return urllib.request.urlopen(request, timeout=60)
