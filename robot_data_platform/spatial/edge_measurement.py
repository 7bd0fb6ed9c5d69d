"""Edges against the projected outline, frame by frame and over a camera."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.edge_lock import (
    SEARCH_PX,
    PictureSlopes,
    lock_of,
    picture_slopes,
    shift_scores,
)
from robot_data_platform.spatial.measurements import CameraMeasurements, FrameMeasurements
from robot_data_platform.spatial.outline import Outline, outline
from robot_data_platform.spatial.scene import Scene, without


def with_edges(found: CameraMeasurements, scene: Scene) -> CameraMeasurements:
    """Return measurements with what the frames show, and with edges on the outline."""
    projection, singles = scene.projection, scene.singles
    outlines = [outline(projection.labels[k], projection.depth_m[k]) for k in singles]
    slopes = [picture_slopes(picture) for picture in scene.working.pictures[singles]]
    scores = _scores(slopes, outlines)
    visible = scene.working.lens.share_in_view(scene.view.points_cam_m)
    found = replace(
        found,
        frames=tuple(
            _frame(scene, place, visible[place], of_frame)
            for place, of_frame in zip(singles.tolist(), scores, strict=True)
        ),
        visible_frac=float(np.median(visible[singles])),
    )
    whole = lock_of(scores)
    if whole is None:
        return without(found, "edge_offset_px", "the robot is not in view")
    found = replace(
        found,
        edge_offset_px=whole.offset_px,
        edge_offset_dx_px=whole.dx_px,
        edge_offset_dy_px=whole.dy_px,
        edge_z=whole.z,
    )
    distal = lock_of(_scores(slopes, [points.of_labels(_distal(scene)) for points in outlines]))
    if distal is None:
        return without(found, "edge_z_distal", "the end of the robot is not in view")
    return replace(found, edge_z_distal=distal.z, edge_offset_distal_px=distal.offset_px)


def _scores(
    slopes: Sequence[PictureSlopes], outlines: Sequence[Outline]
) -> list[Float64Array | None]:
    return [shift_scores(*pair) for pair in zip(slopes, outlines, strict=True)]


def _frame(
    scene: Scene, place: int, visible_frac: float, scores: Float64Array | None
) -> FrameMeasurements:
    index = int(scene.camera.plan.pictures[place])
    return FrameMeasurements(
        frame_index=index,
        t_ns=int(scene.camera.frame_ns[index]),
        visible_frac=float(visible_frac),
        robot_px=int((scene.projection.labels[place] > 0).sum()),
        edge_score=None if scores is None else float(scores[SEARCH_PX, SEARCH_PX]),
    )


def _distal(scene: Scene) -> npt.NDArray[np.bool_]:
    links = scene.episode.distal_links or scene.episode.robot.distal_links()
    return np.array([False, *(name in links for name in scene.projection.link_names)])
