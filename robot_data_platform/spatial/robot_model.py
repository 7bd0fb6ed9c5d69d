"""A robot as MuJoCo compiled it: its links, its joints, and which joints move on their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.errors import ErrorKind, InvalidInputError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from mujoco import MjModel

_NUM_DISTAL_JOINTS = 3
"""Joints from the tip, that of a finger included, which move what is called distal."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Coupling:
    """A joint that another one moves: ``joint = polynomial(leader)``."""

    joint: int
    """Index in `RobotModel.joint_names`."""
    leader: int
    coefficients: tuple[float, ...]
    """Of the powers 0, 1, 2 ... of the leader's value."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RobotModel:
    """A robot's links and joints, and the compiled model that moves them."""

    name: str
    base_link: str
    """Link whose frame all poses are given in; `WORLD` = the frame of the model."""
    tool_link: str | None
    link_names: tuple[str, ...]
    """The robot's own links, from the base outwards."""
    joint_names: tuple[str, ...]
    """Joints of one degree of freedom, in the order of the columns of ``(T, J)`` arrays."""
    joint_limits: Float64Array
    """(J, 2) lowest and highest value, rad or m; NaN = no limit."""
    is_prismatic: npt.NDArray[np.bool_]
    """(J,) whether the joint slides (metres) or turns (radians)."""
    rest: Float64Array
    """(J,) values of joints that the data does not have."""
    couplings: tuple[Coupling, ...]
    compiled: MjModel = field(repr=False)
    body_ids: tuple[int, ...] = field(repr=False)
    """Of ``link_names``, in the compiled model."""
    qpos_ids: tuple[int, ...] = field(repr=False)
    """Of ``joint_names``, in the compiled model."""

    def joint_index(self, joint: str) -> int:
        """Return the column of a joint.

        Raises
        ------
        InvalidInputError
            ``invalid-argument``: the robot has no such joint.
        """
        return place_in(joint, self.joint_names, f"The robot {self.name!r} has no joint")

    def link_index(self, link: str) -> int:
        """Return the place of a link in ``link_names``.

        Raises
        ------
        InvalidInputError
            ``invalid-argument``: the robot has no such link.
        """
        return place_in(link, self.link_names, f"The robot {self.name!r} has no link")

    def distal_links(self) -> tuple[str, ...]:
        """Return the links at the end of each arm: those that its last joints move."""
        parent, joints = self.compiled.body_parentid, self.compiled.body_jntnum
        root: dict[int, int] = {}
        depth: dict[int, int] = {}
        for body in self.body_ids:  # a body comes after its parent
            above = int(parent[body])
            root[body] = root.get(above, body)
            depth[body] = depth.get(above, 0) + int(joints[body])
        deepest = {top: max(depth[b] for b in root if root[b] == top) for top in root.values()}
        pairs = zip(self.link_names, self.body_ids, strict=True)
        return tuple(
            name for name, body in pairs if depth[body] > deepest[root[body]] - _NUM_DISTAL_JOINTS
        )


def place_in(name: str, names: Sequence[str], what: str) -> int:
    """Return where a name is among others.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: it is not there; the message begins with ``what``.
    """
    if name not in names:
        raise InvalidInputError(
            f"{what} {name!r}: expected one of {list(names)}.", kind=ErrorKind.INVALID_ARGUMENT
        )
    return names.index(name)
