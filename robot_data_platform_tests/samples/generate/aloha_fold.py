"""The upload ``aloha_fold``: six episodes as rawlog folders; one video is cut short."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from robot_data_platform_tests.samples.generate import aloha, clock, fold, rawlog, truth, video
from robot_data_platform_tests.samples.generate.camera import Renderer
from robot_data_platform_tests.samples.generate.performance import Performance, Stage
from robot_data_platform_tests.samples.generate.truth import Facts

NAME = "aloha_fold"
TASK = "Fold the towel in half"
CONTROL_HZ, FPS = 100, 30
WIDTH_PX, HEIGHT_PX = 256, 192
CRF = 24
FIRST_START_NS = 1_772_010_251_000_000_000
EPISODE_STEP_NS = 60 * clock.NS_PER_S
ACTION_LEAD_NS = 1_100_000
"""The command is logged this long before the state that is read in the same cycle."""
SIGNAL_JITTER_NS, CAMERA_JITTER_NS = 20_000, 100_000
STATE_NOISE = np.array([0.0003] * 6 + [0.001] + [0.0003] * 6 + [0.001])
CAMERAS = {"env": "env", "left": "wrist_left", "right": "wrist_right"}
"""Name in the data: name in the model."""
CUT_SHARE = 0.6
"""Share of the bytes that is left of the cut video."""
Int64s = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Take:
    """What differs from episode to episode."""

    duration_s: float
    colour: str
    drivers: tuple[tuple[str, float], ...]
    """Who drives, and from which share of the episode on."""
    cut_camera: str | None = None


HUMAN, POLICY, INTERVENTION = "human", "policy", "intervention"
TAKES = (
    Take(duration_s=5.2, colour="blue", drivers=((HUMAN, 0.0),)),
    Take(duration_s=5.4, colour="green", drivers=((HUMAN, 0.0),)),
    Take(
        duration_s=5.1,
        colour="blue",
        drivers=((POLICY, 0.0), (INTERVENTION, 0.42), (POLICY, 0.68)),
    ),
    Take(duration_s=5.5, colour="orange", drivers=((POLICY, 0.0),)),
    Take(
        duration_s=5.3,
        colour="green",
        drivers=((POLICY, 0.0), (INTERVENTION, 0.55)),
        cut_camera="right",
    ),
    Take(duration_s=5.2, colour="orange", drivers=((HUMAN, 0.0), (POLICY, 0.5))),
)


def make(folder: Path, seed: int) -> Facts:
    """Write the upload and return its truth."""
    truth.write_profile(folder, _profile())
    episodes = [_episode(folder, number, take, seed) for number, take in enumerate(TAKES)]
    cameras = {name: {"fps": FPS, "width": WIDTH_PX, "height": HEIGHT_PX} for name in CAMERAS}
    return {
        "layout": "rawlog",
        "robot": "aloha",
        "control_hz": CONTROL_HZ,
        "joint_names": list(aloha.JOINT_NAMES),
        "cameras": cameras,
        "episodes": episodes,
    }


def _profile() -> Facts:
    return {
        "robot": "aloha",
        "description": "Two ViperX 300 arms fold a towel; rendered with MuJoCo.",
        "control_hz": CONTROL_HZ,
        "joints": {"unit": "rad", "names": list(aloha.JOINT_NAMES)},
        "gripper": {"convention": "zero_is_closed"},
        "cameras": {name: {"fps": FPS} for name in CAMERAS},
    }


def _episode(root: Path, number: int, take: Take, seed: int) -> Facts:
    rng = np.random.default_rng([seed, 1, number])
    stage, performance = fold.stage_fold(rng, colour=take.colour, duration_s=take.duration_s)
    name, start_ns = f"fold_{number:03d}", FIRST_START_NS + number * EPISODE_STEP_NS
    folder = root / "episodes" / name
    rawlog.write_json(
        folder / "episode.json", {"task": TASK, "robot": "aloha", "episode_index": number}, indent=2
    )
    state_ns = _write_signals(folder, performance, start_ns, rng)
    labels = _labels(take, state_ns)
    rawlog.write_events(folder, labels)
    return {
        "name": name,
        "source_episode_index": number,
        "task": TASK,
        "rows": len(state_ns),
        "control_hz": CONTROL_HZ,
        "start_ns": int(state_ns[0]),
        "end_ns": int(state_ns[-1]),
        "instruction": labels[0].value,
        "sources": [[label.value, label.start_ns, label.end_ns] for label in labels[1:]],
        "cameras": _write_cameras(folder, stage, take, start_ns, rng),
        "defect": _cut(folder, take),
    }


def _write_signals(
    folder: Path, performance: Performance, start_ns: int, rng: np.random.Generator
) -> Int64s:
    """Write state and action, each with its own clock; return the state's."""
    count = round(performance.duration_s * CONTROL_HZ)
    streams = {
        "observation_state": (performance.state, start_ns, STATE_NOISE),
        "action": (performance.command, start_ns - ACTION_LEAD_NS, 0 * STATE_NOISE),
    }
    clocks = {}
    for name, (values_at, first_ns, noise) in streams.items():
        timestamp_ns = clock.jittered_ns(
            rng, start_ns=first_ns, rate_hz=CONTROL_HZ, count=count, jitter_ns=SIGNAL_JITTER_NS
        )
        values = values_at((timestamp_ns - start_ns) / clock.NS_PER_S)
        values = values + rng.standard_normal(values.shape) * noise
        rawlog.write_signal(
            folder,
            name,
            timestamp_ns=timestamp_ns,
            values=values.astype(np.float32),
            names=aloha.JOINT_NAMES,
        )
        clocks[name] = timestamp_ns
    return clocks["observation_state"]


