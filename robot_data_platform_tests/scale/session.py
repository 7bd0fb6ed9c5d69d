"""Measures taken one after the other on one lake, each in a process of its own."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest import mock

from robot_data_platform.lineage import training_run
from robot_data_platform.testing.rawlog import RawlogShape
from robot_data_platform_tests.compute.uploads import land
from robot_data_platform_tests.scale.measures import (
    MEASURES,
    MODEL,
    RELEASE,
    Place,
    as_arguments,
)
from robot_data_platform_tests.scale.template import DATASET, SHAPE

REPOSITORY = Path(__file__).parents[2]
NOT_AGAIN = ("split", "release", "split_again", "compact_")
"""Measures of which the second time would find everything done."""
NEW_SHAPE = replace(SHAPE, num_episodes=3)
NUM_CONTENTS = 8

Results = dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A place, and how it is measured."""

    place: Place
    say: Callable[[str], None]
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables besides those of this process."""
    repeats: int = 3
    after: Callable[[str, dict[str, Any]], None] = lambda name, result: None
    """Called with each result."""

    def run(self, names: Iterable[str]) -> Results:
        """Return the results of some measures, in their order."""
        results = {}
        for name in names:
            results[name] = self._measured(name)
            self.after(name, results[name])
            if name == "release":
                with mock.patch.dict(os.environ, self.environment):
                    record_model(self.place)
        return results

    def _measured(self, name: str) -> dict[str, Any]:
        times = 1 if name.startswith(NOT_AGAIN) else self.repeats
        taken = [self._once(name) for _ in range(times)]
        best = min(taken, key=lambda result: float(result["wall_s"]))
        self.say(
            f"{name}: {best['wall_s']} s, {best['cpu_s']} s of processor, {best['peak_mb']} MB"
        )
        middle = statistics.median(float(result["wall_s"]) for result in taken)
        return {**best, "median_s": middle, "n": times}

    def _once(self, name: str) -> dict[str, Any]:
        place = self.place
        if name == "add":
            place = landed(place, self._num_uploads())
        done = subprocess.run(
            [sys.executable, "-m", f"{__package__}.measures", *as_arguments(name, place)],
            env={**os.environ, "PYTHONPATH": str(REPOSITORY), **self.environment},
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{name} at {place.lake_root} failed: {done.stderr[-3000:]}")
        result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return result

    def _num_uploads(self) -> int:
        """Return how many there are: the next one is new, however often the lake is measured."""
        with mock.patch.dict(os.environ, self.environment):
            return self.place.lake.ensure_catalog("uploads").count_rows()


def landed(place: Place, number: int) -> Place:
    """Land a new small upload, named by its number, and return the place with it.

    Its pictures, which show a number of 16 bits, are those of another one after `NUM_CONTENTS`.
    """
    upload = f"20270101t{number:06d}z-{DATASET}-0000"
    shape: RawlogShape = replace(NEW_SHAPE, seed=1 + number % NUM_CONTENTS)
    land(place.workplace, DATASET, upload, shape)
    return replace(place, upload=upload)


def record_model(place: Place) -> None:
    """Record a model that was trained on the release."""
    with training_run(place.lake, DATASET, RELEASE, model=MODEL, code_commit="0" * 40):
        pass


def compaction_names() -> list[str]:
    """Return the measures of compaction."""
    return [name for name in MEASURES if name.startswith("compact_")]


def command_names() -> list[str]:
    """Return the measures of commands, in the order in which they can be taken."""
    return [name for name in MEASURES if not name.startswith("compact_")]
