"""Masks of the robot against its projection: overlap and misplacement."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from robot_data_platform.spatial.camera_fit import MAX_FITTED_FRAMES, fit_camera
from robot_data_platform.spatial.mask_sources import RobotMasks, Segmenter, robot_masks
from robot_data_platform.spatial.measurements import CameraMeasurements, FrameMeasurements
from robot_data_platform.spatial.overlap import Overlap, overlap
from robot_data_platform.spatial.robot_mesh import robot_mesh
from robot_data_platform.spatial.scene import Scene, without
from robot_data_platform.spatial.thresholds import MIN_ROBOT_PX


def with_masks(
    found: CameraMeasurements, scene: Scene, segmenter: Segmenter | None, with_grabcut: bool
) -> CameraMeasurements:
    """Return measurements with overlap and misplacement, from the best masks at hand."""
    working, singles, projection = scene.working, scene.singles, scene.projection.masks
    shown = singles[projection[singles].sum(axis=(1, 2)) >= MIN_ROBOT_PX]
    masks = robot_masks(
        working.pictures[shown],
        projection[shown],
        of_dataset=None if working.masks is None else working.masks[shown],
        segmenter=segmenter,
        with_grabcut=with_grabcut,
    )
    places = shown[masks.frames]
    overlaps = {
        int(place): overlap(mask, projection[place])
        for place, mask in zip(places, masks.masks, strict=True)
    }
    known = [result for result in overlaps.values() if result is not None]
    if not known:
        return without(found, "mask_iou", "there is no mask of the robot")
    found = replace(
        found,
        mask_source=masks.source,
        iou_median=float(np.median([result.iou for result in known])),
        contour_mean_px=float(np.mean([result.contour_mean_px for result in known])),
        frames=_frames_with_overlaps(found, scene, overlaps),
    )
    return _with_fit(found, scene, masks, places)


def _frames_with_overlaps(
    found: CameraMeasurements, scene: Scene, overlaps: dict[int, Overlap | None]
) -> tuple[FrameMeasurements, ...]:
    index_of_place = scene.camera.plan.pictures
    by_index = {int(index_of_place[place]): result for place, result in overlaps.items()}
    return tuple(
        frame
        if (result := by_index.get(frame.frame_index)) is None
        else replace(
            frame,
            mask_iou=result.iou,
            contour_mean_px=result.contour_mean_px,
            contour_p95_px=result.contour_p95_px,
        )
        for frame in found.frames
    )


def _with_fit(
    found: CameraMeasurements,
    scene: Scene,
    masks: RobotMasks,
    places: npt.NDArray[np.int64],
) -> CameraMeasurements:
    view = scene.view
    kept = np.linspace(0, len(places) - 1, min(len(places), MAX_FITTED_FRAMES)).round().astype(int)
    places = places[kept]
    fit = fit_camera(
        robot_mesh(scene.episode.robot),
        view.base_from_link[places],
        view.base_from_cam[places],
        scene.working.lens,
        masks.masks[kept],
        scene.projection.of_frames(places),
    )
    if fit is None:
        return without(found, "misplacement_mrad", "too few frames have a mask of the robot")
    return replace(
        found,
        misplacement_px=fit.misplacement_px,
        misplacement_mrad=fit.misplacement_mrad,
        iou_fitted=fit.iou_fitted,
    )
