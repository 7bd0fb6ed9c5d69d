"""Clips of robot pictures from files, brought to one size and played as long as wanted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import av
import numpy as np
import numpy.typing as npt
from av.video.reformatter import Interpolation

Pictures = npt.NDArray[np.uint8]

REPOSITORY = Path(__file__).parents[2]
SHARED = REPOSITORY.parent / "shared" / "data"
SAMPLES = REPOSITORY / "robot_data_platform_tests" / "samples" / "data"
NOISE_SIGMA = 1.5
"""Grey levels of the noise that is put on enlarged pictures, which are smoother than a camera's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipSource:
    """Video files whose pictures make one camera."""

    origin: str
    """What they show, for the page."""
    files: tuple[Path, ...]


def clip_sources() -> dict[str, ClipSource]:
    """Return what each camera shows: recordings beside the repository, else rendered samples."""
    recorded, rendered = _recorded(), _rendered()
    return {
        camera: source if all(f.is_file() for f in source.files) else rendered[camera]
        for camera, source in recorded.items()
    }


def _recorded() -> dict[str, ClipSource]:
    sim = SHARED / "lerobot_v1_arrow"
    head = SHARED / "lerobot_v21_g1_inspire" / "videos" / "chunk-000"
    wrist = SHARED / "lerobot_v30_piper_2cam" / "videos"
    return {
        "top": ClipSource(
            origin="rendered: two-arm simulation (MuJoCo), recorded at 640x480",
            files=tuple(
                sim / f"aloha_sim_{task}_human/videos/observation.images.top_episode_000000.mp4"
                for task in ("insertion", "transfer_cube")
            ),
        ),
        "head": ClipSource(
            origin="real: head camera of a humanoid, recorded at 640x480",
            files=tuple(
                head / f"observation.images.cam_high/episode_0000{number}.mp4"
                for number in (29, 30, 31)
            ),
        ),
        "wrist": ClipSource(
            origin="real: cameras of a table-top arm, recorded at 424x240, cut to 4:3 and enlarged",
            files=tuple(
                wrist / f"observation.images.{camera}/chunk-000/file-000.mp4"
                for camera in ("wrist", "top")
            ),
        ),
    }


def _rendered() -> dict[str, ClipSource]:
    origin = "rendered: bundled sample uploads, 256x192, enlarged"
    parts = {"top": "env", "head": "left", "wrist": "right"}
    folder = SAMPLES / "aloha_fold" / "episodes"
    return {
        camera: ClipSource(
            origin=f"{origin} ({part} camera)",
            files=tuple(
                folder / f"fold_00{number}" / "cameras" / f"{part}.mp4" for number in (0, 1, 2)
            ),
        )
        for camera, part in parts.items()
    }


def load_clip(source: ClipSource, size_px: tuple[int, int], limit: int) -> Pictures:
    """Return up to ``limit`` pictures of a source, (N, H, W, 3), as RGB of one size."""
    rng = np.random.default_rng(0)
    frames = (_fitted(frame, size_px, rng) for path in source.files for frame in _decoded(path))
    return np.stack([picture for picture, _ in zip(frames, range(limit), strict=False)])


def play(clip: Pictures, start: int, count: int) -> Iterator[Pictures]:
    """Yield pictures of an endless film: the clip forth and back, turned over at each end.

    So no picture comes twice within four passes, and all motion stays that of the recording.
    """
    for position in range(start, start + count):
        number, step = divmod(position, len(clip))
        picture = clip[step if number % 2 == 0 else len(clip) - 1 - step]
        picture = picture[:, ::-1] if number % 2 else picture
        yield picture[::-1] if number % 4 >= 2 else picture


def _decoded(path: Path) -> Iterator[av.VideoFrame]:
    with av.open(str(path)) as container:
        yield from container.decode(video=0)


def _fitted(frame: av.VideoFrame, size_px: tuple[int, int], rng: np.random.Generator) -> Pictures:
    height, width = size_px
    picture: Pictures = frame.to_ndarray(format="rgb24").astype(np.uint8, copy=False)
    if picture.shape[:2] == size_px:
        return picture
    wide = min(picture.shape[1], picture.shape[0] * width // height)
    left = (picture.shape[1] - wide) // 2
    cut = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture[:, left : left + wide]))
    scaled = cut.reformat(width=width, height=height, interpolation=Interpolation.BICUBIC)
    noise = rng.normal(0, NOISE_SIGMA, (height, width, 1))
    return np.clip(np.rint(scaled.to_ndarray() + noise), 0, 255).astype(np.uint8)


def describe(sources: dict[str, ClipSource]) -> dict[str, str]:
    """Return what each camera shows."""
    return {camera: source.origin for camera, source in sources.items()}


def frames_of(clip: Pictures, start: int, count: int) -> Sequence[Pictures]:
    """Return a stretch of the endless film as a list."""
    return list(play(clip, start, count))
