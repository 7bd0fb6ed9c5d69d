"""What may be wrong with the joints: order, sign, unit, sides, and what an opening means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import pi

import numpy as np

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.reading import Hypothesis
from robot_data_platform.spatial.robot_model import RobotModel
from robot_data_platform.spatial.usual_columns import finger_ends


def joint_hypotheses(robot: RobotModel, joints: Float64Array) -> Iterator[Hypothesis]:
    """Yield what may be wrong with joints (N, J) that are known."""
    fingers = finger_ends(robot)
    arms = arms_of(robot, joints, fingers)
    yield from _orders(robot, joints, arms)
    yield from _signs(robot, joints, arms)
    yield from _units(joints, [joint for arm in arms for joint in arm])
    yield from _grippers(robot, joints, fingers)


def arms_of(
    robot: RobotModel, joints: Float64Array, fingers: Mapping[str, tuple[float, float]]
) -> list[list[int]]:
    """Return the known turning joints of each arm, from the base outwards."""
    parent = robot.compiled.body_parentid
    roots: dict[int, list[int]] = {}
    for place, name in enumerate(robot.joint_names):
        body = int(robot.compiled.joint(name).bodyid[0])
        while int(parent[body]) in robot.body_ids:
            body = int(parent[body])
        known = np.isfinite(joints[:, place]).any()
        if known and not robot.is_prismatic[place] and name not in fingers:
            roots.setdefault(body, []).append(place)
    return list(roots.values())


def _permuted(joints: Float64Array, pairs: Mapping[int, int]) -> Float64Array:
    """Return joints with the values of other columns: ``{column: column it is taken from}``."""
    meant = joints.copy()
    for place, source in pairs.items():
        meant[:, place] = joints[:, source]
    return meant


def _orders(
    robot: RobotModel, joints: Float64Array, arms: Sequence[Sequence[int]]
) -> Iterator[Hypothesis]:
    code = "joint_order_is_other"
    backwards = {a: b for arm in arms for a, b in zip(arm, reversed(arm), strict=True)}
    says = "the joints are in the reversed order"
    yield Hypothesis(code=code, says=says, joints=_permuted(joints, backwards))
    for arm in arms:
        for first, second in pairwise(arm):
            names = robot.joint_names[first], robot.joint_names[second]
            says = f"the joints {names[0]!r} and {names[1]!r} are swapped"
            pairs = {first: second, second: first}
            yield Hypothesis(code=code, says=says, joints=_permuted(joints, pairs))
    if len(arms) == 2 and len(arms[0]) == len(arms[1]):
        half = joints.shape[1] // 2
        sides = {place: (place + half) % joints.shape[1] for place in range(joints.shape[1])}
        says = "the left and the right arm are swapped"
        yield Hypothesis(code="arms_are_swapped", says=says, joints=_permuted(joints, sides))


def _signs(
    robot: RobotModel, joints: Float64Array, arms: Sequence[Sequence[int]]
) -> Iterator[Hypothesis]:
    for place in (joint for arm in arms for joint in arm):
        meant = joints.copy()
        meant[:, place] *= -1
        says = f"the joint {robot.joint_names[place]!r} counts the other way"
        yield Hypothesis(code="joint_sign_is_other", says=says, joints=meant)


def _units(joints: Float64Array, turning: Sequence[int]) -> Iterator[Hypothesis]:
    for factor, says in ((pi / 180, "degrees, not radians"), (180 / pi, "radians, not degrees")):
        meant = joints.copy()
        meant[:, list(turning)] *= factor
        yield Hypothesis(code="joint_unit_is_other", says=f"the joints are in {says}", joints=meant)


def _grippers(
    robot: RobotModel, joints: Float64Array, fingers: Mapping[str, tuple[float, float]]
) -> Iterator[Hypothesis]:
    meant = joints.copy()
    for joint, ends in fingers.items():
        place = robot.joint_index(joint)
        meant[:, place] = sum(ends) - joints[:, place]
    if not np.array_equal(meant, joints, equal_nan=True):
        says = "the gripper's opening counts the other way"
        yield Hypothesis(code="gripper_is_inverted", says=says, joints=meant)
