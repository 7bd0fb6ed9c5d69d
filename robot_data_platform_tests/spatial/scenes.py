"""Robots, cameras and episodes whose geometry is known from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import av
import cv2
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.episode_input import CameraInput, SpatialInput
from robot_data_platform.spatial.frame_plan import joints_at, plan_frames
from robot_data_platform.spatial.joint_map import JointColumn, JointMap, mapped_joints
from robot_data_platform.spatial.robot_loader import load_robot, robot_named
from robot_data_platform.spatial.robot_model import RobotModel

TWO_JOINTS = """
<mujoco>
  <compiler angle="radian"/>
  <worldbody>
    <body name="base" pos="0 0 0.1">
      <geom type="box" size="0.05 0.05 0.05"/>
      <body name="upper" pos="0 0 0">
        <joint name="shoulder" axis="0 0 1" range="-2 2" limited="true"/>
        <geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.03"/>
        <body name="fore" pos="0.5 0 0">
          <joint name="elbow" axis="0 0 1" range="-2 2" limited="true"/>
          <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03"/>
          <body name="slider" pos="0.3 0 0">
            <joint name="reach" type="slide" axis="1 0 0" range="0 0.1" limited="true"/>
            <geom type="sphere" size="0.04"/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
"""A planar arm 0.1 m above its world: links of 0.5 m and 0.3 m, and a slider at the end."""

SIDES = ("left", "right")
ALOHA_JOINTS = ("waist", "shoulder", "elbow", "forearm_roll", "wrist_angle", "wrist_rotate")
ALOHA_COLUMNS = tuple(f"{side}_{joint}" for side in SIDES for joint in (*ALOHA_JOINTS, "gripper"))

Change = Callable[[Float64Array], Float64Array]


def two_joint_arm(folder: Path, **options: str) -> RobotModel:
    file = folder / "arm.xml"
    file.write_text(TWO_JOINTS)
    return load_robot(file, **options)  # type: ignore[arg-type]


def look_at(
    eye_m: tuple[float, float, float], target_m: tuple[float, float, float]
) -> Float64Array:
    """Return parent_from_cam, OpenCV axes, of a camera that is held level."""
    forward = np.subtract(target_m, eye_m) / np.linalg.norm(np.subtract(target_m, eye_m))
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    pose = np.eye(4)
    pose[:3, :3] = np.stack([right, np.cross(forward, right), forward], axis=1)
    pose[:3, 3] = eye_m
    return pose


def lens_px(width_px: int, height_px: int, fovy_deg: float) -> Float64Array:
    """Return the intrinsics of a centred camera that sees ``fovy_deg`` from top to bottom."""
    focal = height_px / 2 / np.tan(np.radians(fovy_deg / 2))
    return np.array([[focal, 0, (width_px - 1) / 2], [0, focal, (height_px - 1) / 2], [0, 0, 1]])


def aloha_joint_map() -> JointMap:
    """Return the map of 14 ALOHA values; grippers go from 0 (18.44 mm) to 1 (58 mm)."""
    arms = [
        JointColumn(column=f"{side}_{joint}", joint=f"vx300s_{side}/{joint}", unit="rad")
        for side in SIDES
        for joint in ALOHA_JOINTS
    ]
    fingers = [
        JointColumn(
            column=f"{side}_gripper",
            joint=f"vx300s_{side}/{finger}_finger",
            unit="1",
            sign=sign,
            scale=0.05800 - 0.01844,
            offset=sign * 0.01844,
        )
        for side in SIDES
        for finger, sign in (("left", 1), ("right", -1))
    ]
    return (*arms, *fingers)


@dataclass(frozen=True, slots=True, kw_only=True)
class CameraScene:
    """A camera as it was recorded, with its true calibration."""

    name: str
    parent_link: str
    parent_from_cam: Float64Array
    intrinsics_px: Float64Array
    frame_ns: npt.NDArray[np.int64]
    pictures: npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True, kw_only=True)
