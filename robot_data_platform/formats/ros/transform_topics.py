"""Static transforms: where cameras are mounted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from robot_data_platform.core.calibration import CameraCalibration
from robot_data_platform.core.rotation import (
    Float64Array,
    rigid_transform,
    rotation_from_quaternion,
)
from robot_data_platform.formats.ros.fields import frame_id_of, member


@dataclass(frozen=True, slots=True)
class _Mount:
    parent: str
    xyz_m: tuple[float, ...]
    quaternion_xyzw: tuple[float, ...]


class TransformTopics:
    """All static transforms of a recording, the latest for each frame."""

    def __init__(self) -> None:
        self._mount_by_frame: dict[str, _Mount] = {}

    def add(self, message: object) -> None:
        """Add the transforms of the next message."""
        listed = member(message, "transforms")
        for item in listed if isinstance(listed, Sequence) else [message]:
            inner = member(item, "transform")  # TransformStamped has it, FrameTransform does not
            moved = item if inner is None else inner
            child = str(member(item, "child_frame_id") or "").lstrip("/")
            self._mount_by_frame[child] = _Mount(
                str(member(item, "parent_frame_id") or frame_id_of(item)).lstrip("/"),
                _numbers(member(moved, "translation"), "xyz"),
                _numbers(member(moved, "rotation"), "xyzw"),
            )

    @property
    def text(self) -> str | None:
        """All of them as JSON; None where there are none."""
        if not self._mount_by_frame:
            return None
        entries = [
            {
                "parent": mount.parent,
                "child": frame,
                "translation_m": mount.xyz_m,
                "quaternion_xyzw": mount.quaternion_xyzw,
            }
            for frame, mount in sorted(self._mount_by_frame.items())
        ]
        return json.dumps(entries)

    def placed(self, lens: CameraCalibration | None, frame_id: str) -> CameraCalibration | None:
        """Return a lens with its place, as far as either is known.

        The camera's frame is an optical one (x right, y down, z forward), as the definitions of
        the messages demand. The place is given in the frame that all of its mounts hang on.

        Raises
        ------
        InvalidInputError
            ``invalid-argument``: a transform on the way is none.
        """
        root_from_cam, at = np.eye(4), frame_id.lstrip("/")
        passed: set[str] = set()
        while at in self._mount_by_frame and at not in passed:
            passed.add(at)
            mount = self._mount_by_frame[at]
            root_from_cam = _transform(mount) @ root_from_cam
            at = mount.parent
        if not passed or at in passed:
            return lens
        return replace(
            lens or CameraCalibration(),
            base_from_cam=root_from_cam,
            pose_origin="data",
            parent_frame=at,
            stated_direction="base_from_cam",
            stated_axes="opencv",
            stated_rotation="quaternion xyzw",
        )


def _transform(mount: _Mount) -> Float64Array:
    rotation = rotation_from_quaternion(mount.quaternion_xyzw, order="xyzw")
    return rigid_transform(rotation, mount.xyz_m)


def _numbers(value: object, names: str) -> tuple[float, ...]:
    numbers = [member(value, name) for name in names]
    return tuple(float(n) if isinstance(n, int | float) else float("nan") for n in numbers)
