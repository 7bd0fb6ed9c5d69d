"""How often cameras in place are doubted, and cameras a little out of place are not.

Run it as ``python -m robot_data_platform_tests.spatial.small_shifts``; arguments choose a part.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from robot_data_platform.spatial.episode_input import SpatialInput
from robot_data_platform.spatial.measure import measure_episode
from robot_data_platform.spatial.thresholds import THRESHOLDS
from robot_data_platform.spatial.verdict import CameraStatus, camera_status, judge_camera
from robot_data_platform_tests.golden.faults import moved
from robot_data_platform_tests.golden.reading import CAMERAS, Fault, episode, golden
from robot_data_platform_tests.samples.reading import DATA, TRUTH
from robot_data_platform_tests.spatial.scenes import sample_aloha

SHIFTS = {"in place": (0.0, 0.0), "2 cm": (0.02, 0.0), "1 degree": (0.0, 1.0)}
SAMPLES = "samples"


def statuses(seen: SpatialInput) -> list[CameraStatus]:
    """Return what each camera comes to."""
    found = measure_episode(seen)
    return [camera_status(one, judge_camera(one, THRESHOLDS), THRESHOLDS) for one in found]


def of_recording(name: str, seeds: Sequence[int]) -> Iterator[tuple[str, list[CameraStatus]]]:
    """Yield each shift of a golden recording with what its cameras come to, with noisy masks."""
    recording = golden(name)
    for seed in seeds:
        for shift, (shift_m, turn_deg) in SHIFTS.items():
            rng = np.random.default_rng([seed, len(shift)])
            places = {
                camera: moved(rng, shift_m=shift_m, turn_deg=turn_deg) for camera in CAMERAS[name]
            }
            seen = episode(recording, Fault(place=places), with_masks=rng)
            yield shift, statuses(seen)


def of_samples() -> Iterator[tuple[str, list[CameraStatus]]]:
    """Yield what the cameras of the sample uploads come to, which are in place, without masks."""
    for facts in (facts for facts in TRUTH["aloha_fold"]["episodes"] if not facts["defect"]):
        seen = sample_aloha(DATA, facts["name"]).episode()
        yield "in place", statuses(replace(seen, episode=facts["name"]))


def main() -> None:
    """Print what each camera comes to, and for each shift how many are doubted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recording", choices=[*CAMERAS, SAMPLES], action="append")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    doubted: dict[str, list[bool]] = {shift: [] for shift in SHIFTS}
    for name in options.recording or [*CAMERAS, SAMPLES]:
        results = of_samples() if name == SAMPLES else of_recording(name, range(options.seeds))
        for shift, found in results:
            doubted[shift] += [status is not CameraStatus.OK for status in found]
            sys.stdout.write(f"{name:8} {shift:9} {', '.join(found)}\n")
            sys.stdout.flush()
    for shift, flags in doubted.items():
        sys.stdout.write(f"{shift:9} {sum(flags)} of {len(flags)} cameras are doubted\n")


if __name__ == "__main__":
    main()
