"""An episode of the lake as the spatial checks take it, or why they can't."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from robot_data_platform.compute.camera_input import camera_input
from robot_data_platform.compute.hand_input import recorded_hand
from robot_data_platform.compute.mask_input import with_recorded_masks
from robot_data_platform.core.calibration_json import calibrations_from_json
from robot_data_platform.core.recording import ACTION, STATE
from robot_data_platform.errors import DataFaultError, InvalidInputError
from robot_data_platform.spatial.episode_input import SpatialInput
from robot_data_platform.spatial.joint_map import (
    SI_FACTOR_BY_UNIT,
    JointColumn,
    JointMap,
    mapped_joints,
    unmapped_joints,
)
from robot_data_platform.spatial.judgement import not_measured
from robot_data_platform.spatial.robot_loader import robot_named
from robot_data_platform.spatial.usual_columns import (
    GripperFact,
    misplaced_joints,
    usual_joint_map,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from robot_data_platform.compute.calibrations import Accepted
    from robot_data_platform.core.calibration import CameraCalibration
    from robot_data_platform.core.finding import Finding
    from robot_data_platform.core.rotation import Float64Array, QuaternionOrder
    from robot_data_platform.formats.profile import Profile
    from robot_data_platform.quality.rules.values import SignalRows
    from robot_data_platform.quality.stored_episode import StoredEpisode
    from robot_data_platform.spatial.robot_model import RobotModel
    from robot_data_platform.storage.table import LakeTable

RULE = "robot_is_known"
JOINTS_RULE = "joints_are_known"


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedFacts:
    """What is stated beside the tables' rows: by the profile, and by who accepted a calibration."""

    robot: str | None
    calibrations_json: str | None
    gripper: GripperFact = field(default_factory=GripperFact)
    sign: tuple[int, ...] | None = None
    """Per dimension of the state; None = 1."""
    offset: tuple[float, ...] | None = None
    """Per dimension of the state, in its unit; None = 0."""
    quaternion_order: QuaternionOrder | None = None
    mask_cameras: Mapping[str, str] = field(default_factory=dict)
    """By camera: the one whose pictures are its masks."""
    segmenter: str | None = None
    """Name of the model that segments the robot where no masks are recorded; None = none."""
    accepted_json: Mapping[str, str] = field(default_factory=dict)
    """By camera: the calibrations that replace the declared ones in checks."""

    @classmethod
    def of(
        cls,
        profile: Profile,
        robot: str | None,
        calibrations_json: str | None,
        accepted: Sequence[Accepted],
        segmenter: str | None = None,
    ) -> StatedFacts:
        """Return what a profile states, and what was accepted for an episode."""
        return cls(
            robot=robot,
            calibrations_json=calibrations_json,
            gripper=GripperFact(convention=profile.gripper.convention, range=profile.gripper.range),
            sign=profile.joints.sign,
            offset=profile.joints.offset,
            quaternion_order=profile.quaternion_order,
            mask_cameras={
                camera.rename or name: camera.mask_camera
                for name, camera in profile.cameras.items()
                if camera.mask_camera is not None
            },
            segmenter=segmenter,
            accepted_json={a.camera: a.calibration_json for a in accepted},
        )

    def pictured(self, stored: StoredEpisode) -> frozenset[str]:
        """Return the cameras of an episode that show it: neither depth nor masks."""
        streams = {stream.camera for stream in stored.streams if not stream.format.is_depth}
        return frozenset(streams - set(self.mask_cameras.values()))

    def calibrations(self) -> dict[str, CameraCalibration]:
        """Return what is known of the cameras: as accepted, or else as declared."""
        known = calibrations_from_json(self.calibrations_json) if self.calibrations_json else {}
        for text in self.accepted_json.values():
            known |= calibrations_from_json(text)
        return known


