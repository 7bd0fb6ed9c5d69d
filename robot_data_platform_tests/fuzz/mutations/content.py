"""Damage to the bytes of a file, whatever is in it."""

from __future__ import annotations

import os
from collections.abc import Callable

from robot_data_platform_tests.fuzz.mutations.tree import Change, Mutation, Promise, Tree

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 123456789\n"
ABSURD = (10**12, 2**63 - 1, 2**64 - 1, 2**32 - 1, 2**31 - 1, 2**40)
GROWN_BYTES = 3 << 30
"""More than a process may hold in memory."""
UNCOUNTED = (".csv", ".yaml")
"""Text in which a cut between two lines or digits leaves a whole file."""


def cut(tree: Tree) -> Change | None:
    """Cut a file off."""
    relative = tree.pick()
    if relative is None:
        return None
    path = tree.root / relative
    size = path.stat().st_size
    kept = tree.random.choice([0, size - 1, size // 2, tree.random.randrange(size + 1)])
    os.truncate(path, max(0, kept))
    lines = Promise.TYPED if relative.endswith(UNCOUNTED) else Promise.EQUAL
    return Change(what=f"{relative}: cut at {kept} of {size}", promise=lines)


def flip(tree: Tree) -> Change | None:
    """Flip one to eight bits."""

    def flipped(data: bytearray) -> str:
        places = [tree.random.randrange(len(data) * 8) for _ in range(tree.random.choice([1, 8]))]
        for place in places:
            data[place // 8] ^= 1 << place % 8
        return f"bits {places} flipped"

    return _spoilt(tree, flipped)


def overwrite(tree: Tree) -> Change | None:
    """Put a block of zeros, of ones or of noise in place of what was there."""

    def overwritten(data: bytearray) -> str:
        at = tree.random.randrange(len(data))
        num = min(tree.random.choice([16, 64, 512, 4096]), len(data) - at)
        kind = tree.random.choice(["zeros", "ones", "noise"])
        noise = tree.random.randbytes(num)
        data[at : at + num] = {"zeros": bytes(num), "ones": b"\xff" * num, "noise": noise}[kind]
        return f"{num} {kind} at {at}"

    return _spoilt(tree, overwritten)


def absurd_number(tree: Tree) -> Change | None:
    """Put an absurd number in place of a small one of 4 or 8 bytes, as sizes are stored."""

    def enlarged(data: bytearray) -> str:
        width = tree.random.choice([4, 8])
        order = "big" if tree.random.random() < 0.2 else "little"  # as mp4 has them
        start = tree.random.randrange(len(data))
        places = ((start + step) % len(data) for step in range(min(len(data), 4096)))
        for at in places:
            value = int.from_bytes(data[at : at + width], order)  # type: ignore[arg-type]
            if 0 < value <= len(data) and at + width <= len(data):
                new = tree.random.choice(ABSURD) % (1 << 8 * width)
                data[at : at + width] = new.to_bytes(width, order)  # type: ignore[arg-type]
                return f"{value} at {at} became {new}"
        return "nothing like a size was found"

    return _spoilt(tree, enlarged)


def move_block(tree: Tree) -> Change | None:
    """Take a block of bytes out, or put it in a second time."""

    def moved(data: bytearray) -> str:
        at = tree.random.randrange(len(data))
        num = min(tree.random.choice([1, 8, 512]), len(data) - at)
        if tree.random.random() < 0.5:
            del data[at : at + num]
            return f"{num} bytes at {at} are gone"
        data[at:at] = data[at : at + num]
        return f"{num} bytes at {at} are there twice"

    return _spoilt(tree, moved)


def _spoilt(tree: Tree, spoil: Callable[[bytearray], str]) -> Change | None:
    relative = tree.pick()
    if relative is None:
        return None
    path = tree.root / relative
    data = bytearray(path.read_bytes())
    if not data:
        return None
    what = spoil(data)
    path.write_bytes(data)
    told = Promise.EQUAL if tree.seed.is_checked(relative) else Promise.TYPED
    return Change(what=f"{relative}: {what}", promise=told)


def grow(tree: Tree) -> Change | None:
    """Let a file go on after its end: with noise, or with zeros that take no space on disk."""
    relative = tree.pick()
    if relative is None:
        return None
    path = tree.root / relative
    if tree.random.random() < 0.5:
        with path.open("ab") as file:
            file.write(tree.random.randbytes(tree.random.choice([1, 5000])))
        what = "noise after the end"
    else:
        os.truncate(path, GROWN_BYTES)
        what = f"zeros up to {GROWN_BYTES} bytes"
    lines = Promise.TYPED if relative.endswith(UNCOUNTED) else Promise.EQUAL
    return Change(what=f"{relative}: {what}", promise=lines)


def pointer(tree: Tree) -> Change | None:
    """Put a Git LFS pointer in place of a file."""
    relative = tree.pick()
    if relative is None:
        return None
    text = POINTER.format(tree.random.randbytes(32).hex())
    (tree.root / relative).write_text(text)
    return Change(what=f"{relative}: became an LFS pointer", promise=tree.promise(relative))


CONTENT: dict[str, Mutation] = {
    "cut": cut,
    "flip": flip,
    "overwrite": overwrite,
    "absurd_number": absurd_number,
    "move_block": move_block,
    "grow": grow,
    "pointer": pointer,
}
