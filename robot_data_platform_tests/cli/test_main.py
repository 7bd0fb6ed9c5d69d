"""Exit codes, what an error prints, and what starting costs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from robot_data_platform import __version__
from robot_data_platform_tests.cli.conftest import DATASET, Lab, Released
from robot_data_platform_tests.cli.rdp import rdp

FRAME = ["frame", DATASET, "3", "--camera", "env", "-o", "x.png"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["episodes", "nope"], r"'nope'.* holds datasets \['robot'\]"),
        (["findings", "nope"], r"'nope'.* holds datasets \['robot'\]"),
        (["maintain", "nope"], r"'nope'.* holds datasets \['robot'\]"),
        (["release", "list", "nope"], r"'nope'.* holds datasets \['robot'\]"),
        (["release", "create", "nope", "v1"], r"'nope'.* holds datasets \['robot'\]"),
        (["release", "show", DATASET, "v9"], r"no release 'v9': it has \['v1', 'v2'\]"),
        (["release", "verify", DATASET, "v9"], r"no release 'v9'"),
        (["release", "diff", DATASET, "v1", "v9"], r"no release 'v9'"),
        (["frame", DATASET, "77", *FRAME[3:], "--row", "0"], r"no episode '77'.*\[0, 1, 2, 3\]"),
        (["frame", DATASET, "0", *FRAME[3:], "--row", "0"], r"quarantined"),
        ([*FRAME[:4], "top", *FRAME[5:], "--row", "0"], r"'top'.*\['env'\]"),
        (["lineage", "nope"], r"'nope' is no model and no release"),
        (["impact", "nope"], r"'nope' is no episode, upload or source hash"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_not_there_is_told_with_what_is(
    lab: Lab, released: Released, arguments: list[str], told: str
) -> None:
    done = lab.rdp(*arguments)
    assert (done.exit_code, done.out) == (1, "")
    assert re.search(rf"^rdp: .*{told}", done.err)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["episodes", "No Such Name"], r"dataset name 'No Such Name' can't be used: expected"),
        (["datasets", "--lake", "ftp://host/lake"], r"scheme 'ftp': expected a local path or s3"),
        (["ingest", "recording", "--dataset", "A"], r"dataset name 'A' can't be used"),
        (["upload", "recording", "--dataset", "../a"], r"dataset name '\.\./a' can't be used"),
        (["ingest", "recording", "--dataset", "a", "--format", "zarr"], r"'zarr' is not known"),
        (["ingest", "absent", "--dataset", "a"], r"'absent' does not exist"),
        (["ingest", "recording"], r"Missing option '--dataset'"),
        (["release", "create", DATASET, "V 1"], r"release name 'V 1' can't be used"),
        ([*FRAME, "--row", "900"], r"Index 900 is outside"),
        ([*FRAME, "--row", "-1"], r"-1 is not in the range x>=0"),
        (["findings", DATASET, "--severity", "bad"], r"'bad' is not one of"),
        (["no-such-command"], r"No such command 'no-such-command'"),
        ([], r"Usage: rdp "),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_usage_is_told(lab: Lab, arguments: list[str], told: str) -> None:
    done = lab.rdp(*arguments)
    assert (done.exit_code, done.out) == (2, "")
    assert re.search(told, done.err)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"ratio: {train: 1}\n", r"'mine\.yaml' is no valid split spec: key 'ratio' is unknown"),
        (b"ratios: {train: 0.5}\n", r"the ratios add up to 0\.5, expected 1"),
        (b"name: caf\xe9\n", r"'mine\.yaml' is not UTF-8"),
    ],
)
def test_a_wrong_spec_is_wrong_usage(lab: Lab, text: bytes, told: str) -> None:
    (lab.folder / "mine.yaml").write_bytes(text)
    done = lab.rdp("release", "create", DATASET, "v9", "--spec", "mine.yaml")
    assert done.exit_code == 2
    assert re.search(told, done.err)


def test_an_error_is_one_line_and_no_traceback(lab: Lab) -> None:
    done = lab.rdp("episodes", "nope")
    assert (done.err.count("\n"), "Traceback" in done.err) == (1, False)


def test_a_lake_that_is_not_there_yet_has_no_datasets(tmp_path: Path) -> None:
    done = rdp(tmp_path, "datasets", "--json")
    assert (done.exit_code, done.json(), list(tmp_path.iterdir())) == (0, [], [])


def test_the_help_of_each_command_names_the_program(tmp_path: Path) -> None:
    assert rdp(tmp_path, "release", "create", "--help").out.startswith("Usage: rdp release create ")


def loaded_by(arguments: list[str], folder: Path) -> set[str]:
    """Return the modules that a fresh interpreter has after `rdp`."""
    code = (
        "import sys; from robot_data_platform.cli.main import main; "
        f"sys.argv = {['rdp', *arguments]!r}; main(); "
        "print('loaded:', *sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True
    )
    return set(done.stderr.rpartition("loaded: ")[2].split())


def test_asking_for_help_loads_nothing_heavy(tmp_path: Path) -> None:
    heavy = {"av", "boto3", "dagster", "great_expectations", "lance", "pandas", "pyarrow", "ray"}
    loaded = loaded_by(["--help"], tmp_path)
    assert ("click" in loaded, heavy & loaded) == (True, set())


def test_looking_at_the_lake_loads_neither_the_graph_nor_the_video_library(lab: Lab) -> None:
    heavy = {"av", "boto3", "dagster", "great_expectations", "ray"}
    loaded = loaded_by(["datasets"], lab.folder)
    assert ("lance" in loaded, heavy & loaded) == (True, set())


def test_the_installed_program_says_its_version(tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("rdp")
    done = subprocess.run([program, "--version"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"rdp, version {__version__}\n")
