"""Why pictures contradict a calibration: the cause, how sure, and what to write instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from robot_data_platform.spatial.camera_checks import difference
from robot_data_platform.spatial.continuous_causes import (
    SHARED,
    FittedDeviation,
    continuous_causes,
    shared_choice,
    unchanged_bic,
)
from robot_data_platform.spatial.deviation import (
    CENTRE,
    EXTRINSIC,
    FOCAL,
    JOINT,
    TIME,
    MaskedCamera,
)
from robot_data_platform.spatial.discrete_causes import RankedCause, discrete_causes
from robot_data_platform.spatial.episode_input import CameraInput, SpatialInput
from robot_data_platform.spatial.mask_sources import Segmenter
from robot_data_platform.spatial.masked_camera import masked_camera
from robot_data_platform.spatial.place_fit import fitted_place, is_explained
from robot_data_platform.spatial.proposal import Proposal, proposal_of
from robot_data_platform.spatial.robot_model import RobotModel

_GROUPS = {
    EXTRINSIC: (EXTRINSIC, CENTRE),
    CENTRE: (EXTRINSIC, CENTRE),
    FOCAL: (FOCAL,),
    TIME: (TIME,),
}
"""Kinds that a single camera can't tell apart where the deviation is small."""
_CODES = {
    EXTRINSIC: "camera_has_moved",
    CENTRE: "principal_point_is_off",
    FOCAL: "focal_length_is_off",
    TIME: "pictures_are_off_in_time",
    JOINT: "joint_zero_is_off",
}
_NEARLY_PX_PER_10PX = 2.5
"""Offsets of a background that does not speak for a mistaken number; those leave 10 and more."""
_MIN_BIC_GAIN = 6.0
"""By which a group has to beat no change, to be told."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Diagnosis:
    """What explains the pictures of one camera."""

    camera: str
    cause: str
    """Stable code."""
    says: str
    """The same for a person."""
    group: tuple[str, ...]
    """Codes that the pictures can't tell from it, itself included."""
    score_declared: float
    """Agreement as declared; overlap for small deviations."""
    score_best: float
    score_second: float
    second: str
    """The next best cause of another kind."""
    proposal: Proposal | None = None
    """None where the cause is not in this camera's calibration."""

    @property
    def margin(self) -> float:
        """By how much the cause beats the next one."""
        return self.score_best - self.score_second


def diagnose(
    episode: SpatialInput, doubtful: Sequence[str], *, segmenter: Segmenter | None = None
) -> dict[str, Diagnosis]:
    """Return the cause of each doubtful camera that one is found for.

    Parameters
    ----------
    episode : SpatialInput
        As declared.
    doubtful : sequence of str
        Names of cameras whose pictures contradict what is declared.
    segmenter : Segmenter, optional
        A model that finds the robot.
    """
    cameras = {camera.name: camera for camera in episode.cameras}
    if moved := _moved_a_little(episode, [cameras[name] for name in doubtful], segmenter):
        return moved
    ranked = discrete_causes(episode, doubtful)
    found = {
        name: _of_numbers(cameras[name], cause)
        for name, cause in ranked.items()
        if cause.is_convincing
    }
    left = [name for name in doubtful if name not in found]
    return {**found, **_of_deviations(episode, [cameras[n] for n in left], segmenter)}


def _of_numbers(camera: CameraInput, cause: RankedCause) -> Diagnosis:
    reading, declared = cause.hypothesis.camera, camera.parent_from_cam
    proposal = None
    is_lens_or_place = reading is not None and reading.flip == "none"
    if reading is not None and declared is not None and is_lens_or_place:
        shift_m, turn_deg = difference(declared, reading.parent_from_cam)
        proposal = Proposal(
            parent_from_cam=reading.parent_from_cam,
            intrinsics_px=reading.intrinsics_px,
            parent_link=reading.parent_link,
            shift_m=shift_m,
            turn_deg=turn_deg,
        )
    return Diagnosis(
        camera=camera.name,
        cause=cause.hypothesis.code,
        says=cause.hypothesis.says,
        group=(cause.hypothesis.code,),
        score_declared=cause.declared_score,
        score_best=cause.score,
        score_second=cause.second_score,
        second=cause.second,
        proposal=proposal,
    )


