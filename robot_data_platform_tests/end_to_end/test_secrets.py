"""Ingestions on S3 with keys that are easy to find again, and a search for them in everything."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from robot_data_platform.testing.rawlog import Draw, RawlogShape, write_rawlog
from robot_data_platform_tests.conftest import REPOSITORY
from robot_data_platform_tests.end_to_end import secret_runs
from robot_data_platform_tests.servers import S3Server
from robot_data_platform_tests.telemetry.receivers import webhook_server
from robot_data_platform_tests.video.videos import write_video

BUCKET = "lab-secrets"
SHAPE = RawlogShape(num_episodes=2, num_rows=6, cameras=("env",), faults={0: "truncated_video"})
WRONG = {
    "AWS_ACCESS_KEY_ID": "AKIAWRONGBUTEASYTOFIND",
    "AWS_SECRET_ACCESS_KEY": "wrong/secret+that=is/easy/to/find/again",
    "AWS_SESSION_TOKEN": "FwoGZXIvYXdzEASY+session/token==to-find",
}
WEBHOOK_PATH = "very-secret-path"
pytestmark = pytest.mark.timeout(900)


def _video(path: Path, num_frames: int, draw: Draw) -> Path:
    return write_video(path, num_frames, picture=draw)


@dataclass(frozen=True)
class Everything:
    """What was said and written, by where it was found, and the secrets that may be nowhere."""

    texts: dict[str, bytes]
    secrets: dict[str, str]
    alerts: list[dict[str, Any]]

    def places_of(self, secret: str) -> list[str]:
        """Return where a secret is found, as it is or quoted for a URL."""
        needles = {secret.encode(), quote(secret, safe="").encode()}
        return [name for name, text in self.texts.items() if any(n in text for n in needles)]


@pytest.fixture(scope="module")
def everything(s3_server: S3Server, tmp_path_factory: pytest.TempPathFactory) -> Everything:
    folder = tmp_path_factory.mktemp("secrets")
    bucket = s3_server.make_bucket(BUCKET)
    write_rawlog(folder / "fold", SHAPE, _video)
    for name in ("dagster.yaml", "workspace.yaml"):
        (folder / name).write_text((REPOSITORY / name).read_text())
    texts = {}
    with webhook_server() as hook:
        settings = {"RDP_LOG_LEVEL": "DEBUG", "RDP_ALERT_WEBHOOK_URL": hook.url}
        right = s3_server.environment | settings
        texts["output of good"] = _output(folder, "good", bucket, right)
        texts["output of bad"] = _output(folder, "bad", bucket, right | WRONG)
    texts |= {str(p): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    texts |= dict(_objects(s3_server))
    texts["alerts"] = json.dumps(hook.received).encode()
    secrets = {
        "access key": s3_server.access_key,
        "secret key": s3_server.secret_key,
        "webhook": WEBHOOK_PATH,
        **WRONG,
    }
    return Everything(texts, secrets, hook.received)


def _output(folder: Path, mode: str, bucket: str, environment: dict[str, str]) -> bytes:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "RDP_", "DAGSTER_"))}
    done = subprocess.run(
        [sys.executable, "-m", secret_runs.__name__, mode, bucket],
        cwd=folder,
        env={**kept, "PYTHONPATH": str(REPOSITORY), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    assert done.returncode == 0, done.stdout.decode()[-3000:]
    return done.stdout


def _objects(server: S3Server) -> Iterator[tuple[str, bytes]]:
    for page in server.client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET):
        for item in page.get("Contents", ()):
            body = server.client.get_object(Bucket=BUCKET, Key=item["Key"])["Body"]
            yield f"s3 {item['Key']}", body.read()


@pytest.mark.parametrize(
    "secret", ["access key", "secret key", "webhook", *sorted(WRONG)], ids=lambda name: name
)
def test_no_secret_is_anywhere(everything: Everything, secret: str) -> None:
    assert everything.places_of(everything.secrets[secret]) == []


@pytest.mark.parametrize(
    ("place", "said"),
    [
        # What shows that the search looks where something is: logs, errors, events, lake, landing.
        ("output of good", "is quarantined"),
        ("output of good", '"message": "The run begins.", "run_id": "'),
        ("output of good", ": The run begins. [run_id="),
        ("output of bad", "store-denied"),
        ("alerts", "store-denied"),
    ],
)
def test_what_is_searched_tells_of_the_runs(everything: Everything, place: str, said: str) -> None:
    assert said in everything.texts[place].decode()


@pytest.mark.parametrize("part", [".dagster/", "s3 lake/fold/gops.lance/", "s3 landing/_uploads/"])
def test_the_search_reaches_events_lake_and_landing(everything: Everything, part: str) -> None:
    assert [name for name in everything.texts if part in name] != []


def test_alerts_tell_of_the_failures_and_of_the_quarantine(everything: Everything) -> None:
    told = [(alert["event"], alert["error_kind"]) for alert in everything.alerts]
    assert ("episodes-quarantined", "video-unreadable") in told
    assert ("run-failed", "store-denied") in told
