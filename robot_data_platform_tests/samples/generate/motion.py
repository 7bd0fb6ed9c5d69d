"""Curves through waypoints, as functions of time: what the grippers are meant to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

SWAY_HZ = (0.37, 0.83, 1.31)
"""Rates of the slow sway that a hand-guided arm shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waypoint:
    """Where a gripper is to be at one moment."""

    at_s: float
    xyz_m: tuple[float, float, float]
    """Tool point in the world."""
    pitch_rad: float
    """How far the gripper points below the horizon."""
    rolls_rad: tuple[float, ...]
    """Joints that turn the gripper about its own axis, one value each."""
    grip: float
    """Opening of the gripper, in the unit of the dataset's state."""

    def values(self) -> list[float]:
        """Return x, y, z, pitch, rolls and grip as one list."""
        return [*self.xyz_m, self.pitch_rad, *self.rolls_rad, self.grip]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A monotone cubic curve through knots: smooth, and never beyond a waypoint."""

    knot_s: Floats
    """(K,) increasing."""
    knots: Floats
    """(K, D)."""

    def at(self, time_s: Floats) -> Floats:
        """Return the (N, D) values at (N,) times; the ends are held."""
        time_s = np.clip(time_s, self.knot_s[0], self.knot_s[-1])
        left = np.clip(np.searchsorted(self.knot_s, time_s, "right") - 1, 0, len(self.knot_s) - 2)
        step = np.diff(self.knot_s)[left, None]
        u = (time_s - self.knot_s[left])[:, None] / step
        slopes = self._slopes()
        values: Floats = (
            (1 + 2 * u) * (1 - u) ** 2 * self.knots[left]
            + u * (1 - u) ** 2 * step * slopes[left]
            + u**2 * (3 - 2 * u) * self.knots[left + 1]
            + u**2 * (u - 1) * step * slopes[left + 1]
        )
        return values

    def _slopes(self) -> Floats:
        """Return (K, D) tangents: harmonic means, zero at extrema and at both ends (PCHIP)."""
        step = np.diff(self.knot_s)[:, None]
        secant = np.diff(self.knots, axis=0) / step
        before, after = secant[:-1], secant[1:]
        weight_before, weight_after = 2 * step[1:] + step[:-1], step[1:] + 2 * step[:-1]
        same_sign = before * after > 0
        ones = np.ones_like(before)
        mean = (weight_before + weight_after) / (
            weight_before / np.where(same_sign, before, ones)
            + weight_after / np.where(same_sign, after, ones)
        )
        slopes = np.zeros_like(self.knots)
        slopes[1:-1] = np.where(same_sign, mean, 0.0)
        return slopes


def curve_through(waypoints: Sequence[Waypoint]) -> Curve:
    """Return the curve of x, y, z, pitch, rolls and grip through the waypoints."""
    return Curve(
        knot_s=np.array([waypoint.at_s for waypoint in waypoints]),
        knots=np.array([waypoint.values() for waypoint in waypoints]),
    )


def sway(time_s: Floats, amplitude: Floats, rng: np.random.Generator) -> Floats:
    """Return (N, D) slow unsteadiness with the given (D,) amplitude, different for each ``rng``."""
    phase = rng.uniform(0, 2 * np.pi, (len(SWAY_HZ), len(amplitude)))
    angle = 2 * np.pi * np.array(SWAY_HZ)[:, None, None] * time_s[:, None] + phase[:, None]
    moved: Floats = np.sin(angle).mean(axis=0) * amplitude
    return moved
