"""One arm of a MuJoCo model, and the joint angles that bring its tool where it should be."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from robot_data_platform_tests.samples.generate.motion import Floats

LARGEST_MISS_M = 0.004
"""A tool point that can't be reached this closely is a mistake in the script."""
DAMPING = 1e-4
"""Of the least-squares step; keeps it finite where the arm is stretched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """Names of the joints that place a tool, and of those that only turn it."""

    tool_site: str
    """Site at the finger tips; its x axis is the direction the gripper points to."""
    reach_joints: tuple[str, str, str, str]
    """Solved for x, y, z and pitch."""
    roll_joints: tuple[str, ...]
    """Given by the waypoints."""
    home_rad: tuple[float, float, float, float]
    """Where the solver starts."""


def reach(model: mujoco.MjModel, arm: Arm, targets: Floats) -> Floats:
    """Return the reach joints for every target, each solved from the one before.

    Parameters
    ----------
    model : MjModel
        The scene.
    arm : Arm
        The arm to move.
    targets : ndarray of float64, shape (N, 4 + R)
        x, y, z in m, pitch in rad, and the roll joints in rad.

    Returns
    -------
    ndarray of float64, shape (N, 4)
        Joint angles in rad, within the joints' limits.

    Raises
    ------
    ValueError
        A target is farther than ``LARGEST_MISS_M`` from what the arm can reach.
    """
    solver = _Solver(model, arm)
    angles = np.array(arm.home_rad)
    solved = np.empty((len(targets), 4))
    for index, target in enumerate(targets):
        angles = solver.solve(target, angles)
        solved[index] = angles
    return solved


class _Solver:
    """Damped least squares over one arm's reach joints."""

    def __init__(self, model: mujoco.MjModel, arm: Arm) -> None:
        self._model, self._arm, self._data = model, arm, mujoco.MjData(model)
        self._site = model.site(arm.tool_site).id
        joints = [model.joint(name) for name in arm.reach_joints]
        self._qpos = np.array([joint.qposadr[0] for joint in joints])
        self._dof = np.array([joint.dofadr[0] for joint in joints])
        self._limits = np.array([joint.range for joint in joints]).T
        self._roll_qpos = np.array([model.joint(name).qposadr[0] for name in arm.roll_joints])

    def solve(self, target: Floats, start: Floats) -> Floats:
        """Return the reach joints for one target."""
        self._data.qpos[self._roll_qpos] = target[4:]
        angles = start
        for _ in range(100):
            miss, jacobian = self._miss(target, angles)
            if np.abs(miss).max() < 1e-5:
                break
            damped = jacobian @ jacobian.T + DAMPING * np.eye(4)
            step = jacobian.T @ np.linalg.solve(damped, miss)
            angles = np.clip(angles + step, *self._limits)
        if np.linalg.norm(miss[:3]) > LARGEST_MISS_M:
            raise ValueError(f"{self._arm.tool_site} misses {target[:4]} by {miss} at {angles}")
        return angles

    def _miss(self, target: Floats, angles: Floats) -> tuple[Floats, Floats]:
        """Return (4,) what is missing to the target and its (4, 4) derivative by the joints."""
        model, data = self._model, self._data
        data.qpos[self._qpos] = angles
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        move, turn = np.zeros((3, model.nv)), np.zeros((3, model.nv))
        mujoco.mj_jacSite(model, data, move, turn, self._site)
        pointing = data.site_xmat[self._site].reshape(3, 3)[:, 0]
        pitch_row = np.cross(turn.T, pointing)[:, 2]
        jacobian = np.vstack([move, pitch_row])[:, self._dof]
        miss = [*(target[:3] - data.site_xpos[self._site]), -np.sin(target[3]) - pointing[2]]
        return np.array(miss), jacobian
