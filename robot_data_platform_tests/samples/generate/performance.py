"""One episode as functions of time: joints commanded and reached, and the scene at any moment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import mujoco
import numpy as np

from robot_data_platform_tests.samples.generate.arm import Arm, reach
from robot_data_platform_tests.samples.generate.motion import Curve, Floats, sway

GRID_S = 0.004
"""Spacing at which joint angles are solved; between them they are interpolated."""
LAG_S = 0.04
"""How far the arm trails its command."""
SWAY = {"xyz": 0.002, "pitch": 0.015, "roll": 0.03}
"""Amplitude of the unsteadiness, m and rad."""


class Prop(Protocol):
    """Something besides the robot that moves."""

    def place(self, data: mujoco.MjData, time_s: float) -> None:
        """Set the prop's pose; the robot's pose at ``time_s`` is already in ``data``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """How a robot's state is made of arms and set in a scene."""

    arms: tuple[Arm, ...]
    arm_state: Callable[[Floats, Floats, Floats], Floats]
    place: Callable[[mujoco.MjModel, mujoco.MjData, Floats], None]
    limits: Floats
    """(2, D)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Performance:
    """What the robot does in one episode."""

    duration_s: float
    grid_s: Floats
    joints: Floats
    """(G, D) commanded values on the grid."""

    def command(self, time_s: Floats) -> Floats:
        """Return the (N, D) commanded values at (N,) times."""
        columns = [np.interp(time_s, self.grid_s, column) for column in self.joints.T]
        return np.column_stack(columns)

    def state(self, time_s: Floats) -> Floats:
        """Return the (N, D) values the joints have at (N,) times: the command, ``LAG_S`` later."""
        return self.command(np.asarray(time_s) - LAG_S)

    def velocity(self, time_s: Floats) -> Floats:
        """Return the (N, D) rates of the state, per second, over 20 ms."""
        return (self.state(time_s + 0.01) - self.state(time_s - 0.01)) / 0.02


def perform(
    model: mujoco.MjModel, body: Body, curves: Sequence[Curve], rng: np.random.Generator
) -> Performance:
    """Return the episode in which each arm follows its curve, a little unsteadily.

    Raises
    ------
    ValueError
        A curve leads where the arm can't reach, or past a joint's limit.
    """
    duration_s = float(curves[0].knot_s[-1])
    # Beyond both ends, so that an arm is on the move in the first and in the last picture.
    grid_s = np.arange(-0.3, duration_s + 0.3, GRID_S)
    columns = []
    for arm, curve in zip(body.arms, curves, strict=True):
        num_rolls = len(arm.roll_joints)
        target = curve.at(grid_s)
        amplitude = [SWAY["xyz"]] * 3 + [SWAY["pitch"]] + [SWAY["roll"]] * num_rolls
        target[:, :-1] += sway(grid_s, np.array(amplitude), rng)
        angles = reach(model, arm, target[:, :-1])
        columns.append(body.arm_state(angles, target[:, 4:-1], target[:, -1]))
    joints = np.concatenate(columns, axis=1)
    if (joints < body.limits[0]).any() or (joints > body.limits[1]).any():
        raise ValueError(f"past a joint limit: {joints.min(axis=0)} to {joints.max(axis=0)}")
    return Performance(duration_s=duration_s, grid_s=grid_s, joints=joints)


class Stage:
    """A scene that can be set to any moment of an episode."""

    def __init__(
        self, model: mujoco.MjModel, body: Body, performance: Performance, props: Sequence[Prop]
    ) -> None:
        self.model, self.data = model, mujoco.MjData(model)
        self._body, self._performance, self._props = body, performance, props

    def set_time(self, time_s: float) -> mujoco.MjData:
        """Return the scene's data with the robot and all props where they are at ``time_s``."""
        self.set_robot(time_s)
        for prop in self._props:
            prop.place(self.data, time_s)
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)
        mujoco.mj_camlight(self.model, self.data)
        return self.data

    def set_robot(self, time_s: float) -> mujoco.MjData:
        """Return the scene's data with the robot alone where it is at ``time_s``."""
        state = self._performance.state(np.array([time_s]))[0]
        self._body.place(self.model, self.data, state)
        mujoco.mj_kinematics(self.model, self.data)
        return self.data
