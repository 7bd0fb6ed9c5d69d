from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from robot_data_platform.lineage.code_commit import code_commit


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def repository_of_one_commit(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    (tmp_path / "train.py").write_text("1")
    (tmp_path / ".gitignore").write_text("out/\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    return tmp_path


def test_a_clean_checkout_has_its_commit(repository_of_one_commit: Path) -> None:
    head = git(repository_of_one_commit, "rev-parse", "HEAD")
    assert code_commit(repository_of_one_commit) == head


@pytest.mark.parametrize("file", ["train.py", "new.py"])
def test_a_changed_or_a_new_file_makes_it_dirty(repository_of_one_commit: Path, file: str) -> None:
    (repository_of_one_commit / file).write_text("2")
    assert str(code_commit(repository_of_one_commit)).endswith("-dirty")


def test_an_ignored_file_does_not_make_it_dirty(repository_of_one_commit: Path) -> None:
    (repository_of_one_commit / "out").mkdir()
    (repository_of_one_commit / "out" / "log").write_text("2")
    assert not str(code_commit(repository_of_one_commit)).endswith("-dirty")


def test_a_folder_outside_git_has_no_commit(tmp_path: Path) -> None:
    assert code_commit(tmp_path) is None


def test_a_machine_without_git_has_no_commit(
    repository_of_one_commit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    assert code_commit(repository_of_one_commit) is None
