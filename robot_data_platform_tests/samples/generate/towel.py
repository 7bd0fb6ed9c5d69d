"""A towel of narrow strips that folds over, as a function of one angle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from robot_data_platform_tests.samples.generate import decor
from robot_data_platform_tests.samples.generate.motion import Curve, Floats

if TYPE_CHECKING:
    import mujoco

NUM_STRIPS = 24
THICKNESS_M = 0.005
LENGTH_M = 0.24
"""From the edge that is lifted to the far edge."""
WIDTH_M = 0.26
LOOSE_BEND_M, TIGHT_BEND_M = 0.10, 0.02
"""Length over which the cloth bends, at the start and at the end of the fold."""


def add_towel(spec: mujoco.MjSpec, rgb: tuple[float, float, float]) -> None:
    """Add the strips, coloured, with two white stripes near each edge."""
    half = (WIDTH_M / 2, LENGTH_M / NUM_STRIPS / 2 * 1.15, THICKNESS_M / 2)
    for index in range(NUM_STRIPS):
        is_stripe = min(index, NUM_STRIPS - 1 - index) in (2, 4)
        colour = (0.95, 0.95, 0.92) if is_stripe else rgb
        body = decor.add_prop(spec, f"towel_{index:02d}")
        decor.add_part(body, decor.BOX, half, (0, 0, 0), (*colour, 1.0), material="cloth")


@dataclass(frozen=True, slots=True, kw_only=True)
class Towel:
    """The towel's place on the table, and its fold angle over time."""

    x_m: float
    near_y_m: float
    """Where the edge lies that will be lifted."""
    fold: Curve
    """One value: 0 flat to pi folded."""
    lag_s: float

    def edge_yz_m(self, angle_rad: float) -> tuple[float, float]:
        """Return y and z of the lifted edge at a fold angle."""
        y, z, _ = self._strips(angle_rad)
        return float(y[0]), float(z[0])

    def place(self, data: mujoco.MjData, time_s: float) -> None:
        """Set every strip."""
        angle = float(self.fold.at(np.array([time_s - self.lag_s]))[0, 0])
        for index, (y, z, heading) in enumerate(zip(*self._strips(angle), strict=True)):
            mocap = data.model.body(f"towel_{index:02d}").mocapid[0]
            data.mocap_pos[mocap] = (self.x_m, y, z)
            data.mocap_quat[mocap] = (np.cos(heading / 2), -np.sin(heading / 2), 0, 0)

    def _strips(self, angle_rad: float) -> tuple[Floats, Floats, Floats]:
        """Return (S,) y, z and heading of the strips; the far half stays on the table.

        From the middle towards the lifted edge the cloth turns up by ``angle_rad`` over the length
        of the bend, then runs straight.
        """
        step = LENGTH_M / NUM_STRIPS
        half = NUM_STRIPS // 2
        bend = np.interp(angle_rad, [0, np.pi], [LOOSE_BEND_M, TIGHT_BEND_M])
        from_middle = (np.arange(half) + 0.5) * step
        heading = angle_rad * np.minimum(from_middle / bend, 1.0)
        middle_y = self.near_y_m + half * step
        y = middle_y - np.cumsum(np.cos(heading)) * step + np.cos(heading) * step / 2
        z = np.cumsum(np.sin(heading)) * step - np.sin(heading) * step / 2
        far_y = middle_y + from_middle
        flat = np.zeros(half)
        lying = THICKNESS_M / 2 + 0.001
        return (
            np.concatenate([y[::-1], far_y]),
            np.concatenate([z[::-1], flat]) + lying,
            np.concatenate([heading[::-1], flat]),
        )
