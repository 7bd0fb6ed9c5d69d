"""Edges against the projected outline, frame by frame and over a camera."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from robot_data_platform.spatial.edge_lock import SEARCH_PX, edge_lock, shift_scores
from robot_data_platform.spatial.measurements import CameraMeasurements, FrameMeasurements
from robot_data_platform.spatial.outline import Outline, outline
from robot_data_platform.spatial.scene import Scene, without


def with_edges(found: CameraMeasurements, scene: Scene) -> CameraMeasurements:
    """Return measurements with what the frames show, and with edges on the outline."""
    projection, singles = scene.projection, scene.singles
    outlines = [outline(projection.labels[k], projection.depth_m[k]) for k in singles]
    pictures = scene.working.pictures[singles]
    found = replace(
        found,
        frames=tuple(
            _frame(scene, place, points, picture)
            for place, points, picture in zip(singles.tolist(), outlines, pictures, strict=True)
        ),
        visible_frac=float(np.median(_visible(scene)[singles])),
    )
    whole = edge_lock(pictures, outlines)
    if whole is None:
        return without(found, "edge_offset_px", "the robot is not in view")
    found = replace(
        found,
        edge_offset_px=whole.offset_px,
        edge_offset_dx_px=whole.dx_px,
        edge_offset_dy_px=whole.dy_px,
        edge_z=whole.z,
    )
    distal = edge_lock(pictures, [points.of_labels(_distal(scene)) for points in outlines])
    if distal is None:
        return without(found, "edge_z_distal", "the end of the robot is not in view")
    return replace(found, edge_z_distal=distal.z, edge_offset_distal_px=distal.offset_px)


def _frame(
    scene: Scene, place: int, points: Outline, picture: npt.NDArray[np.uint8]
) -> FrameMeasurements:
    index = int(scene.camera.plan.pictures[place])
    seen = len(points.pixels) > 0
    scores = shift_scores(picture, points) if seen else None
    return FrameMeasurements(
        frame_index=index,
        t_ns=int(scene.camera.frame_ns[index]),
        visible_frac=float(_visible(scene)[place]),
        robot_px=int((scene.projection.labels[place] > 0).sum()),
        edge_score=None if scores is None else float(scores[SEARCH_PX, SEARCH_PX]),
    )


def _visible(scene: Scene) -> npt.NDArray[np.float64]:
    return scene.working.lens.share_in_view(scene.view.points_cam_m)


def _distal(scene: Scene) -> npt.NDArray[np.bool_]:
    links = scene.episode.distal_links or scene.episode.robot.distal_links()
    return np.array([False, *(name in links for name in scene.projection.link_names)])
