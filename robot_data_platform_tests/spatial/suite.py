"""Every gross fault on the golden recordings: is it found, is its cause named, and at what cost.

Run it as ``python -m robot_data_platform_tests.spatial.suite``; arguments choose a part.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from robot_data_platform.spatial.check import EpisodeCheck, check_episode
from robot_data_platform_tests.golden.faults import gross_faults
from robot_data_platform_tests.golden.reading import CAMERAS, Fault, Golden, episode, golden

FIRST, CLEAN = "nothing, first time", "nothing"
"""The first check of a process loads the model and its meshes, and the compiled loops."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the checks made of one fault."""

    recording: str
    with_masks: bool
    fault: str
    is_found: bool
    is_named: bool
    told: tuple[str, ...]
    """Camera and cause, or status where none is told."""
    cpu_s: float
    """Of the process, pictures in memory."""

    def line(self) -> str:
        """Return it as a line of the table."""
        masks = "masks" if self.with_masks else "-"
        found = "found" if self.is_found else "MISSED"
        named = "named" if self.is_named else "UNNAMED"
        told = ", ".join(self.told)
        return (
            f"{self.recording:6} {masks:6} {self.fault:24} {found:7} {named:8} "
            f"{self.cpu_s:5.1f} CPU-s  {told}"
        )


def affected_cameras(name: str, fault: Fault) -> set[str]:
    """Return the cameras whose numbers or pictures are wrong; none = the joints are."""
    return {*fault.place, *fault.lens, *fault.pictures, *(fault.swap or ())} & set(CAMERAS[name])


def outcome(recording: Golden, name: str, fault: Fault, cause: str, seed: int | None) -> Outcome:
    """Check a recording with one thing wrong; a fault of joints may show in any camera."""
    rng = None if seed is None else np.random.default_rng(seed)
    seen = episode(recording, fault, with_masks=rng)
    start = time.process_time()
    checked = check_episode(seen)
    cpu_s = time.process_time() - start
    affected, is_fault = affected_cameras(recording.name, fault), name not in (FIRST, CLEAN)
    doubtful = {camera.name for camera in checked.cameras if camera.is_doubtful}
    named = {c.name for c in checked.cameras if c.diagnosis and c.diagnosis.cause == cause}
    return Outcome(
        recording=recording.name,
        with_masks=seed is not None,
        fault=name,
        is_found=affected <= doubtful if affected else bool(doubtful) == is_fault,
        is_named=affected <= named if affected else bool(named) == is_fault,
        told=tuple(_told(checked)),
        cpu_s=cpu_s,
    )


def _told(checked: EpisodeCheck) -> Iterator[str]:
    for camera in checked.cameras:
        cause = camera.diagnosis.cause if camera.diagnosis else camera.status.value
        yield f"{camera.name}: {cause}"


def outcomes(names: Sequence[str], masks: Sequence[bool], wanted: str) -> Iterator[Outcome]:
    """Yield the outcome of each fault whose name holds ``wanted``, and of recordings without."""
    for name in names:
        recording = golden(name)
        faults = {CLEAN: (Fault(), ""), **gross_faults(name)}
        yield outcome(recording, FIRST, Fault(), "", None)
        for with_masks in masks:
            for number, (fault, (change, cause)) in enumerate(faults.items()):
                if wanted in fault:
                    seed = number if with_masks else None
                    yield outcome(recording, fault, change, cause, seed)


def main() -> int:
    """Print the table; 1 where a fault was missed, or too few causes were named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recording", choices=list(CAMERAS), action="append")
    parser.add_argument("--masks", choices=["with", "without"], help="default: both")
    parser.add_argument("--fault", default="", help="part of the name of a fault")
    options = parser.parse_args()
    masks = {"with": [True], "without": [False], None: [False, True]}[options.masks]
    found = []
    for result in outcomes(options.recording or list(CAMERAS), masks, options.fault):
        sys.stdout.write(result.line() + "\n")
        sys.stdout.flush()
        found.append(result)
    faults = [result for result in found if result.fault not in (FIRST, CLEAN)]
    num_found = sum(result.is_found for result in faults)
    num_named = sum(result.is_named for result in faults)
    mean_s = np.mean([result.cpu_s for result in faults]) if faults else 0.0
    sys.stdout.write(
        f"{num_found} of {len(faults)} found, {num_named} named, {mean_s:.1f} CPU-s on average\n"
    )
    return int(num_found < len(faults) or num_named < 0.95 * len(faults))


if __name__ == "__main__":
    sys.exit(main())
