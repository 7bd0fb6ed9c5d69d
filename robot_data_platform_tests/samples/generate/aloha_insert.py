"""The upload ``aloha_insert``: three episodes as ACT's HDF5 files; one state value is NaN."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robot_data_platform_tests.samples.generate import act_hdf5, aloha, insert, truth
from robot_data_platform_tests.samples.generate.camera import Renderer
from robot_data_platform_tests.samples.generate.truth import Facts

NAME = "aloha_insert"
TASK = "Insert the red peg into the blue socket"
CONTROL_HZ = 50
WIDTH_PX, HEIGHT_PX = 160, 120
JPEG_QUALITY = 50
"""ACT's own setting."""
CAMERAS = {"cam_high": "cam_high", "cam_left_wrist": "wrist_left"}
"""Name in the data: name in the model."""
STATE_NOISE = np.array([0.0003] * 6 + [0.001] + [0.0003] * 6 + [0.001])
RATE_NOISE = 0.004


@dataclass(frozen=True, slots=True, kw_only=True)
class Take:
    """What differs from episode to episode."""

    rows: int
    nan_at: tuple[int, int] | None = None
    """Row and dimension of the state."""


TAKES = (Take(rows=260), Take(rows=270, nan_at=(137, 9)), Take(rows=255))


def make(folder: Path, seed: int) -> Facts:
    """Write the upload and return its truth."""
    truth.write_profile(folder, _profile())
    episodes = [_episode(folder, number, take, seed) for number, take in enumerate(TAKES)]
    size = {"fps": CONTROL_HZ, "width": WIDTH_PX, "height": HEIGHT_PX}
    return {
        "layout": "aloha_hdf5",
        "robot": "aloha",
        "control_hz": CONTROL_HZ,
        "joint_names": list(aloha.JOINT_NAMES),
        "cameras": dict.fromkeys(CAMERAS, size),
        "episodes": episodes,
    }


def _profile() -> Facts:
    return {
        "robot": "aloha",
        "description": "Two ViperX 300 arms put a peg into a socket; rendered with MuJoCo.",
        "task": TASK,
        "control_hz": CONTROL_HZ,
        "joints": {"unit": "rad", "names": list(aloha.JOINT_NAMES)},
        "gripper": {"convention": "zero_is_closed"},
        "picture_channel_order": "rgb",
        "cameras": {name: {"fps": CONTROL_HZ} for name in CAMERAS},
    }


def _episode(folder: Path, number: int, take: Take, seed: int) -> Facts:
    rng = np.random.default_rng([seed, 3, number])
    stage, performance = insert.stage_insert(rng, duration_s=take.rows / CONTROL_HZ)
    times_s = np.arange(take.rows) / CONTROL_HZ
    renderer = Renderer(stage.model, width_px=WIDTH_PX, height_px=HEIGHT_PX)
    images = {
        camera: [
            act_hdf5.jpeg(picture, quality=JPEG_QUALITY)
            for picture in renderer.pictures(stage, model_name, times_s, rng)
        ]
        for camera, model_name in CAMERAS.items()
    }
    renderer.close()
    qpos = performance.state(times_s)
    qpos += rng.standard_normal(qpos.shape) * STATE_NOISE
    if take.nan_at:
        qpos[take.nan_at] = np.nan
    qvel = performance.velocity(times_s)
    qvel += rng.standard_normal(qvel.shape) * RATE_NOISE
    act_hdf5.write_episode(
        folder / f"episode_{number}.hdf5",
        qpos=qpos.astype(np.float32),
        qvel=qvel.astype(np.float32),
        action=performance.command(times_s).astype(np.float32),
        images=images,
    )
    return _facts(number, take)


def _facts(number: int, take: Take) -> Facts:
    camera = {"frames": take.rows, "fps": CONTROL_HZ, "codec": "jpeg", "dropped_frames": []}
    defect = take.nan_at and {
        "kind": "nan_in_state",
        "row": take.nan_at[0],
        "dimension": take.nan_at[1],
        "joint": aloha.JOINT_NAMES[take.nan_at[1]],
    }
    return {
        "name": f"episode_{number}",
        "source_episode_index": number,
        "task": TASK,
        "rows": take.rows,
        "control_hz": CONTROL_HZ,
        "cameras": dict.fromkeys(CAMERAS, camera),
        "defect": defect,
    }