def _labels(take: Take, state_ns: Int64s) -> list[rawlog.Label]:
    """Return the instruction, then who drove, over the whole episode without gaps."""
    start_ns, end_ns = int(state_ns[0]), int(state_ns[-1]) + clock.NS_PER_S // CONTROL_HZ
    starts = [start_ns + round(share * (end_ns - start_ns)) for _, share in take.drivers]
    instruction = rawlog.Label(
        kind="instruction",
        value=f"fold the {take.colour} towel in half, away from you",
        start_ns=start_ns,
        end_ns=end_ns,
    )
    drivers = [
        rawlog.Label(kind="source", value=driver, start_ns=begin_ns, end_ns=stop_ns)
        for (driver, _), begin_ns, stop_ns in zip(
            take.drivers, starts, [*starts[1:], end_ns], strict=True
        )
    ]
    return [instruction, *drivers]


def _write_cameras(
    folder: Path, stage: Stage, take: Take, start_ns: int, rng: np.random.Generator
) -> Facts:
    """Write videos and time stamps; each camera runs from before the first row to past the last."""
    renderer = Renderer(stage.model, width_px=WIDTH_PX, height_px=HEIGHT_PX)
    facts: Facts = {}
    for camera, model_name in CAMERAS.items():
        first_ns = start_ns - int(rng.integers(2_000_000, 14_000_000))
        count = round(take.duration_s * FPS) + 2
        taken_ns = clock.jittered_ns(
            rng, start_ns=first_ns, rate_hz=FPS, count=count, jitter_ns=CAMERA_JITTER_NS
        )
        dropped = clock.dropped_frames(rng, count)
        shown_ns = np.delete(taken_ns, dropped)
        path = folder / "cameras" / f"{camera}.mp4"
        path.parent.mkdir(parents=True, exist_ok=True)
        times_s = (shown_ns - start_ns) / clock.NS_PER_S
        pictures = renderer.pictures(stage, model_name, times_s, rng)
        frames = video.write_h264(path, pictures, fps=FPS, crf=CRF)
        rawlog.write_timestamps(folder, camera, shown_ns)
        facts[camera] = {"frames": frames, "fps": FPS, "codec": "h264", "dropped_frames": dropped}
    renderer.close()
    return facts


def _cut(folder: Path, take: Take) -> Facts | None:
    """Cut the video that is to be broken; its index is at its end, so it can't be opened."""
    if take.cut_camera is None:
        return None
    path = folder / "cameras" / f"{take.cut_camera}.mp4"
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * CUT_SHARE)])
    return {
        "kind": "truncated_video",
        "camera": take.cut_camera,
        "bytes": path.stat().st_size,
        "bytes_before": len(whole),
    }
