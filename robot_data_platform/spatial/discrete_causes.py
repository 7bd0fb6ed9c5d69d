"""Which mistake in numbers, if any, explains pictures that contradict them: each one is tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robot_data_platform.spatial.camera_checks import difference
from robot_data_platform.spatial.camera_hypotheses import camera_hypotheses
from robot_data_platform.spatial.episode_input import SpatialInput
from robot_data_platform.spatial.joint_hypotheses import joint_hypotheses
from robot_data_platform.spatial.reading import CameraReading, Hypothesis
from robot_data_platform.spatial.trial import CameraTrial, Detail, camera_trial

SCREENING = Detail(max_pairs=3, shrink=2, cell_m=0.008)
"""Each mistake is tried on few and small pictures: right or wrong are far apart."""
DECIDING = Detail(max_pairs=6, shrink=1, cell_m=0.004)
_NUM_CAMERAS_DECIDED, _NUM_JOINTS_DECIDED = 4, 6
"""Hypotheses that are scored again, by `DECIDING`."""
_ALIKE_M, _ALIKE_DEG = 0.05, 5.0
"""From what is declared; nearer readings are small deviations, which are fitted."""
MIN_GAIN = 0.08
"""Score by which a cause has to beat what is declared, per camera that it concerns."""
MIN_SCORE = 0.72
"""Score that a cause has to reach."""
CLEAN_SCORE = 0.8
"""Score that cameras in place reach; those on a moving hand may stay below it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RankedCause:
    """The best explanation of some cameras, with what it beats."""

    hypothesis: Hypothesis
    score: float
    declared_score: float
    second_score: float
    """Of the best explanation of another kind."""
    second: str

    @property
    def is_full(self) -> bool:
        """Whether pictures agree as with a right calibration: nothing else needs to be tried."""
        return self.is_convincing and self.score >= CLEAN_SCORE

    @property
    def is_convincing(self) -> bool:
        """Whether it beats what is declared, and reaches what a right one does."""
        return self.score - self.declared_score >= MIN_GAIN and self.score >= MIN_SCORE


def discrete_causes(episode: SpatialInput, doubtful: Sequence[str]) -> dict[str, RankedCause]:
    """Return the best explanation of each doubtful camera, convincing or not.

    Parameters
    ----------
    episode : SpatialInput
        As declared.
    doubtful : sequence of str
        Names of the cameras to explain. The others vote on causes that concern all.
    """
    deciding = _trials(episode, DECIDING)
    wanted = [name for name in doubtful if name in deciding]
    if not wanted:
        return {}
    return _Search(
        episode=episode,
        deciding=deciding,
        screening={n: t for n, t in _trials(episode, SCREENING).items() if n in wanted},
        wanted=wanted,
    ).best()


Scored = list[tuple[float, Hypothesis]]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Search:
    """What may explain the doubtful cameras; the likelier of two kinds is tried first."""

    episode: SpatialInput
    deciding: Mapping[str, CameraTrial]
    screening: Mapping[str, CameraTrial]
    wanted: Sequence[str]

    def best(self) -> dict[str, RankedCause]:
        """Return the best explanations, of a kind that explains all fully or of the better one."""
        likelier = [self._by_joints, self._by_cameras]
        if len(self.wanted) == 1:
            likelier.reverse()
        for found in (kind() for kind in likelier):
            if set(found) == set(self.wanted) and all(c.is_full for c in found.values()):
                return found
        return self._by_joints() if self._joints_explain_more() else self._by_cameras()

    def _by_cameras(self) -> dict[str, RankedCause]:
        return {
            name: _ranked(ranked, self._declared[name])
            for name, ranked in self._single.items()
            if ranked
        }

    def _by_joints(self) -> dict[str, RankedCause]:
        if not self._shared:
            return {}
        # Cameras that a joint does not show in agree either way, and say nothing of the gain.
        told = [(_mean_of(scores, self.wanted), h) for h, scores in self._shared]
        return {n: _ranked(told, _mean_of(self._declared, self.wanted)) for n in self.wanted}

    def _joints_explain_more(self) -> bool:
        best = {name: ranked[0][0] for name, ranked in self._single.items() if ranked}
        with_single = np.mean([max(best.get(n, s), s) for n, s in self._declared.items()])
        return bool(self._shared) and bool(np.mean(list(self._shared[0][1].values())) > with_single)

    @cached_property
    def _declared(self) -> dict[str, float]:
        return {name: trial.declared_score for name, trial in self.deciding.items()}

    @cached_property
    def _single(self) -> dict[str, Scored]:
        return {
            name: _of_camera(self.episode, self.screening[name], self.deciding[name])
            for name in self.wanted
        }

    @cached_property
    def _shared(self) -> list[tuple[Hypothesis, dict[str, float]]]:
        return _of_joints(self.episode, self.screening, self.deciding)


