"""Damage to the tree of files: some are missing, doubled, renamed, exchanged, or no files."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from robot_data_platform_tests.fuzz.mutations.tree import Change, Mutation, Promise, Tree

NAMES = (
    "{stem}_copy{suffix}",
    "{stem} (1){suffix}",
    ".{stem}{suffix}",
    "._{stem}{suffix}",
    "-{stem}{suffix}",
    "{stem}{suffix}.part",
    "{stem}{suffix}~",
    "{stem}\n{suffix}",
    "{stem}\u202e\u00e9\U0001f916{suffix}",
    "{stem}\udcff{suffix}",
    "{stem}{suffix_upper}",
    "{long}{suffix}",
    "episode_000003{suffix}",
    "10{suffix}",
    "{stem}",
)
"""Names that files have got; ``\\udcff`` is a byte that is no UTF-8."""
JUNK = (".DS_Store", "Thumbs.db", "._AppleDouble", "readme.txt", "desktop.ini", "lost+found")


def remove(tree: Tree) -> Change | None:
    """Remove a file, or a whole folder."""
    relative = tree.pick()
    if relative is None:
        return None
    if tree.random.random() < 0.7:
        (tree.root / relative).unlink()
        return Change(what=f"{relative}: removed", promise=tree.gone(relative))
    folder = (tree.root / relative).parent
    if folder == tree.root:
        return None
    name = folder.relative_to(tree.root).as_posix()
    shutil.rmtree(folder)
    return Change(what=f"{name}/: removed", promise=tree.gone(relative))


def rename(tree: Tree) -> Change | None:
    """Give a file another name."""
    relative = tree.pick()
    if relative is None:
        return None
    path = tree.root / relative
    name = _other_name(tree, path)
    path.rename(path.with_name(name))
    return Change(what=f"{relative}: renamed to {name!r}", promise=tree.gone(relative))


def duplicate(tree: Tree) -> Change | None:
    """Let a file be there twice, under two names."""
    relative = tree.pick()
    if relative is None:
        return None
    path = tree.root / relative
    name = _other_name(tree, path)
    if (path.parent / name).exists():
        return None
    shutil.copyfile(path, path.with_name(name))
    return Change(what=f"{relative}: there again as {name!r}", promise=tree.gone(relative))


def _other_name(tree: Tree, path: Path) -> str:
    pattern = tree.random.choice(NAMES)
    upper, long = path.suffix.upper(), "x" * (250 - len(path.suffix))
    return pattern.format(stem=path.stem[:200], suffix=path.suffix, suffix_upper=upper, long=long)


def exchange(tree: Tree) -> Change | None:
    """Exchange two files: of one kind, or of any."""
    first = tree.pick()
    if first is None:
        return None
    kind = Path(first).suffix
    is_alike = tree.random.random() < 0.7
    others = [f for f in tree.files() if f != first and (f.endswith(kind) or not is_alike)]
    if not others:
        return None
    second = tree.random.choice(others)
    held = (tree.root / first).read_bytes()
    shutil.copyfile(tree.root / second, tree.root / first)
    (tree.root / second).write_bytes(held)
    return Change(what=f"{first} and {second}: exchanged", promise=_exchanged(tree, first, second))


def replace(tree: Tree) -> Change | None:
    """Put a copy of another file in the place of one."""
    first, second = tree.pick(), tree.pick()
    if first is None or second is None or first == second:
        return None
    shutil.copyfile(tree.root / second, tree.root / first)
    return Change(what=f"{first}: a copy of {second}", promise=_exchanged(tree, first, second))


def _exchanged(tree: Tree, first: str, second: str) -> Promise:
    """Return the promise for a file in the place of another: one of its kind may well fit."""
    if Path(second).suffix != Path(first).suffix:
        return tree.promise(first)
    return Promise.TYPED if tree.seed.is_optional(first) else Promise.EXCHANGED


def no_file(tree: Tree) -> Change | None:
    """Put a folder, a pipe or a link to itself in the place of a file."""
    relative = tree.pick()
    if relative is None:
        return None
    path = tree.root / relative
    path.unlink()
    kind = tree.random.choice(["folder", "pipe", "loop", "dangling"])
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(path.name if kind == "loop" else "nowhere")
    return Change(what=f"{relative}: became a {kind}", promise=tree.gone(relative))


def junk(tree: Tree) -> Change | None:
    """Leave what file managers leave."""
    relative = tree.pick()
    if relative is None:
        return None
    name = tree.random.choice(JUNK)
    path = (tree.root / relative).with_name(name)
    if os.path.lexists(path):
        return None
    path.write_bytes(tree.random.randbytes(tree.random.choice([0, 300])))
    what = path.relative_to(tree.root).as_posix()
    return Change(what=f"{what}: left behind", promise=tree.gone(relative))


FILES: dict[str, Mutation] = {
    "remove": remove,
    "rename": rename,
    "duplicate": duplicate,
    "exchange": exchange,
    "replace": replace,
    "no_file": no_file,
    "junk": junk,
}
