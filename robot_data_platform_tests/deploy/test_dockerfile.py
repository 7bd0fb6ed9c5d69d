"""The image's recipe, as a linter and a reader see it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from robot_data_platform_tests.deploy.compose_file import INFRA

DOCKERFILE = INFRA / "Dockerfile"
TEXT = DOCKERFILE.read_text()


def test_the_linter_finds_nothing() -> None:
    hadolint = Path(sys.executable).parent / "hadolint"
    found = subprocess.run([hadolint, DOCKERFILE], capture_output=True, text=True, check=False)
    assert found.stdout + found.stderr == ""


def test_every_stage_starts_from_one_pinned_python() -> None:
    bases = set(re.findall(r"^FROM (\S+)", TEXT, re.MULTILINE))
    assert len(bases) == 1
    assert re.fullmatch(r"python:\d+\.\d+\.\d+-slim-\w+", bases.pop())


def test_it_does_not_run_as_root() -> None:
    users = re.findall(r"^USER (\d+)", TEXT, re.MULTILINE)
    assert users[-1:] == ["10001"]


def test_every_package_has_the_version_of_the_constraints() -> None:
    installs = re.findall(r"pip install (.*)", TEXT)
    assert all("-c constraints.txt" in line or "--no-deps" in line for line in installs)


def test_what_it_copies_is_not_ignored() -> None:
    ignore = (INFRA / "Dockerfile.dockerignore").read_text().splitlines()
    copied = {
        name.partition("/")[0]
        for line in re.findall(r"^COPY (?!--from)(.*) \S+$", TEXT, re.MULTILINE)
        for name in line.split()
    }
    assert {f"!{name}" for name in copied} == {line for line in ignore if line.startswith("!")}
