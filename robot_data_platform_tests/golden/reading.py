"""The golden recordings as uploads, as episodes to measure, and with one thing made wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import av
import cv2
import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.episode_input import CameraInput, SpatialInput
from robot_data_platform.spatial.frame_plan import joints_at, plan_frames
from robot_data_platform.spatial.joint_map import mapped_joints
from robot_data_platform.spatial.robot_loader import robot_named
from robot_data_platform.spatial.usual_columns import GripperFact, usual_joint_map
from robot_data_platform.spatial.working_pictures import motion_grey

DATA = Path(__file__).parent / "data"
EPISODE = "take_000"
CAMERAS = {"panda": ("ext1", "ext2", "wrist"), "aloha": ("cam_front", "cam_above", "wrist_left")}

Stored = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True, kw_only=True)
class Golden:
    """A recording whose every number is true."""

    name: str
    profile: dict[str, object]
    row_ns: npt.NDArray[np.int64]
    state: Float64Array
    columns: tuple[str, ...]
    frame_ns: Mapping[str, npt.NDArray[np.int64]]
    pictures: Mapping[str, Stored] = field(repr=False)
    masks: Mapping[str, npt.NDArray[np.bool_]] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What is made wrong; by default nothing."""

    state: Callable[[Float64Array], Float64Array] = lambda state: state
    place: Mapping[str, Callable[[Float64Array], Float64Array]] = field(default_factory=dict)
    """By camera; ``*`` is every camera."""
    lens: Mapping[str, Callable[[Float64Array], Float64Array]] = field(default_factory=dict)
    pictures: Mapping[str, Callable[[Stored], Stored]] = field(default_factory=dict)
    swap: tuple[str, str] | None = None
    """Cameras whose calibrations are taken for each other's."""
    late_ms: float = 0.0


def upload_folder(name: str) -> Path:
    """Return the upload of a recording."""
    return DATA / name / "upload"


def golden(name: str) -> Golden:
    """Return a recording."""
    folder = upload_folder(name) / "episodes" / EPISODE
    table = pq.read_table(folder / "signals" / "observation_state.parquet")
    columns = tuple(column for column in table.column_names if column != "timestamp_ns")
    cameras = CAMERAS[name]
    return Golden(
        name=name,
        profile=json.loads((upload_folder(name) / "profile.yaml").read_text()),
        row_ns=table["timestamp_ns"].to_numpy(),
        state=np.stack([table[c].to_numpy() for c in columns], axis=1).astype(np.float64),
        columns=columns,
        frame_ns={camera: _stamps(folder, camera) for camera in cameras},
        pictures={c: _video(folder / "cameras" / f"{c}.mp4", "rgb24") for c in cameras},
        masks={c: _video(DATA / name / f"masks_{c}.mkv", "gray") > 127 for c in cameras},
    )


def _stamps(folder: Path, camera: str) -> npt.NDArray[np.int64]:
    text = (folder / "cameras" / f"{camera}.timestamps.json").read_text()
    return np.array(json.loads(text)["timestamp_ns"], dtype=np.int64)


def _video(path: Path, form: str) -> Stored:
    with av.open(str(path)) as container:
        return np.stack([f.to_ndarray(format=form) for f in container.decode(video=0)])


def episode(
    recording: Golden, fault: Fault | None = None, *, with_masks: np.random.Generator | None = None
) -> SpatialInput:
    """Return a recording for measuring, with a fault; with masks as a model would find them."""
    fault = fault or Fault()
    robot = robot_named(str(recording.profile["robot"]))
    state = fault.state(recording.state)
    units = [None if "gripper" in column else "rad" for column in recording.columns]
    gripper = GripperFact(convention="zero_is_closed", range=(0.0, 1.0))
    joint_map = usual_joint_map(recording.columns, units, state, robot, gripper)
    joints = mapped_joints(state, recording.columns, joint_map, robot)
    late_ns = round(fault.late_ms * 1e6)
    cameras = []
    for name in recording.pictures:
        frame_ns = recording.frame_ns[name] + late_ns
        at = joints_at(joints, recording.row_ns, frame_ns, ~robot.is_prismatic)
        plan = plan_frames(at, frame_ns)
        turn = fault.pictures.get(name, fault.pictures.get("*", lambda pictures: pictures))
        pictures = turn(recording.pictures[name])
        greys = [motion_grey(cv2.cvtColor(pictures[k], cv2.COLOR_RGB2GRAY)) for k in plan.motion]
        masks = None
        if with_masks is not None:
            levels = recording.masks[name][plan.pictures].astype(np.uint8)[..., None]
            shown = turn(levels)[..., 0] > 0
            masks = np.stack([noisy_mask(mask, with_masks) for mask in shown])
        camera = CameraInput(
            name=name,
            frame_ns=frame_ns,
            width_px=pictures.shape[2],
            height_px=pictures.shape[1],
            plan=plan,
            pictures=np.ascontiguousarray(pictures[plan.pictures]),
            motion_greys=np.stack(greys),
            masks=masks,
        )
        cameras.append(_calibrated(camera, recording, fault))
    return SpatialInput(
        episode=recording.name,
        robot=robot,
        row_ns=recording.row_ns,
        joints=joints,
        cameras=tuple(cameras),
    )


def _calibrated(camera: CameraInput, recording: Golden, fault: Fault) -> CameraInput:
    source = camera.name
    if fault.swap and source in fault.swap:
        source = next(name for name in fault.swap if name != camera.name)
    pose, lens, parent = calibration(recording, source)
    place = fault.place.get(camera.name, fault.place.get("*", lambda value: value))
    bend = fault.lens.get(camera.name, fault.lens.get("*", lambda value: value))
    return replace(
        camera, intrinsics_px=bend(lens), parent_from_cam=place(pose), parent_link=parent
    )


def calibration(recording: Golden, camera: str) -> tuple[Float64Array, Float64Array, str]:
    """Return the true place (4, 4), the true lens (3, 3), and what carries the camera."""
    stated = recording.profile["cameras"][camera]  # type: ignore[index]
    lens, place = stated["intrinsics"], stated["extrinsics"]
    matrix = [[lens["fx"], 0, lens["cx"]], [0, lens["fy"], lens["cy"]], [0, 0, 1]]
    return np.array(place["matrix"]), np.array(matrix, dtype=np.float64), place["parent"]


def noisy_mask(mask: npt.NDArray[np.bool_], rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Return a mask as a model finds it: its edge wobbles by 1.5 px, and a blob may be wrong."""
    outside = cv2.distanceTransform((~mask).astype(np.uint8), cv2.DIST_L2, 5)
    inside = cv2.distanceTransform(mask.astype(np.uint8), cv2.DIST_L2, 5)
    wobble = cv2.GaussianBlur(rng.standard_normal(mask.shape), (0, 0), 5)
    found = np.where(mask, -inside, outside) < 1.5 * wobble / wobble.std()
    if rng.uniform() < 0.3 and mask.any():
        y, x = np.argwhere(mask)[rng.integers(mask.sum())]
        blob = np.zeros(mask.shape, np.uint8)
        cv2.circle(blob, (int(x), int(y)), int(rng.integers(4, 9)), 1, -1)
        found = found ^ (blob > 0) if rng.uniform() < 0.5 else found & (blob == 0)
    return np.asarray(found)
