"""`--allow-pickle`: the permission to read pickles goes with the upload to whoever ingests it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robot_data_platform.compute.ingestion import (
    Workplace,
    list_tasks,
    open_ingestion_source,
    read_recording,
)
from robot_data_platform.compute.registration import register_upload
from robot_data_platform.core.run import RunInfo
from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.formats.profile import load_profile
from robot_data_platform.storage.landing import Landing
from robot_data_platform.video.settings import GopSettings
from robot_data_platform_tests.cli.rdp import rdp
from robot_data_platform_tests.formats.pickle_files import episode, state, write_pickle
from robot_data_platform_tests.formats.reading import signal

OWN = "robot: adroit\ncontrol_hz: 20\njoints: {unit: rad}\n"
RUN = RunInfo(run_id="r", asset="raw_episodes", code_version="1", created_ns=0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a pickle of two demonstrations, and a profile beside them."""
    write_pickle(tmp_path / "demos" / "door.pkl", [episode(), episode(start=10.0)])
    (tmp_path / "demos" / "profile.yaml").write_text(OWN)
    return tmp_path


def test_a_look_without_permission_is_refused_with_the_reason(folder: Path) -> None:
    done = rdp(folder, "inspect", "demos")
    assert done.exit_code == 1
    assert "is a Python pickle: got no permission to read it, expected `--allow-pickle`" in done.err


def test_a_look_with_permission_shows_every_episode_at_the_sources_own_rate(folder: Path) -> None:
    done = rdp(folder, "inspect", "demos", "--allow-pickle", "--json")
    assert done.exit_code == 0
    report = done.json()
    assert (report["format"], len(report["episodes"])) == ("pickle", 2)
    rates = {s["clock"]["rate_hz"] for e in report["episodes"] for s in e["signals"]}
    assert rates == {20.0}


def marker_profile(folder: Path, *arguments: str) -> str | None:
    done = rdp(folder, "upload", "demos", "--dataset", "door", *arguments, "--json")
    return Landing(folder / ".rdp" / "landing").manifest(done.json()["upload"]).profile


def test_the_permission_is_added_to_the_sources_own_profile(folder: Path) -> None:
    stated = load_profile(marker_profile(folder, "--allow-pickle") or "")
    assert stated == load_profile(OWN + "allow_pickle: true\n")


def test_the_permission_is_added_to_a_given_profile(folder: Path) -> None:
    (folder / "given.yaml").write_text("control_hz: 0.000001\n")
    text = marker_profile(folder, "--profile", "given.yaml", "--allow-pickle")
    assert load_profile(text or "") == load_profile("control_hz: 0.000001\nallow_pickle: true\n")


def test_without_it_a_given_profile_is_kept_to_the_letter(folder: Path) -> None:
    (folder / "given.yaml").write_text("control_hz: 30  # by the manual\n")
    assert marker_profile(folder, "--profile", "given.yaml") == "control_hz: 30  # by the manual\n"
    assert marker_profile(folder) is None


def test_an_ingestion_reads_the_pickle_with_the_permission_of_its_upload(folder: Path) -> None:
    upload = rdp(folder, "upload", "demos", "--dataset", "door", "--allow-pickle", "--json").json()[
        "upload"
    ]
    place = Workplace(lake_root=str(folder / "lake"), landing_root=str(folder / ".rdp" / "landing"))
    ingestion = register_upload(place, upload, GopSettings(), RUN).ingestion
    second = list_tasks(ingestion)[1]
    with open_ingestion_source(ingestion) as source:
        recording = read_recording(ingestion, source, second.ref)
    np.testing.assert_array_equal(signal(recording, "observation_state").values, state(start=10.0))
    assert recording.robot == "adroit"


def test_an_upload_without_permission_is_refused_when_it_is_registered(folder: Path) -> None:
    upload = rdp(folder, "upload", "demos", "--dataset", "door", "--json").json()["upload"]
    place = Workplace(lake_root=str(folder / "lake"), landing_root=str(folder / ".rdp" / "landing"))
    with pytest.raises(InvalidInputError, match="expected `--allow-pickle`") as caught:
        register_upload(place, upload, GopSettings(), RUN)
    assert caught.value.kind is ErrorKind.INVALID_PROFILE
