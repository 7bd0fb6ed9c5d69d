"""The program that does many runs, or one of them again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from robot_data_platform_tests.fuzz.__main__ import main
from robot_data_platform_tests.fuzz.run import CHANGE_FILE, Case, whole_source

CASE = Case(seed_name="rawlog", number=7)
ARGUMENTS = ("--replay", CASE.seed_name, str(CASE.number), "--kept")


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A folder with a source of which one episode is damaged, and one has another task."""
    folder = tmp_path / "kept"
    whole = whole_source(CASE.seed_name, tmp_path)
    root = folder / CASE.name / "source"
    shutil.copytree(whole.root, root)
    (root / "episodes/ep_1/signals/action.parquet").write_bytes(
        (root / "episodes/ep_0/signals/action.parquet").read_bytes()[:-1]
    )
    (root / "episodes/ep_0/episode.json").write_text(json.dumps({"task": "another"}))
    return folder


def set_promise(kept: Path, promise: str) -> None:
    (kept / CASE.name / CHANGE_FILE).write_text(json.dumps(["the task became another", promise]))


def test_a_kept_source_is_judged_again(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    set_promise(kept, "its rows and pictures are the same as before")
    assert main([*ARGUMENTS, str(kept)]) == 1
    said = capsys.readouterr().out
    assert "rawlog 7: the task became another" in said
    assert "episode 'ep_0' has other columns 'language_instruction'" in said
    assert "1 converted, 1 refused" in said


def test_a_run_that_breaks_no_promise_is_no_failure(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    set_promise(kept, "no error escapes but a refusal")
    assert main([*ARGUMENTS, str(kept)]) == 0
    assert "1 converted, 1 refused" in capsys.readouterr().out


def test_a_source_that_was_not_kept_is_spoilt_anew_as_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = []
    for _ in range(2):
        assert main([*ARGUMENTS, str(tmp_path / "none")]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    assert list((tmp_path / "none").iterdir()) == []


def test_runs_are_counted_by_format_and_in_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--runs", "4", "--first", "1", "--formats", "npz", "pickle"]
    assert main([*arguments, "--kept", str(tmp_path / "none")]) == 0
    lines = capsys.readouterr().out.splitlines()
    counts = {line.split()[0]: line.split()[1] for line in lines[-3:]}
    assert counts == {"npz": "2", "pickle": "2", "all": "4"}
