"""Ways to spoil a source: each spoils something, and the same number does the same again."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

import pytest

from robot_data_platform_tests.fuzz.mutations import MUTATIONS, spoil
from robot_data_platform_tests.fuzz.mutations.content import GROWN_BYTES
from robot_data_platform_tests.fuzz.mutations.tree import Promise, Tree
from robot_data_platform_tests.fuzz.seeds import SEEDS


@pytest.fixture(scope="module")
def wholes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The whole source of every seed."""
    roots = {name: tmp_path_factory.mktemp(name) / "source" for name in SEEDS}
    for name, root in roots.items():
        root.mkdir()
        SEEDS[name].write(root)
    return roots


def copy(wholes: dict[str, Path], name: str, folder: Path, number: int) -> Tree:
    """Return a copy that is to be spoilt as a number says."""
    shutil.copytree(wholes[name], folder / "source")
    return Tree(folder / "source", SEEDS[name], Random(f"{name}-{number}"))


def content(root: Path) -> dict[str, bytes | int]:
    """Return what lies below a folder: the bytes of files, the size of one that was grown."""
    return {path.relative_to(root).as_posix(): _content(path) for path in root.rglob("*")}


def _content(path: Path) -> bytes | int:
    if not path.is_file() or path.stat().st_size >= GROWN_BYTES:
        return path.lstat().st_size
    return path.read_bytes()


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_every_way_to_spoil_a_source_changes_one(
    mutation: str, wholes: dict[str, Path], tmp_path: Path
) -> None:
    for number, name in enumerate([*SEEDS] * 5):
        folder = tmp_path / str(number)
        folder.mkdir()
        tree = copy(wholes, name, folder, number)
        change = MUTATIONS[mutation](tree)
        if change is not None and content(tree.root) != content(wholes[name]):
            assert tree.twin.exists() is (change.promise is Promise.INSIDE)
            return
    pytest.fail("no seed has anything that can be spoilt in this way")


@pytest.mark.parametrize("name", [name for name in SEEDS if name != "lerobot_lance"])
def test_a_number_spoils_a_source_in_one_way(
    name: str, wholes: dict[str, Path], tmp_path: Path
) -> None:
    for number in range(5):
        trees = []
        for side in ("first", "second"):
            folder = tmp_path / str(number) / side
            folder.mkdir(parents=True)
            trees.append(copy(wholes, name, folder, number))
        first, second = (spoil(tree) for tree in trees)
        assert first.promise == second.promise
        assert content(trees[0].root).keys() == content(trees[1].root).keys()
