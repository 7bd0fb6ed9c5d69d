"""The upload ``so101_pick``: six episodes as LeRobot v3.0; one camera freezes as the arm moves."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from robot_data_platform_tests.samples.generate import (
    lerobot,
    lerobot_stats,
    pick,
    so101,
    truth,
    video,
)
from robot_data_platform_tests.samples.generate.camera import Picture, Renderer
from robot_data_platform_tests.samples.generate.truth import Facts

NAME = "so101_pick"
FPS = 30
CRF = 41
STATE_NOISE_DEG = np.array([0.03] * 5 + [0.08])
CAMERAS = {"observation.images.top": "top", "observation.images.wrist": "wrist_cam"}
"""Video key: name in the model."""
FILE_OF_EPISODE = {
    "observation.images.top": (0, 0, 0, 0, 0, 0),
    "observation.images.wrist": (0, 0, 0, 1, 1, 1),
}
LAYOUT = lerobot.Layout(
    robot_type="so101_follower",
    fps=FPS,
    joint_names=so101.JOINT_NAMES,
    video_keys=tuple(CAMERAS),
    width_px=224,
    height_px=168,
    crf=CRF,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Freeze:
    """A camera that delivers the same picture for a while."""

    key: str
    first_frame: int
    """The picture that is repeated."""
    frames: int
    """How often it is shown in all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Take:
    """What differs from episode to episode."""

    frames: int
    task: pick.PickTask
    freeze: Freeze | None = None


TAKES = (
    Take(frames=158, task=pick.TASKS[0]),
    Take(frames=162, task=pick.TASKS[1]),
    Take(frames=155, task=pick.TASKS[0]),
    Take(
        frames=164,
        task=pick.TASKS[1],
        freeze=Freeze(key="observation.images.top", first_frame=62, frames=46),
    ),
    Take(frames=157, task=pick.TASKS[0]),
    Take(frames=160, task=pick.TASKS[1]),
)


def make(folder: Path, seed: int) -> Facts:
    """Write the upload and return its truth."""
    truth.write_profile(folder, _profile())
    with TemporaryDirectory() as scratch:
        shot = [_shoot(Path(scratch), number, take, seed) for number, take in enumerate(TAKES)]
        places = {key: _join(folder, Path(scratch), key) for key in CAMERAS}
    episodes = [
        lerobot.Episode(
            task=take.task.text,
            state=state,
            action=action,
            videos={key: places[key][number] for key in CAMERAS},
            picture_stats=stats,
        )
        for number, (take, (state, action, stats)) in enumerate(zip(TAKES, shot, strict=True))
    ]
    lerobot.write_dataset(folder, LAYOUT, episodes)
    return _facts(places)


def _profile() -> Facts:
    return {
        "robot": "so101",
        "description": "An SO-101 puts cubes away; rendered with MuJoCo. All joints in degrees.",
        "control_hz": FPS,
        "joints": {"unit": "deg", "names": list(so101.JOINT_NAMES)},
        "gripper": {"convention": "zero_is_closed"},
    }


def _shoot(
    scratch: Path, number: int, take: Take, seed: int
) -> tuple[lerobot.Float32s, lerobot.Float32s, dict[str, lerobot_stats.FeatureStats]]:
    """Encode each camera into a file of its own; return state, action and picture statistics."""
    rng = np.random.default_rng([seed, 2, number])
    stage, performance = pick.stage_pick(rng, task=take.task, duration_s=take.frames / FPS)
    times_s = np.arange(take.frames) / FPS
    renderer = Renderer(stage.model, width_px=LAYOUT.width_px, height_px=LAYOUT.height_px)
    stats = {}
    for key in CAMERAS:
        pictures = list(renderer.pictures(stage, CAMERAS[key], times_s, rng))
        if take.freeze and take.freeze.key == key:
            _freeze(pictures, take.freeze)
        video.write_av1(_part(scratch, key, number), pictures, fps=FPS, crf=CRF)
        stats[key] = lerobot_stats.of_pictures(pictures)
    renderer.close()
    state = performance.state(times_s)
    state += rng.standard_normal(state.shape) * STATE_NOISE_DEG
    return state.astype(np.float32), performance.command(times_s).astype(np.float32), stats


def _freeze(pictures: list[Picture], freeze: Freeze) -> None:
    last = freeze.first_frame + freeze.frames
    pictures[freeze.first_frame : last] = [pictures[freeze.first_frame]] * freeze.frames


def _part(scratch: Path, key: str, number: int) -> Path:
    return scratch / f"{key}_{number}.mp4"


def _join(folder: Path, scratch: Path, key: str) -> list[lerobot.VideoPlace]:
    """Copy the episodes' packets into the camera's files; return where each episode lies."""
    places: list[lerobot.VideoPlace] = []
    files = FILE_OF_EPISODE[key]
    for file_index in sorted(set(files)):
        path = folder / lerobot.VIDEO_PATH.format(
            video_key=key, chunk_index=0, file_index=file_index
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        numbers = [number for number, used in enumerate(files) if used == file_index]
        edges = video.concatenate([_part(scratch, key, number) for number in numbers], path)
        places += [
            lerobot.VideoPlace(file_index=file_index, from_timestamp=start, to_timestamp=end)
            for start, end in pairwise(edges)
        ]
    return places


def _facts(places: dict[str, list[lerobot.VideoPlace]]) -> Facts:
    size = {"fps": FPS, "width": LAYOUT.width_px, "height": LAYOUT.height_px}
    return {
        "layout": "lerobot_v3.0",
        "robot": "so101",
        "control_hz": FPS,
        "joint_names": list(so101.JOINT_NAMES),
        "cameras": dict.fromkeys(CAMERAS, size),
        "episodes": [_episode_facts(number, take, places) for number, take in enumerate(TAKES)],
    }


def _episode_facts(number: int, take: Take, places: dict[str, list[lerobot.VideoPlace]]) -> Facts:
    cameras = {
        key: {
            "frames": take.frames,
            "fps": FPS,
            "codec": "av1",
            "dropped_frames": [],
            "file_index": places[key][number].file_index,
            "first_frame_in_file": round(places[key][number].from_timestamp * FPS),
        }
        for key in CAMERAS
    }
    freeze = take.freeze and {
        "kind": "frozen_camera",
        "camera": take.freeze.key,
        "first_frame": take.freeze.first_frame,
        "frames": take.freeze.frames,
    }
    return {
        "name": f"episode_{number:06d}",
        "source_episode_index": number,
        "task": take.task.text,
        "rows": take.frames,
        "control_hz": FPS,
        "cameras": cameras,
        "defect": freeze,
    }
