"""Pictures of a small arm-like shape before a textured wall, as a noisy camera would take them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.recording import CameraStream, Picture, PictureSequence

FPS = 30
CONTROL_HZ = 100
WIDTH_PX, HEIGHT_PX = 192, 144
SIDE_PX = 24
FRAME_NS = 1_000_000_000 // FPS
ROW_NS = 1_000_000_000 // CONTROL_HZ


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What happens in front of a camera, and what the camera does wrong."""

    num_frames: int = 90
    noise: float = 2.0
    """Standard deviation of the sensor's noise, in grey levels."""
    frozen: Set[int] = frozenset()
    """Frames that repeat the picture before them."""
    black: Set[int] = frozenset()
    lost: Set[int] = frozenset()
    """Frames that were taken and never stored."""
    is_resting: bool = False
    seed: int = 0

    @property
    def num_rows(self) -> int:
        """Rows of state while the scene lasts."""
        return self.num_frames * CONTROL_HZ // FPS

    def state(self) -> npt.NDArray[np.float32]:
        """Return two joints, (N, 2), at the rows' rate; the shape's centre follows them."""
        return _joints(np.arange(self.num_rows) / CONTROL_HZ, self.is_resting).astype(np.float32)

    def row_ns(self) -> npt.NDArray[np.int64]:
        """Return the time of each row, (N,)."""
        return np.arange(self.num_rows, dtype=np.int64) * ROW_NS

    def frame_ns(self) -> npt.NDArray[np.int64]:
        """Return the time of each frame that is stored, (F,)."""
        taken = [frame for frame in range(self.num_frames) if frame not in self.lost]
        return np.array(taken, dtype=np.int64) * FRAME_NS

    def pictures(self) -> Iterator[Picture]:
        """Yield each frame, (H, W, 3) uint8."""
        rng = np.random.default_rng(self.seed)
        wall = _wall(rng)
        picture = np.zeros((HEIGHT_PX, WIDTH_PX, 3), np.uint8)
        for frame in range(self.num_frames):
            if frame not in self.frozen:
                picture = self._expose(wall, frame, rng)
            if frame not in self.lost:
                yield np.zeros_like(picture) if frame in self.black else picture

    def stream(self, camera: str) -> CameraStream:
        """Return the scene as one camera's stream."""
        pictures = PictureSequence(num_frames=len(self.frame_ns()), read=self.pictures)
        return CameraStream(name=camera, timestamp_ns=self.frame_ns(), pictures=pictures)

    def _expose(
        self, wall: npt.NDArray[np.float64], frame: int, rng: np.random.Generator
    ) -> Picture:
        light = wall.copy()
        x, y = _joints(np.array([frame / FPS]), self.is_resting)[0]
        left = round((WIDTH_PX - SIDE_PX) / 2 * (1 + x))
        top = round((HEIGHT_PX - SIDE_PX) / 2 * (1 + y))
        light[top : top + SIDE_PX, left : left + SIDE_PX] = (210, 80, 40)
        light += rng.normal(0, self.noise, light.shape)
        return np.clip(np.rint(light), 0, 255).astype(np.uint8)


def _joints(time_s: npt.NDArray[np.float64], is_resting: bool) -> npt.NDArray[np.float64]:
    moving_s = np.zeros_like(time_s) if is_resting else time_s
    return 0.8 * np.stack(
        [np.sin(2 * np.pi * 0.3 * moving_s), np.sin(2 * np.pi * 0.43 * moving_s + 1)], axis=1
    )


def _wall(rng: np.random.Generator) -> npt.NDArray[np.float64]:
    tiles = rng.integers(60, 160, (HEIGHT_PX // 16, WIDTH_PX // 16, 3))
    return tiles.repeat(16, axis=0).repeat(16, axis=1).astype(np.float64)


def lumas(pictures: Iterable[Picture]) -> list[Picture]:
    """Return the BT.601 luma of RGB pictures in full range, (H, W) uint8 each."""
    weights = np.array([0.299, 0.587, 0.114])
    return [np.rint(picture @ weights).astype(np.uint8) for picture in pictures]
