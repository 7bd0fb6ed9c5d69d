"""Pictures of a scene as a small camera would take them: lens shading, shot and read noise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import mujoco
import numpy as np
import numpy.typing as npt

from robot_data_platform_tests.samples.generate.motion import Floats


class Scene(Protocol):
    """What can be set to any moment."""

    def set_time(self, time_s: float) -> mujoco.MjData:
        """Return the scene's data at a moment, in seconds."""


Picture = npt.NDArray[np.uint8]
READ_NOISE = 1.2
"""Standard deviation, in grey levels."""
SHOT_NOISE = 0.012
"""Variance added for each grey level of brightness."""
CORNER_SHADE = 0.22
"""Share of light that is missing in the corners."""


class Renderer:
    """Draws one model at one size, twice as large and averaged, for smooth edges."""

    def __init__(self, model: mujoco.MjModel, *, width_px: int, height_px: int) -> None:
        model.vis.global_.offwidth = max(model.vis.global_.offwidth, 2 * width_px)
        model.vis.global_.offheight = max(model.vis.global_.offheight, 2 * height_px)
        self._gl = mujoco.Renderer(model, 2 * height_px, 2 * width_px)
        x, y = np.linspace(-1, 1, width_px), np.linspace(-1, 1, height_px)
        self._shade = 1 - CORNER_SHADE * (x[None, :, None] ** 2 + y[:, None, None] ** 2) / 2

    def pictures(
        self, stage: Scene, camera: str, times_s: Floats, rng: np.random.Generator
    ) -> Iterator[Picture]:
        """Yield the (H, W, 3) picture at each time, each with its own noise."""
        for time_s in times_s:
            self._gl.update_scene(stage.set_time(float(time_s)), camera=camera)
            yield _expose(_halve(self._gl.render()) * self._shade, rng)

    def close(self) -> None:
        """Free the drawing surface."""
        self._gl.close()


def _halve(large: Picture) -> Floats:
    """Return the mean of every 2 x 2 pixels."""
    height, width, channels = large.shape
    blocks = large.reshape(height // 2, 2, width // 2, 2, channels)
    means: Floats = blocks.mean(axis=(1, 3), dtype=np.float64)
    return means


def _expose(light: Floats, rng: np.random.Generator) -> Picture:
    """Return the picture with noise that grows with the light."""
    deviation = np.sqrt(READ_NOISE**2 + SHOT_NOISE * light)
    noisy = light + rng.standard_normal(light.shape) * deviation
    return np.clip(np.rint(noisy), 0, 255).astype(np.uint8)