def spatial_input(
    gops: LakeTable,
    stored: StoredEpisode,
    episode_id: str,
    stated: StatedFacts,
    only: Sequence[int] | None = None,
) -> tuple[SpatialInput | None, list[Finding]]:
    """Return an episode to measure, or None; and a finding for whatever can't be measured.

    With ``only``, no other frames are decoded. Memory holds a few blobs, and the pictures of
    the plan at the working size.

    Raises
    ------
    InvalidInputError
        ``not-installed``: the extra ``spatial`` is not.
    DataFaultError
        ``gop-damaged``: a picture does not decode.
    """
    if not stated.robot:
        reason = "neither the data nor the profile names the robot"
        return None, [not_measured(RULE, "robot", reason)]
    try:
        robot = robot_named(stated.robot)
    except (InvalidInputError, DataFaultError) as err:
        return None, [not_measured(RULE, f"robot={stated.robot}", str(err).removesuffix("."))]
    joints, findings = joints_of(stored.signals(), robot, stated)
    if joints is None:
        return None, findings
    known = stated.calibrations()
    findings += [
        not_measured("camera_is_in_data", f"camera={name}", "it is calibrated, and not in the data")
        for name in sorted(known.keys() - {stream.camera for stream in stored.streams})
    ]
    cameras = []
    for stream in stored.streams:
        if stream.camera in stated.pictured(stored):
            camera, doubts = camera_input(
                gops,
                stream,
                known.get(stream.camera),
                robot,
                joints,
                stored.timestamp_ns,
                only,
            )
            camera, unmasked = with_recorded_masks(
                gops, stored, camera, stated.mask_cameras.get(camera.name)
            )
            cameras.append(camera)
            findings += [*doubts, *unmasked]
    episode = SpatialInput(
        episode=episode_id,
        robot=robot,
        row_ns=stored.timestamp_ns,
        joints=joints,
        cameras=tuple(cameras),
        hand=recorded_hand(stored, stated.quaternion_order),
    )
    return episode, findings


def joints_of(
    signals: Sequence[SignalRows], robot: RobotModel, stated: StatedFacts
) -> tuple[Float64Array | None, list[Finding]]:
    """Return the robot's joints in each row, (N, J), or None and the reason why there are none."""
    maps = {
        signal.name: _map(signal, robot, stated)
        for signal in signals
        if signal.name != ACTION and signal.names
    }
    if not any(maps.values()):
        named = [name for signal in signals if signal.name != ACTION for name in signal.names or ()]
        reason = f"no column bears the name of a joint of {robot.name!r}: got {named[:20]}"
        return None, [not_measured(JOINTS_RULE, "columns", reason)]
    best = max(maps, key=lambda name: len(maps[name]))
    signal = next(signal for signal in signals if signal.name == best)
    joint_map = maps[best]
    missing = misplaced_joints(joint_map, robot)
    if missing:
        reason = f"no column of {best!r} moves {list(missing)[:8]}"
        return None, [not_measured(JOINTS_RULE, best, reason)]
    values = np.where(signal.is_present[:, None], signal.values, np.nan).astype(np.float64)
    try:
        joints = mapped_joints(values, signal.names or (), joint_map, robot)
    except InvalidInputError as err:
        return None, [not_measured(JOINTS_RULE, best, str(err).removesuffix("."))]
    resting = unmapped_joints(joint_map, robot)
    if not resting:
        return joints, []
    reason = f"the data does not say how {list(resting)[:8]} move, so they are drawn at rest"
    return joints, [not_measured(JOINTS_RULE, best, reason)]


def _map(signal: SignalRows, robot: RobotModel, stated: StatedFacts) -> JointMap:
    values = signal.values.astype(np.float64)
    columns = signal.names or ()
    found = usual_joint_map(columns, signal.units, values, robot, stated.gripper)
    if signal.name != STATE:
        return found
    return tuple(_with_zero(entry, columns.index(entry.column), stated) for entry in found)


def _with_zero(entry: JointColumn, place: int, stated: StatedFacts) -> JointColumn:
    """Return a column with the sign and the zero that the profile states; openings have theirs."""
    if entry.unit == "1":
        return entry
    factor = SI_FACTOR_BY_UNIT.get(str(entry.unit), 1.0)
    return replace(
        entry,
        sign=stated.sign[place] if stated.sign else entry.sign,
        offset=factor * stated.offset[place] if stated.offset else entry.offset,
    )
