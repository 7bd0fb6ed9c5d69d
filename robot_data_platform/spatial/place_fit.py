"""A camera's place fitted to masks and, where the robot carries it, to the background."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.camera_fit import fit_camera, motion_twist
from robot_data_platform.spatial.camera_search import searched_motion
from robot_data_platform.spatial.deviation import (
    EXTRINSIC,
    Deviation,
    MaskedCamera,
    drawn_with,
)
from robot_data_platform.spatial.fit_rows import descended, fit_rows
from robot_data_platform.spatial.robot_mesh import robot_mesh

PLACE = Deviation(kind=EXTRINSIC)
_HUBERS_PX = (4.0, 3.0, 3.0)
"""Of the steps from a place that fits already."""
_HUBERS_WITH_BACKGROUND_PX = (8.0, 8.0, 6.0, 6.0, 4.0, 4.0, 3.0, 3.0, 3.0, 3.0)
_SAME_SIDE_OF_HAND_PX = 0.3
"""As `camera_fit.SAME_SIDE_PX`, of a hand near the camera: its outline changes sooner."""
_FITTED_PX = 1.5
"""Mean distance of an outline from the edges of masks, up to which a place fits."""
_EXPLAINED_OFFSET_PX = 1.0
"""Median offset of followed points from their lines, likewise."""
_COARSE_M = 0.008
"""Of the robot's surface, where a place is searched for."""
_ALIKE_IOU = 0.02
"""Places whose overlaps differ by less fit as well as each other: masks are not better."""
_WORST_OFFSET_PX, _IOU_PER_PX = 5.0, 0.02
"""Points farther off their lines are mistaken; and what a pixel of the others counts for, against
overlap."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FittedPlace:
    """A place of a camera."""

    twist: Float64Array
    """(6,) from the declared one: rotation vector and metres."""
    iou: float
    doubt: Float64Array
    """(6,) how far places are from it that fit as well."""


def fitted_place(seen: MaskedCamera) -> FittedPlace | None:
    """Return the place that fits best; None = too little of the robot is in view."""
    start = _place(seen)
    if seen.background is None:
        twist = descended(seen, PLACE, start.twist, _HUBERS_PX)
    else:
        hubers_px = _HUBERS_WITH_BACKGROUND_PX
        twist = descended(seen, PLACE, start.twist, hubers_px, _SAME_SIDE_OF_HAND_PX)
    return None if twist is None else replace(start, twist=twist)


def is_explained(seen: MaskedCamera, twist: Float64Array) -> bool:
    """Return whether a place, (6,) from the declared one, explains both masks and background.

    False where no background is known.
    """
    if seen.background is None or _distance_px(seen, twist) > _FITTED_PX:
        return False
    off_px = np.abs(seen.background.offsets_px(seen.moved(twist)))
    return bool(np.median(off_px) <= _EXPLAINED_OFFSET_PX)


def _place(seen: MaskedCamera) -> FittedPlace:
    """Return the place that covers masks best, searched for where none is near.

    It is searched for from two sides; without a background, what they differ by is in doubt.
    Masks of a hand that lean on the projection would lead a search nowhere.
    """
    found = _place_from(seen, np.eye(4))
    if found is None:
        return FittedPlace(twist=np.zeros(6), iou=0.0, doubt=np.zeros(6))
    leads_nowhere = seen.leans and not seen.camera.is_static
    if leads_nowhere or _distance_px(seen, found.twist) <= _FITTED_PX:
        return found
    places = [found, *_searched_places(seen)]
    best = max(places, key=lambda place: place.iou)
    if seen.background is not None:
        return best
    alike = [place.twist for place in places if place.iou >= best.iou - _ALIKE_IOU]
    return replace(best, doubt=np.abs(np.array(alike) - best.twist).max(axis=0))


def _searched_places(seen: MaskedCamera) -> Iterator[FittedPlace]:
    """Yield places searched for from either side, up to one that masks and background agree with.

    Masks alone agree with many.
    """
    for side in (1.0, -1.0):
        place = _place_from(seen, _searched_motion(seen, side))
        if place is not None:
            yield place
            if seen.background is not None and _distance_px(seen, place.twist) <= _FITTED_PX:
                return


def _place_from(seen: MaskedCamera, start: Float64Array) -> FittedPlace | None:
    """Return the place that a fit comes to from cam_from_declared_cam, (4, 4)."""
    mesh, links = robot_mesh(seen.episode.robot), seen.base_from_link
    fit = fit_camera(mesh, links, seen.places @ np.linalg.inv(start), seen.lens, seen.masks)
    if fit is None:
        return None
    twist = motion_twist(fit.cam_from_declared_cam @ start)
    return FittedPlace(twist=twist, iou=fit.iou_fitted, doubt=np.zeros(6))


def _searched_motion(seen: MaskedCamera, side: float) -> Float64Array:
    mesh = robot_mesh(seen.episode.robot, _COARSE_M)
    misfit = None if seen.background is None else lambda motion: _misfit(seen, motion)
    return searched_motion(
        mesh, seen.base_from_link, seen.places, seen.lens, seen.masks, side, misfit
    )


def _misfit(seen: MaskedCamera, cam_from_declared_cam: Float64Array) -> float:
    """Return how badly the background agrees with a place, as a loss of overlap."""
    assert seen.background is not None
    place = seen.parent_from_cam @ np.linalg.inv(cam_from_declared_cam)
    off = np.abs(seen.background.offsets_px(place))
    return _IOU_PER_PX * float(np.minimum(off, _WORST_OFFSET_PX).mean())


def _distance_px(seen: MaskedCamera, twist: Float64Array) -> float:
    """Return how far the outline from a place is from the masks' edges, on average."""
    rows = fit_rows(seen, PLACE, twist, drawn_with(seen, PLACE, twist))
    return float(np.abs(rows.outline_px).mean()) if rows.num_outline else np.inf
