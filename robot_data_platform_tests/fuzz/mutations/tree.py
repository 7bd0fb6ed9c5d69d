"""The source that is spoilt, and what has to hold of it afterwards."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from random import Random

from robot_data_platform_tests.fuzz.seeds import Seed

STATEMENT = "profile.yaml"
"""What a person states of a source: nothing can tell that it was another statement."""

MAX_BYTES = 64 << 20
"""No file of a whole source is as large."""
PICTURES = (".jpg", ".png")
"""Files of one picture each: without one, its rows show the one before or after."""


class Promise(StrEnum):
    """What has to hold of every episode of the whole source, or be told of it."""

    TYPED = "no error escapes but a refusal"
    COUNTED = "it has as many rows and pictures as before"
    EQUAL = "its rows and pictures are the same as before"
    PARTLY = "those of its columns and cameras that are there are the same as before"
    EXCHANGED = "its rows and pictures are those of an episode of the whole source"
    INSIDE = "nothing comes from outside: it is as if the file that leads there were missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One way in which a source was spoilt."""

    what: str
    promise: Promise


@dataclass(frozen=True, slots=True)
class Tree:
    """A copy of a whole source, to be spoilt; ``outside`` and ``twin`` lie beside it."""

    root: Path
    seed: Seed
    random: Random

    @property
    def outside(self) -> Path:
        """A folder that no reader may look into."""
        return self.root.with_name("outside")

    @property
    def twin(self) -> Path:
        """The source as it is without what leads outside; there for `Promise.INSIDE` alone."""
        return self.root.with_name("twin")

    def files(self, *suffixes: str) -> list[str]:
        """Return the plain files, in an order in which random names have no part.

        One that was grown is left as it is.
        """
        found = [p for p in self.root.rglob("*") if p.is_file() and not p.is_symlink()]
        found = [p for p in found if p.stat().st_size < MAX_BYTES]
        if suffixes:
            found = [p for p in found if p.name.endswith(suffixes)]
        found.sort(key=lambda p: (str(p.parent), p.suffix, p.stat().st_size, p.name))
        return [p.relative_to(self.root).as_posix() for p in found]

    def pick(self, *suffixes: str) -> str | None:
        """Return a plain file, or None where there is none of these suffixes."""
        files = self.files(*suffixes)
        return self.random.choice(files) if files else None

    def promise(self, relative: str, otherwise: Promise = Promise.EQUAL) -> Promise:
        """Return the promise for other content of a file: nobody can tell one of a statement."""
        return Promise.TYPED if relative == STATEMENT else otherwise

    def gone(self, relative: str) -> Promise:
        """Return the promise for a file that is not there any more."""
        if relative == STATEMENT:
            return Promise.TYPED
        if not self.seed.is_optional(relative):
            return Promise.EQUAL
        return Promise.COUNTED if relative.endswith(PICTURES) else Promise.PARTLY

    def make_twin(self) -> Path:
        """Copy the source as it is now, and return where to."""
        shutil.copytree(self.root, self.twin)
        return self.twin


Mutation = Callable[[Tree], Change | None]
"""Spoils a source; None = there is nothing in it to spoil in this way."""
