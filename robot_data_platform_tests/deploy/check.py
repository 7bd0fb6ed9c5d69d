"""The deployment check: all of ``compose.yaml``, a robot, a crash, a training, a question."""

from __future__ import annotations

import json
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from robot_data_platform_tests.deploy.operator_cli import Operator
from robot_data_platform_tests.deploy.processes import MARK, NotWellError, members, wait_until
from robot_data_platform_tests.deploy.programs import base_environment, caddy
from robot_data_platform_tests.deploy.robot import refusals, s3_client, upload
from robot_data_platform_tests.deploy.settings import (
    ROBOT_DATASET,
    STRANGER_DATASET,
    Settings,
    make_settings,
)
from robot_data_platform_tests.deploy.stack import Stack, say, started
from robot_data_platform_tests.deploy.trainer import REPOSITORY, install_reader, train
from robot_data_platform_tests.deploy.web import Run, Web

SAMPLES = REPOSITORY / "robot_data_platform_tests" / "samples" / "data"
UPLOAD = f"20260101t120000z-{ROBOT_DATASET}-0000"
MODEL = "pick-policy"
INGEST_TIMEOUT_S = 400
"""From the marker to the release, with a crash in between, on a busy machine."""


@dataclass(kw_only=True)
class Check:
    """One run of the check on a stack that is up."""

    stack: Stack
    settings: Settings
    seconds_by_step: dict[str, float] = field(default_factory=dict)

    def run(self, reader: Future[Path]) -> None:
        """Do every step; the first that fails ends the check, and what is known is told."""
        try:
            self._run(reader)
        except BaseException:
            self._tell_state()
            raise

    def _run(self, reader: Future[Path]) -> None:
        self._timed("strangers are refused", self.refuse_strangers)
        self._timed("a robot uploads", self.upload_as_robot)
        self._timed("daemon and code location are killed", self.crash)
        self._timed("the upload is ingested and released", self.wait_for_release)
        self._timed("the new daemon is well", lambda: self.stack.wait_until_well("daemon"))
        self._timed("everything is there once", self.count)
        self._timed("a model is trained and reported", lambda: self.train(reader.result()))
        self._timed("its lineage is told", self.ask_lineage)

    def refuse_strangers(self) -> None:
        """Nobody without a password writes to the catalog, or reads a page."""
        for path in ("/report_asset_materialization/trained_models", "/graphql"):
            assert self._web.status_of(path, {}, with_password=False) == 401, path

    def upload_as_robot(self) -> None:
        """Upload with a robot's keys, and try what they must not allow."""
        robot = s3_client(self._s3_url, self.settings.robot_keys)
        upload(robot, SAMPLES / ROBOT_DATASET, ROBOT_DATASET, UPLOAD)
        answers = refusals(robot, ROBOT_DATASET, UPLOAD, STRANGER_DATASET)
        expected = dict.fromkeys(answers, "AccessDenied")
        assert answers == expected | {"write over a marker": "PreconditionFailed"}, answers

    def crash(self) -> None:
        """Kill both in the middle of the encoding, look, and start them again."""
        wait_until("video is being cut", self._is_cutting, INGEST_TIMEOUT_S, pause_s=0.1)
        self.stack.kill("daemon", "code-location")
        assert self._operator.rdp("datasets") == [], "half an upload shows"
        for name in ("code-location", "daemon"):
            self.stack.start(name)
        self.stack.wait_until_well("code-location")

    def wait_for_release(self) -> None:
        """Wait for what the sensors do by themselves."""
        wait_until("the ingestion ends", self._is_ingested, INGEST_TIMEOUT_S, pause_s=1)
        wait_until("it is released", self._is_released, INGEST_TIMEOUT_S, pause_s=1)

    def count(self) -> None:
        """Every episode and row of the upload is there once, and one run says so."""
        truth = json.loads((SAMPLES / "TRUTH.json").read_text())["datasets"][ROBOT_DATASET]
        rows = {each["source_episode_index"]: each["rows"] for each in truth["episodes"]}
        sound = [each["rows"] for each in truth["episodes"] if each["defect"] is None]
        episodes = self._operator.rdp("episodes", ROBOT_DATASET)
        assert sorted(each["source_episode_index"] for each in episodes) == sorted(rows)
        assert len({each["episode_id"] for each in episodes}) == len(rows)
        assert all(each["rows"] == rows[each["source_episode_index"]] for each in episodes)
        statuses = sorted(run.status for run in self._ingestions())
        assert statuses == ["FAILURE", "SUCCESS"], f"runs of the upload ended as {statuses}"
        verified = self._operator.rdp("release", "verify", ROBOT_DATASET, self._release)
        assert verified["problems"] == []
        assert (verified["num_episodes"], verified["num_rows"]) == (len(sound), sum(sound))

    def train(self, python: Path) -> None:
        """Train where only the reader is, with keys that can read and record, and report it."""
        environment = {
            **self._aws("training"),
            "RDP_LAKE": "s3://rdp-lake",
            "DAGSTER_URL": self._web.url,
            "RDP_DAGSTER_USER": self._web.user,
            "RDP_DAGSTER_PASSWORD": self._web.password,
        }
        say(train(python, ROBOT_DATASET, self._release, MODEL, environment).strip())
        assert self._web.reported_models() == [MODEL]

    def ask_lineage(self) -> None:
        """Ask the lake, not Dagster, what the model was trained on."""
        told = self._operator.rdp("lineage", MODEL)
        assert (told["model"], told["release"]) == (MODEL, self._release)
        assert told["uploads"] == [UPLOAD]
        assert {source["path"] for source in told["sources"]} >= {"meta/info.json"}
        assert all(source["sha256"] for source in told["sources"])

    def _tell_state(self) -> None:
        with suppress(OSError):
            for run in self._ingestions():
                say(str(run))
        for name in ("daemon", "code-location"):
            if name in self.stack.running:
                say(f"{name} said last:\n{self.stack.running[name].tail()}")

    def _timed(self, step: str, do: Callable[[], None]) -> None:
        began = time.monotonic()
        do()
        self.seconds_by_step[step] = time.monotonic() - began
        say(f"{step} ({self.seconds_by_step[step]:.1f} s)")

    def _is_cutting(self) -> bool:
        runs = self._ingestions()
        ended = [run for run in runs if run.status in {"SUCCESS", "FAILURE"}]
        if ended:
            raise NotWellError(f"the ingestion ended before it could be killed: {ended}")
        return any(run.status_by_step.get("gop_video") == "IN_PROGRESS" for run in runs)

    def _is_ingested(self) -> bool:
        self.stack.restart_ended()
        runs = self._ingestions()
        failed = [run for run in runs if run.status == "FAILURE"]
        if len(failed) > 1:
            raise NotWellError(f"the ingestion failed again: {failed}")
        return any(run.status == "SUCCESS" for run in runs)

    def _is_released(self) -> bool:
        self.stack.restart_ended()
        runs = self._web.runs("rdp/dataset", ROBOT_DATASET)
        return any(run.job == "release_dataset" and run.status == "SUCCESS" for run in runs)

    def _ingestions(self) -> list[Run]:
        return self._web.runs("rdp/upload", UPLOAD)

    @cached_property
    def _release(self) -> str:
        release = self._operator.release_of(ROBOT_DATASET)
        assert release is not None
        return release

    @cached_property
    def _s3_url(self) -> str:
        return self.stack.sandbox.url("9000")

    @cached_property
    def _web(self) -> Web:
        return Web(
            url=self.stack.sandbox.url("80"),
            user=self.settings.environment["RDP_WEB_USER"],
            password=self.settings.web_password,
        )

    @cached_property
    def _operator(self) -> Operator:
        places = {"RDP_LAKE": "s3://rdp-lake", "RDP_LANDING": "s3://rdp-landing"}
        return Operator(environment={**base_environment(), **self._aws("platform"), **places})

    def _aws(self, role: str) -> dict[str, str]:
        access_key, secret_key = self.settings.keys(role)
        return {
            "AWS_ENDPOINT_URL": self._s3_url,
            "AWS_ACCESS_KEY_ID": access_key,
            "AWS_SECRET_ACCESS_KEY": secret_key,
            "AWS_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }


def run_check() -> dict[str, float]:
    """Run the check in a sandbox of its own and return the seconds of each step."""
    settings = _settings()
    with _folder() as root, ThreadPoolExecutor(1) as pool:
        reader = pool.submit(install_reader, root / "reader")
        began = time.monotonic()
        with started(root, settings) as stack:
            check = Check(stack=stack, settings=settings)
            check.seconds_by_step["all services are well"] = time.monotonic() - began
            check.run(reader)
        _assert_nothing_is_left(stack, root)
        _assert_no_log_shows(settings.secrets, root)
    return check.seconds_by_step


def _settings() -> Settings:
    password = secrets.token_urlsafe(16)
    command = [str(caddy()), "hash-password", "--plaintext", password]
    hashed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    return make_settings(hashed, password)


@contextmanager
def _folder() -> Iterator[Path]:
    """Yield a folder with a short path, kept where the check fails."""
    root = Path(tempfile.mkdtemp(prefix="rdp-deploy-"))
    # PostgreSQL has another user, who has to reach its folder.
    root.chmod(0o711)
    try:
        yield root
    except BaseException:
        say(f"logs and data are kept in {root}")
        raise
    shutil.rmtree(root)


def _assert_nothing_is_left(stack: Stack, root: Path) -> None:
    left = members(f"{MARK}={root}")
    assert not left, f"processes are left: {left}"
    for port in stack.sandbox.port_by_port.values():
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", int(port)))


def _assert_no_log_shows(hidden: set[str], root: Path) -> None:
    for log in root.glob("containers/*/*.log"):
        text = log.read_text(errors="replace")
        assert not any(secret in text for secret in hidden), f"{log.name} shows a secret"