def _trials(episode: SpatialInput, detail: Detail) -> dict[str, CameraTrial]:
    found = {camera.name: camera_trial(episode, camera, detail) for camera in episode.cameras}
    return {name: trial for name, trial in found.items() if trial is not None}


def _of_camera(episode: SpatialInput, screening: CameraTrial, deciding: CameraTrial) -> Scored:
    others = [camera for camera in episode.cameras if camera.name != deciding.camera.name]
    tried = [
        (hypothesis, reading)
        for hypothesis in camera_hypotheses(deciding.camera, others)
        if (reading := hypothesis.camera) and not _is_alike(deciding.declared, reading)
    ]
    scores = [screening.score(reading) for _, reading in tried]
    best = np.argsort(scores)[::-1][:_NUM_CAMERAS_DECIDED]
    return _sorted([(deciding.score(tried[k][1]), tried[k][0]) for k in best])


def _is_alike(declared: CameraReading, other: CameraReading) -> bool:
    """Return whether a reading is near what is declared: small shifts explain the same.

    A camera that looks straight down may have a place that is nearly its own inverse.
    """
    shift_m, turn_deg = difference(declared.parent_from_cam, other.parent_from_cam)
    return (
        shift_m < _ALIKE_M
        and turn_deg < _ALIKE_DEG
        and other.flip is declared.flip
        and other.parent_link == declared.parent_link
        and np.array_equal(other.intrinsics_px, declared.intrinsics_px)
    )


def _of_joints(
    episode: SpatialInput,
    screening: Mapping[str, CameraTrial],
    deciding: Mapping[str, CameraTrial],
) -> list[tuple[Hypothesis, dict[str, float]]]:
    """Return causes in the joints with the score that each has by camera, the best one first."""
    tried = list(joint_hypotheses(episode.robot, episode.joints))
    for trials, kept in ((screening, _NUM_JOINTS_DECIDED), (deciding, None)):
        scores = [_scores(trials, hypothesis) for hypothesis in tried]
        means = [np.mean(list(by_camera.values())) for by_camera in scores]
        best = np.argsort(means)[::-1][:kept]
        tried, scores = [tried[k] for k in best], [scores[k] for k in best]
    return list(zip(tried, scores, strict=True))


def _scores(trials: Mapping[str, CameraTrial], hypothesis: Hypothesis) -> dict[str, float]:
    return {n: trial.score(trial.declared, hypothesis.joints) for n, trial in trials.items()}


def _mean_of(scores: Mapping[str, float], names: Sequence[str]) -> float:
    return float(np.mean([scores[name] for name in names]))


def _sorted(scored: Scored) -> Scored:
    return sorted(scored, key=lambda entry: -entry[0])


def _ranked(scored: Scored, declared_score: float) -> RankedCause:
    second = _next_of_another_kind(scored)
    return RankedCause(
        hypothesis=scored[0][1],
        score=scored[0][0],
        declared_score=declared_score,
        second_score=second[0],
        second=second[1],
    )


def _next_of_another_kind(scored: Scored) -> tuple[float, str]:
    others = [(score, h.code) for score, h in scored if h.code != scored[0][1].code]
    return others[0] if others else (0.0, "")
