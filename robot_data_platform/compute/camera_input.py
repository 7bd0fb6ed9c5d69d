"""One camera of an episode as the spatial checks take it: its lens, its place, its pictures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from robot_data_platform.core.calibration import ROBOT_BASE
from robot_data_platform.quality.stored_episode import read_blobs
from robot_data_platform.spatial.episode_input import CameraInput
from robot_data_platform.spatial.frame_plan import FramePlan, joints_at, plan_frames
from robot_data_platform.spatial.judgement import not_measured
from robot_data_platform.spatial.projection import Pinhole
from robot_data_platform.spatial.working_pictures import motion_grey, working_picture
from robot_data_platform.video.decode import GopDecoder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from robot_data_platform.core.calibration import CameraCalibration
    from robot_data_platform.core.finding import Finding
    from robot_data_platform.core.rotation import Float64Array
    from robot_data_platform.quality.stored_episode import StoredGop, StoredStream
    from robot_data_platform.spatial.robot_model import RobotModel
    from robot_data_platform.storage.table import LakeTable

OPENCV_MODELS = ("plumb_bob", "rational_polynomial", "opencv", "brown_conrady")
FISHEYE_MODELS = ("equidistant", "fisheye", "kannala_brandt")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lens:
    intrinsics_px: Float64Array | None = None
    distortion: tuple[float, ...] = ()
    is_fisheye: bool = False


def camera_input(
    gops: LakeTable,
    stream: StoredStream,
    known: CameraCalibration | None,
    robot: RobotModel,
    joints: Float64Array,
    row_ns: npt.NDArray[np.int64],
    only: Sequence[int] | None = None,
) -> tuple[CameraInput, list[Finding]]:
    """Return a camera with the pictures to measure, and what of its calibration can't be used.

    Where its lens or its place is not known, no picture is decoded. With ``only``, none but those
    frames are.

    Raises
    ------
    DataFaultError
        ``gop-damaged``: a picture does not decode.
    """
    lens, lens_doubts = _lens(stream, known)
    place, parent, place_doubts = _place(stream.camera, known, robot)
    frame_ns = stream.pts_ns
    camera = CameraInput(
        name=stream.camera,
        frame_ns=frame_ns,
        width_px=stream.format.width_px,
        height_px=stream.format.height_px,
        plan=_plan_of(),
        pictures=np.zeros((0, 1, 1, 3), np.uint8),
        motion_greys=np.zeros((0, 1, 1), np.uint8),
        intrinsics_px=lens.intrinsics_px,
        distortion=lens.distortion,
        is_fisheye=lens.is_fisheye,
        parent_from_cam=place,
        parent_link=parent,
        stated_direction=(known and known.stated_direction) or "base_from_cam",
        stated_axes=(known and known.stated_axes) or "opencv",
    )
    doubts = [*lens_doubts, *place_doubts]
    is_unusable = lens.intrinsics_px is None or place is None or not np.isfinite(joints).any()
    if is_unusable or (only is not None and not len(only)):
        return camera, doubts
    plan = (
        _plan_of(*only)
        if only is not None
        else plan_frames(joints_at(joints, row_ns, frame_ns, ~robot.is_prismatic), frame_ns)
    )
    pictures = working_frames(gops, stream, plan.pictures)
    greys = _greys(gops, stream, plan.motion)
    return replace(camera, plan=plan, pictures=pictures, motion_greys=greys), doubts


def _lens(stream: StoredStream, known: CameraCalibration | None) -> tuple[_Lens, list[Finding]]:
    """Return the lens for the pictures as they are stored."""
    if known is None or known.intrinsics_px is None:
        return _Lens(), []
    model = (known.distortion_model or "plumb_bob").lower()
    if any(known.distortion_coefficients) and model not in OPENCV_MODELS + FISHEYE_MODELS:
        reason = f"distortion of the model {model!r} can't be undone"
        return _Lens(), [not_measured("camera_is_measurable", f"camera={stream.camera}", reason)]
    width, height = stream.format.width_px, stream.format.height_px
    stated = Pinhole(
        intrinsics_px=known.intrinsics_px,
        width_px=known.width_px or width,
        height_px=known.height_px or height,
    )
    lens = _Lens(
        intrinsics_px=stated.resized(width, height).intrinsics_px,
        distortion=known.distortion_coefficients,
        is_fisheye=model in FISHEYE_MODELS,
    )
    return lens, []


def _place(
    name: str, known: CameraCalibration | None, robot: RobotModel
) -> tuple[Float64Array | None, str, list[Finding]]:
    if known is None or known.base_from_cam is None:
        return None, ROBOT_BASE, []
    parent = known.parent_frame
    if parent == ROBOT_BASE or parent in robot.link_names:
        return known.base_from_cam, parent, []
    reason = f"the robot {robot.name!r} has no link {parent!r} that carries the camera"
    return None, ROBOT_BASE, [not_measured("camera_is_measurable", f"camera={name}", reason)]


def _plan_of(*frames: int) -> FramePlan:
    none = np.zeros(0, np.int64)
    single = np.array(frames, dtype=np.int64)
    return FramePlan(single=single, pair_first=none, pair_second=none, motion=range(0))


def working_frames(
    gops: LakeTable, stream: StoredStream, frames: npt.NDArray[np.int64]
) -> npt.NDArray[np.uint8]:
    """Return frames of a stream (sorted) as RGB at the working size, (K, h, w, 3)."""
    decoder = GopDecoder()
    pictures = [
        working_picture(picture)
        for gop, blob, wanted in _gops_with(gops, stream, frames)
        for picture in decoder.decode_rgb(gop.packets, blob, wanted, stream.format)
    ]
    return np.stack(pictures) if pictures else np.zeros((0, 1, 1, 3), np.uint8)


def _greys(gops: LakeTable, stream: StoredStream, frames: range) -> npt.NDArray[np.uint8]:
    """Return consecutive frames as small grey pictures, (M, h, w)."""
    decoder, wanted_frames = GopDecoder(), np.arange(frames.start, frames.stop, dtype=np.int64)
    greys = [
        motion_grey(luma)
        for gop, blob, wanted in _gops_with(gops, stream, wanted_frames)
        for luma in decoder.decode_luma(gop.packets, blob, wanted, stream.format)
    ]
    return np.stack(greys) if greys else np.zeros((0, 1, 1), np.uint8)


def _gops_with(
    gops: LakeTable, stream: StoredStream, frames: npt.NDArray[np.int64]
) -> Iterator[tuple[StoredGop, bytes, npt.NDArray[np.int64]]]:
    """Yield each GOP that has some of the frames (sorted), and their places in it."""
    inside = {
        gop.gop_index: frames[
            (frames >= gop.first_frame) & (frames < gop.first_frame + gop.num_frames)
        ]
        - gop.first_frame
        for gop in stream.gops
    }
    needed = replace(stream, gops=tuple(g for g in stream.gops if len(inside[g.gop_index])))
    for gop, blob in read_blobs(gops, needed):
        yield gop, blob, inside[gop.gop_index]