def _moved_a_little(
    episode: SpatialInput, doubtful: Sequence[CameraInput], segmenter: Segmenter | None
) -> dict[str, Diagnosis]:
    """Return why the only doubtful camera contradicts, where it is on the robot and near by.

    With the background nearly in agreement, and explained with the masks by a place near by, no
    number was mistaken: nothing else needs to be tried.
    """
    if len(doubtful) != 1 or doubtful[0].is_static:
        return {}
    if doubtful[0].masks is None and segmenter is None:
        return {}
    seen = masked_camera(episode, doubtful[0], segmenter)
    if seen is None or seen.leans or seen.background is None:
        return {}
    if seen.background.px_per_10px(seen.parent_from_cam) > _NEARLY_PX_PER_10PX:
        return {}
    place = fitted_place(seen)
    if place is None or not is_explained(seen, place.twist):
        return {}
    name = doubtful[0].name
    return _of_fits({name: seen}, {name: continuous_causes(seen, place)}, segmenter)


def _of_deviations(
    episode: SpatialInput, cameras: Sequence[CameraInput], segmenter: Segmenter | None
) -> dict[str, Diagnosis]:
    seen = {camera.name: masked_camera(episode, camera, segmenter) for camera in cameras}
    known = {name: camera for name, camera in seen.items() if camera is not None}
    return _of_fits(known, {n: continuous_causes(c) for n, c in known.items()}, segmenter)


def _of_fits(
    known: Mapping[str, MaskedCamera],
    fits: Mapping[str, Sequence[FittedDeviation]],
    segmenter: Segmenter | None,
) -> dict[str, Diagnosis]:
    fits = {
        name: found
        for name, found in fits.items()
        if found and found[0].bic < unchanged_bic(known[name]) - _MIN_BIC_GAIN
    }
    if not fits:
        return {}
    chosen = shared_choice(fits)
    told = {
        name: _of_deviation(known[name], fit, fits[name], segmenter) for name, fit in chosen.items()
    }
    is_shared = len(chosen) > 1 and all(fit.deviation.kind in SHARED for fit in chosen.values())
    return {n: d for n, d in told.items() if is_shared or _is_believed(known[n], d)}


def _is_believed(seen: MaskedCamera, told: Diagnosis) -> bool:
    """Return whether a cause that one camera's masks tell is not of their own making.

    A hand fills the picture of its camera: masks found from a wrong projection fit many numbers.
    A right place is where masks found from it, and the background, agree with it.
    """
    if seen.camera.is_static or not seen.leans:
        return True
    if told.cause != _CODES[EXTRINSIC] or told.proposal is None:
        return False
    there = replace(seen.camera, parent_from_cam=told.proposal.parent_from_cam)
    again = masked_camera(seen.episode, there)
    return again is not None and is_explained(again, np.zeros(6))


def _of_deviation(
    seen: MaskedCamera,
    fit: FittedDeviation,
    others: Sequence[FittedDeviation],
    segmenter: Segmenter | None,
) -> Diagnosis:
    kind = fit.deviation.kind
    second = next((f for f in others if f.deviation.kind not in _GROUPS.get(kind, (kind,))), None)
    return Diagnosis(
        camera=seen.camera.name,
        cause=_CODES[kind],
        says=_said(fit, seen.episode.robot),
        group=tuple(_CODES[name] for name in _GROUPS.get(kind, (kind,))),
        score_declared=seen.declared_iou,
        score_best=fit.iou,
        score_second=0.0 if second is None else second.iou,
        second="" if second is None else _CODES[second.deviation.kind],
        proposal=proposal_of(seen, fit, segmenter) if kind in (EXTRINSIC, FOCAL, CENTRE) else None,
    )


def _said(fit: FittedDeviation, robot: RobotModel) -> str:
    kind, value = fit.deviation.kind, float(fit.values[0])
    if kind == TIME:
        side = "late" if value > 0 else "early"
        return f"pictures are {abs(1e3 * value):.0f} ms {side}"
    if kind == FOCAL:
        return f"the focal length is {100 * value:+.1f} % of what is declared"
    if kind == CENTRE:
        return f"the principal point is off by {fit.values[0]:.1f}, {fit.values[1]:.1f} px"
    if fit.deviation.joint is not None:
        name = robot.joint_names[fit.deviation.joint]
        return f"the zero of the joint {name!r} is off by {np.degrees(value):.1f} deg"
    turn, shift = np.degrees(np.linalg.norm(fit.values[:3])), 100 * np.linalg.norm(fit.values[3:])
    return f"the camera is {shift:.1f} cm and {turn:.1f} deg from where it is declared"
