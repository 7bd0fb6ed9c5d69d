"""One recording as a rawlog upload: signals, videos, the true calibration, masks of the robot."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import av
import mujoco
import numpy as np
import numpy.typing as npt
from av.video import VideoStream

from robot_data_platform_tests.golden.generate.robots import DURATION_S, PROP, Robot
from robot_data_platform_tests.samples.generate import rawlog, video
from robot_data_platform_tests.samples.generate.camera import Renderer
from robot_data_platform_tests.samples.generate.motion import Floats

WIDTH_PX, HEIGHT_PX = 320, 240
CONTROL_HZ, FPS, CRF = 100, 30, 24
START_NS = 1_772_100_000_000_000_000
DELAYS_NS = (0, 4_000_000, 9_000_000)
"""By which the cameras are exposed after each other, and stamped so."""
NUM_FRAMES = 150
OPENCV_FROM_OPENGL = np.diag([1.0, -1.0, -1.0])


def write(folder: Path, robot: Robot, seed: int) -> None:
    """Write the upload below ``folder / upload`` and the masks beside it."""
    rng = np.random.default_rng(seed)
    upload = folder / "upload"
    episode = upload / "episodes" / "take_000"
    rawlog.write_json(episode / "episode.json", {"task": "Wander about", "robot": robot.name})
    row_ns = START_NS + np.arange(round(DURATION_S * CONTROL_HZ)) * (10**9 // CONTROL_HZ)
    state = robot.motion.at((row_ns - START_NS) / 1e9)
    rawlog.write_signal(
        episode,
        "observation_state",
        timestamp_ns=row_ns,
        values=state.astype(np.float32),
        names=robot.columns,
    )
    renderer = Renderer(robot.model, width_px=WIDTH_PX, height_px=HEIGHT_PX)
    calibrations = {}
    for camera, delay_ns in zip(robot.cameras, DELAYS_NS, strict=True):
        frame_ns = START_NS + 60_000_000 + delay_ns + np.arange(NUM_FRAMES) * (10**9 // FPS)
        times_s = (frame_ns - START_NS) / 1e9
        path = episode / "cameras" / f"{camera}.mp4"
        path.parent.mkdir(parents=True, exist_ok=True)
        pictures = renderer.pictures(_Moments(robot), camera, times_s, rng)
        video.write_h264(path, pictures, fps=FPS, crf=CRF)
        rawlog.write_timestamps(episode, camera, frame_ns)
        _write_masks(folder / f"masks_{camera}.mkv", _masks(robot, camera, times_s))
        calibrations[camera] = _calibration(robot, camera)
    renderer.close()
    _write_profile(upload / "profile.yaml", robot, calibrations)


class _Moments:
    """The scene at any moment, as `Renderer` asks for it."""

    def __init__(self, robot: Robot) -> None:
        self.model, self._robot, self._data = robot.model, robot, mujoco.MjData(robot.model)
        prop = self._data.body(PROP).id
        self._prop = int(robot.model.body_mocapid[prop])

    def set_time(self, time_s: float) -> mujoco.MjData:
        """Return the scene's data at ``time_s``."""
        state = self._robot.motion.at(np.array([time_s]))[0]
        self._robot.place(self.model, self._data, state.astype(np.float32))
        self._data.mocap_pos[self._prop] = [-1.3, -1.2 + 0.45 * time_s, 0.1]
        mujoco.mj_kinematics(self.model, self._data)
        mujoco.mj_comPos(self.model, self._data)
        mujoco.mj_camlight(self.model, self._data)
        return self._data


def _masks(robot: Robot, camera: str, times_s: Floats) -> Iterator[npt.NDArray[np.bool_]]:
    """Yield where MuJoCo's renderer shows the robot, (H, W), at each time."""
    stage, model = _Moments(robot), robot.model
    is_robot = np.array([_is_robot(robot, int(body)) for body in model.geom_bodyid])
    renderer = mujoco.Renderer(model, HEIGHT_PX, WIDTH_PX)
    renderer.enable_segmentation_rendering()
    for time_s in times_s:
        renderer.update_scene(stage.set_time(float(time_s)), camera=camera)
        ids, kinds = np.moveaxis(renderer.render(), -1, 0)
        is_geom = kinds == int(mujoco.mjtObj.mjOBJ_GEOM)
        yield is_geom & is_robot[np.where(is_geom, ids, 0)]
    renderer.close()


def _is_robot(robot: Robot, body: int) -> bool:
    while body:
        if robot.model.body(body).name in robot.roots:
            return True
        body = int(robot.model.body_parentid[body])
    return False


def _write_masks(path: Path, masks: Iterator[npt.NDArray[np.bool_]]) -> None:
    """Write masks as a lossless grey video."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=FPS, options={"qp": "0", "preset": "slow"})
        assert isinstance(stream, VideoStream)
        stream.pix_fmt, stream.width, stream.height = "gray", WIDTH_PX, HEIGHT_PX
        stream.codec_context.thread_count = 1
        for number, mask in enumerate(masks):
            frame = av.VideoFrame.from_ndarray(mask.astype(np.uint8) * 255, format="gray")
            frame.pts, frame.time_base = number, Fraction(1, FPS)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


def _calibration(robot: Robot, camera: str) -> dict[str, object]:
    """Return the true lens and place, as a profile states them."""
    model = robot.model
    number = model.camera(camera).id
    rotation = np.zeros(9)
    mujoco.mju_quat2Mat(rotation, model.cam_quat[number])
    pose = np.eye(4)
    pose[:3, :3] = rotation.reshape(3, 3) @ OPENCV_FROM_OPENGL
    pose[:3, 3] = model.cam_pos[number]
    body = int(model.cam_bodyid[number])
    focal = HEIGHT_PX / 2 / np.tan(np.radians(model.cam_fovy[number]) / 2)
    return {
        "fps": FPS,
        "intrinsics": {
            "width_px": WIDTH_PX,
            "height_px": HEIGHT_PX,
            "fx": round(float(focal), 6),
            "fy": round(float(focal), 6),
            "cx": (WIDTH_PX - 1) / 2,
            "cy": (HEIGHT_PX - 1) / 2,
        },
        "extrinsics": {
            "direction": "base_from_cam",
            "axes": "opencv",
            "parent": model.body(body).name if body else "base",
            "matrix": [[round(float(value), 9) for value in row] for row in pose],
        },
    }


def _write_profile(path: Path, robot: Robot, calibrations: dict[str, dict[str, object]]) -> None:
    """Write the profile as JSON, which YAML reads."""
    profile = {
        "version": 1,
        "robot": robot.profile_robot,
        "description": "Rendered with MuJoCo; every number is true.",
        "control_hz": CONTROL_HZ,
        "joints": {"unit": list(robot.units), "names": list(robot.columns)},
        "gripper": {"convention": "zero_is_closed", "range": [0, 1]},
        "cameras": calibrations,
    }
    lines = json.dumps(profile, indent=1)
    path.write_text(lines + "\n", encoding="utf-8")