class AlohaScene:
    """An episode of two ViperX arms, as it was recorded."""

    row_ns: npt.NDArray[np.int64]
    state: Float64Array
    cameras: tuple[CameraScene, ...] = field(repr=False)

    def episode(
        self,
        *,
        state: Change = lambda state: state,
        place: Change = lambda pose: pose,
        lens: Change = lambda lens: lens,
        late_ms: float = 0.0,
    ) -> SpatialInput:
        """Return it for measuring, with its data changed; ``late_ms`` makes pictures late."""
        robot = robot_named("aloha")
        joints = mapped_joints(state(self.state), ALOHA_COLUMNS, aloha_joint_map(), robot)
        stated_ns = round(late_ms * 1e6)
        cameras = [
            _camera_input(camera, robot, joints, self.row_ns, stated_ns, place, lens)
            for camera in self.cameras
        ]
        return SpatialInput(
            episode="episode",
            robot=robot,
            row_ns=self.row_ns,
            joints=joints,
            cameras=tuple(cameras),
        )


def _camera_input(
    camera: CameraScene,
    robot: RobotModel,
    joints: Float64Array,
    row_ns: npt.NDArray[np.int64],
    stated_ns: int,
    place: Change,
    lens: Change,
) -> CameraInput:
    frame_ns = camera.frame_ns + stated_ns
    at_frames = joints_at(joints, row_ns, frame_ns, ~robot.is_prismatic)
    plan = plan_frames(at_frames, frame_ns)
    height, width = camera.pictures.shape[1:3]
    greys = [cv2.cvtColor(camera.pictures[k], cv2.COLOR_RGB2GRAY) for k in plan.motion]
    small = [cv2.resize(grey, (96, 72), interpolation=cv2.INTER_AREA) for grey in greys]
    return CameraInput(
        name=camera.name,
        frame_ns=frame_ns,
        width_px=width,
        height_px=height,
        plan=plan,
        pictures=camera.pictures[plan.pictures],
        motion_greys=np.stack(small),
        intrinsics_px=lens(camera.intrinsics_px),
        parent_from_cam=place(camera.parent_from_cam),
        parent_link=camera.parent_link,
    )


def recorded_aloha(folder: Path) -> AlohaScene:
    """Return an episode of ``lerobot_v1_arrow``: 50 Hz, one camera above two arms."""
    with pa.OSFile(str(folder / "train" / "data-00000-of-00001.arrow")) as file:
        table = pa.ipc.open_stream(file).read_all()
    row_ns = np.rint(1e9 * np.array(table["timestamp"].to_pylist())).astype(np.int64)
    (video,) = (folder / "videos").glob("*.mp4")
    top = np.diag([1.0, -1.0, -1.0, 1.0])  # above the table, looking straight down
    top[:3, 3] = [0, 0.6, 0.8]
    camera = CameraScene(
        name="top",
        parent_link="base",
        parent_from_cam=top,
        intrinsics_px=lens_px(640, 480, 78),
        frame_ns=row_ns,
        pictures=decoded(video),
    )
    state = np.array(table["observation.state"].to_pylist(), dtype=np.float64)
    return AlohaScene(row_ns=row_ns, state=state, cameras=(camera,))


def sample_aloha(samples: Path, name: str) -> AlohaScene:
    """Return an episode of the sample ``aloha_fold``: one camera before, two on the wrists."""
    folder = samples / "aloha_fold" / "episodes" / name
    table = pq.read_table(folder / "signals" / "observation_state.parquet")
    wrist = look_at((-0.09, 0, 0.10), (0.16, 0, -0.01))
    mounts = {
        "env": ("base", look_at((0.0, 0.06, 0.58), (0.0, 0.53, 0.05)), 64.0),
        "left": ("vx300s_left/gripper_link", wrist, 68.0),
        "right": ("vx300s_right/gripper_link", wrist, 68.0),
    }
    cameras = [
        CameraScene(
            name=camera,
            parent_link=link,
            parent_from_cam=pose,
            intrinsics_px=lens_px(256, 192, fovy_deg),
            frame_ns=_stamps(folder / "cameras" / f"{camera}.timestamps.json"),
            pictures=decoded(folder / "cameras" / f"{camera}.mp4"),
        )
        for camera, (link, pose, fovy_deg) in mounts.items()
    ]
    state = np.stack([table[column].to_numpy() for column in ALOHA_COLUMNS], axis=1)
    return AlohaScene(
        row_ns=table["timestamp_ns"].to_numpy(),
        state=state.astype(np.float64),
        cameras=tuple(cameras),
    )


def _stamps(file: Path) -> npt.NDArray[np.int64]:
    return np.array(json.loads(file.read_text())["timestamp_ns"], dtype=np.int64)


def decoded(video: Path) -> npt.NDArray[np.uint8]:
    with av.open(str(video)) as container:
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    return np.stack(frames)
