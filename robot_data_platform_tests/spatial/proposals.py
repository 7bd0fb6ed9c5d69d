"""How near proposed places come to the true ones, and told lags to the true ones.

Run it as ``python -m robot_data_platform_tests.spatial.proposals``; arguments choose a part.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from robot_data_platform.spatial.camera_checks import difference
from robot_data_platform.spatial.check import check_episode
from robot_data_platform.spatial.diagnosis import Diagnosis
from robot_data_platform.spatial.measure import measure_episode
from robot_data_platform_tests.golden.faults import moved
from robot_data_platform_tests.golden.reading import CAMERAS, Fault, calibration, episode, golden

FARTHEST_M, FARTHEST_DEG = 0.05, 3.0
BAR_M, BAR_DEG = 0.015, 0.6
LATEST_MS = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """What became of one camera that was moved."""

    recording: str
    camera: str
    left_m: float
    """From the true place to the proposed one; inf = none was proposed."""
    left_deg: float
    expected: str
    """How far off the proposal says that it may be: one standard deviation."""
    cause: str

    @property
    def is_near(self) -> bool:
        """Whether the proposal is as near as wanted."""
        return self.left_m <= BAR_M and self.left_deg <= BAR_DEG

    def line(self) -> str:
        """Return it as a line of the table."""
        left = f"{100 * self.left_m:5.2f} cm {self.left_deg:5.2f} deg"
        near = "near" if self.is_near else "FAR"
        told = f"expected {self.expected}, {self.cause}"
        return f"{self.recording:6} {self.camera:11} {left} {near:4} {told}"


def proposed(name: str, camera: str, seed: int) -> Proposed:
    """Move a camera by up to 5 cm and 3 degrees, and check the recording with noisy masks."""
    recording, rng = golden(name), np.random.default_rng([seed, *camera.encode()])
    shift_m, turn_deg = rng.uniform(0.01, FARTHEST_M), rng.uniform(0.5, FARTHEST_DEG)
    fault = Fault(place={camera: moved(rng, shift_m=shift_m, turn_deg=turn_deg)})
    checked = check_episode(episode(recording, fault, with_masks=rng))
    (found,) = (one for one in checked.cameras if one.name == camera)
    cause = found.diagnosis.cause if found.diagnosis else found.status.value
    left_m, left_deg, expected = np.inf, np.inf, "nothing"
    if found.proposed is not None:
        expected = _expected(found.diagnosis)
        truth = calibration(recording, camera)[0]
        left_m, left_deg = difference(truth, found.proposed.parent_from_cam)
    return Proposed(
        recording=name,
        camera=camera,
        left_m=left_m,
        left_deg=left_deg,
        expected=expected,
        cause=cause,
    )


def _expected(diagnosis: Diagnosis | None) -> str:
    proposal = diagnosis.proposal if diagnosis else None
    if proposal is None or proposal.expected_error_m is None:
        return "not told"
    return f"{100 * proposal.expected_error_m:.2f} cm {proposal.expected_error_deg:.2f} deg"


def lag_errors_ms(name: str, seeds: Sequence[int]) -> Iterator[tuple[str, float]]:
    """Yield cameras with how far their lags are from the truth; inf = not told."""
    recording = golden(name)
    for seed in seeds:
        late_ms = float(np.random.default_rng(seed).uniform(-LATEST_MS, LATEST_MS))
        for found in measure_episode(
            episode(recording, Fault(late_ms=late_ms)), with_grabcut=False
        ):
            error = np.inf if found.lag_ms is None else abs(found.lag_ms - late_ms)
            yield found.camera, float(error)


def main() -> int:
    """Print both tables; 1 where a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recording", choices=list(CAMERAS), action="append")
    parser.add_argument("--seeds", type=int, default=6)
    options = parser.parse_args()
    names, seeds = options.recording or list(CAMERAS), range(options.seeds)
    found = []
    for name, camera, seed in ((n, c, s) for n in names for c in CAMERAS[n] for s in seeds):
        found.append(proposed(name, camera, seed))
        _say(found[-1].line())
    num_near = sum(one.is_near for one in found)
    _say(f"{num_near} of {len(found)} proposals within {100 * BAR_M:g} cm and {BAR_DEG:g} deg")
    errors = [(name, *told) for name in names for told in lag_errors_ms(name, seeds)]
    for name, camera in dict.fromkeys((name, camera) for name, camera, _ in errors):
        of_camera = [error for n, c, error in errors if (n, c) == (name, camera)]
        _say(f"{name:6} {camera:11} lag off by {_spread(of_camera)}")
    told = [error for _, _, error in errors if np.isfinite(error)]
    _say(f"{len(told)} of {len(errors)} lags told, off by {_spread(told)}")
    return int(num_near < 0.9 * len(found) or bool(np.median(told) > 10))


def _spread(errors: Sequence[float]) -> str:
    return f"{np.median(errors):.1f} ms in the median, {np.max(errors):.1f} at most"


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
