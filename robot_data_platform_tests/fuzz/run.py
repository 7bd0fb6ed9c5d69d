"""One run: a whole source of a seed, spoilt as a number says, read, and judged."""

from __future__ import annotations

import json
import os
import shutil
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from random import Random

from robot_data_platform_tests.fuzz import memory
from robot_data_platform_tests.fuzz.lake import lake_faults
from robot_data_platform_tests.fuzz.mutations import spoil
from robot_data_platform_tests.fuzz.mutations.tree import MAX_BYTES, Change, Promise, Tree
from robot_data_platform_tests.fuzz.reading import Reading, read_source
from robot_data_platform_tests.fuzz.seeds import SEEDS
from robot_data_platform_tests.fuzz.verdict import faults

MAX_MEMORY_BYTES = 2 << 30
"""What a run may take, beside what its process held before."""
LAKE_EVERY = 150
"""Numbers from one run to the next that goes all the way into a lake."""
LAKE = "lake"
CHANGE_FILE = "change.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What to run."""

    seed_name: str
    number: int

    @property
    def name(self) -> str:
        """Name of its folder."""
        return f"{self.seed_name}-{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a run came to."""

    case: Case
    what: str = ""
    """How the source was spoilt."""
    faults: tuple[str, ...] = ()
    """What broke a promise; empty = nothing."""
    num_converted: int = 0
    """Episodes."""
    num_refused: int = 0
    """Episodes; of a source that was refused as a whole, those that it had."""
    num_flagged: int = 0
    """Converted episodes of which something is told that is not told of the whole source."""
    seconds: float = 0.0
    peak_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeSource:
    """A source before it is spoilt."""

    root: Path
    reading: Reading
    digest_by_file: dict[str, bytes]


def run(case: Case, folder: Path) -> Outcome:
    """Spoil a copy of a seed's source and read it; what failed stays below ``folder``."""
    whole = whole_source(case.seed_name, folder)
    place = folder / case.name
    shutil.rmtree(place, ignore_errors=True)
    tree = Tree(place / "source", SEEDS[case.seed_name], Random(case.name))
    shutil.copytree(whole.root, tree.root)
    change = spoil(tree)
    (place / CHANGE_FILE).write_text(json.dumps([change.what, change.promise]))
    outcome = judge(case, whole, tree, change)
    if not outcome.faults:
        shutil.rmtree(place)
    return outcome


def rerun(case: Case, kept: Path, folder: Path) -> Outcome:
    """Read a source again that failed and was kept below ``kept``."""
    place = kept / case.name
    shutil.rmtree(place / LAKE, ignore_errors=True)
    what, promise = json.loads((place / CHANGE_FILE).read_text())
    tree = Tree(place / "source", SEEDS[case.seed_name], Random(case.name))
    change = Change(what=what, promise=Promise(promise))
    return judge(case, whole_source(case.seed_name, folder), tree, change)


def what_was_spoilt(case: Case, folder: Path) -> str:
    """Return what became of the source of a run that did not come back."""
    with suppress(OSError, ValueError):
        return str(json.loads((folder / case.name / CHANGE_FILE).read_text())[0])
    return "it ended before the source was spoilt"


@lru_cache(maxsize=len(SEEDS))
def whole_source(seed_name: str, folder: Path) -> WholeSource:
    """Write and read a seed's source, once in a process."""
    seed, root = SEEDS[seed_name], folder / f"whole-{os.getpid()}" / seed_name
    root.mkdir(parents=True)
    seed.write(root)
    return WholeSource(
        root=root, reading=read_source(root, seed.profile), digest_by_file=_digests(root)
    )


def judge(case: Case, whole: WholeSource, tree: Tree, change: Change) -> Outcome:
    """Read a spoilt source, and say what came of it."""
    memory.reset_peak()
    held = memory.peak_bytes()
    start_s = time.monotonic()
    try:
        spoilt = read_source(tree.root, tree.seed.profile)
        twin = read_source(tree.twin, tree.seed.profile) if tree.twin.exists() else None
        found = list(faults(whole.reading, spoilt, change.promise, _presence(whole, tree), twin))
        if case.number % LAKE_EVERY == 0 and _goes_into_a_lake(tree):
            lake = tree.root.with_name(LAKE)
            found += lake_faults(tree.root, tree.seed.profile, lake, spoilt)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - whatever escapes is what is looked for
        spoilt, found = Reading(), [traceback.format_exc()]
    seconds, peak = time.monotonic() - start_s, memory.peak_bytes() - held
    if peak > MAX_MEMORY_BYTES:
        found.append(f"took {peak} bytes of memory: expected at most {MAX_MEMORY_BYTES}")
    counted = _counted(Outcome(case=case, what=change.what), whole.reading, spoilt)
    return replace(counted, faults=tuple(found), seconds=seconds, peak_bytes=peak)


def _counted(outcome: Outcome, whole: Reading, spoilt: Reading) -> Outcome:
    told = spoilt.told - whole.told
    flagged = [
        key
        for key, episode in spoilt.episodes.items()
        if told or key not in whole.episodes or episode.told - whole.episodes[key].told
    ]
    return replace(
        outcome,
        num_converted=len(spoilt.episodes),
        num_refused=len(whole.episodes) if spoilt.refusal else len(spoilt.refused),
        num_flagged=len(flagged),
    )


def _presence(whole: WholeSource, tree: Tree) -> Callable[[str], bool]:
    """Return whether a file of the whole source is there: in its place, or in another one."""
    before, left = whole.digest_by_file, _digests(tree.root)
    moved = {digest for path, digest in left.items() if before.get(path) != digest}
    return lambda path: path in before and (left.get(path) == before[path] or before[path] in moved)


def _goes_into_a_lake(tree: Tree) -> bool:
    """Return whether a source is uploaded as it was read: links and pipes are left behind."""
    paths = [path for path in tree.root.rglob("*") if path.is_symlink() or not path.is_dir()]
    are_plain = all(path.is_file() and not path.is_symlink() for path in paths)
    return are_plain and all(path.stat().st_size < MAX_BYTES for path in paths)


def _digests(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): _digest(path) for path in _plain_files(root)}


def _digest(path: Path) -> bytes:
    return sha256(path.read_bytes()).digest()


def _plain_files(root: Path) -> Iterator[Path]:
    for path in root.rglob("*"):
        if path.is_file() and not path.is_symlink() and path.stat().st_size < MAX_BYTES:
            yield path
