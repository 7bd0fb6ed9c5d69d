"""Pictures for surfaces, drawn from noise: wood, cloth, plaster."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

SIDE_PX = 256
"""Width and height of every texture."""


def wood(rng: np.random.Generator) -> npt.NDArray[np.uint8]:
    """Return boards of light wood with grain along x."""
    grain = 0.35 * _smooth(rng, (64, 4)) + 0.2 * _smooth(rng, (128, 16))
    board = np.repeat(rng.uniform(-0.3, 0.3, 4), SIDE_PX // 4)[:, None]
    gap = (np.arange(SIDE_PX) % (SIDE_PX // 4) < 2)[:, None] * -1.0
    return _tint(grain + board + gap, low=(112, 88, 64), high=(206, 178, 144))


def cloth(rng: np.random.Generator) -> npt.NDArray[np.uint8]:
    """Return a nearly white weave, to be coloured by the material."""
    x, y = np.meshgrid(np.arange(SIDE_PX), np.arange(SIDE_PX))
    weave = np.sin(2 * np.pi * x / 16) * np.sin(2 * np.pi * y / 16)
    return _tint(
        0.6 * weave + 0.5 * _smooth(rng, (32, 32)), low=(176, 176, 172), high=(244, 244, 240)
    )


def plaster(rng: np.random.Generator) -> npt.NDArray[np.uint8]:
    """Return a blotched warm grey wall."""
    blotches = 0.6 * _smooth(rng, (8, 8)) + 0.4 * _smooth(rng, (32, 32))
    return _tint(blotches, low=(134, 130, 122), high=(182, 176, 164))


def tiles(rng: np.random.Generator) -> npt.NDArray[np.uint8]:
    """Return floor tiles with joints, each a little different."""
    tone = np.kron(rng.uniform(-0.6, 0.6, (4, 4)), np.ones((SIDE_PX // 4, SIDE_PX // 4)))
    edge = np.arange(SIDE_PX) % (SIDE_PX // 4) < 3
    joint = -1.0 * (edge[:, None] | edge[None, :])
    return _tint(
        tone + 0.3 * _smooth(rng, (64, 64)) + joint, low=(66, 70, 78), high=(128, 132, 138)
    )


def _smooth(rng: np.random.Generator, cells: tuple[int, int]) -> npt.NDArray[np.float64]:
    """Return noise in about -1..1 with the given number of (y, x) cells, smoothly stretched."""
    noise = rng.uniform(-1, 1, cells)
    for axis in (0, 1):
        position = np.arange(SIDE_PX) * cells[axis] / SIDE_PX
        left = position.astype(int)
        share = np.expand_dims(position - left, 1 - axis)
        share = share * share * (3 - 2 * share)
        low = np.take(noise, left, axis=axis)
        high = np.take(noise, (left + 1) % cells[axis], axis=axis)
        noise = low * (1 - share) + high * share
    return noise


def _tint(
    tone: npt.NDArray[np.float64], *, low: tuple[int, int, int], high: tuple[int, int, int]
) -> npt.NDArray[np.uint8]:
    """Return (H, W, 3) colours between ``low`` and ``high`` for tones of about -1..1."""
    share = np.clip((tone + 1) / 2, 0, 1)[..., None]
    return np.rint(np.array(low) * (1 - share) + np.array(high) * share).astype(np.uint8)
