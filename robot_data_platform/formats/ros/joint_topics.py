"""Topics of joints: positions, velocities and efforts, by joint name and never by position."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.ros.fields import member
from robot_data_platform.formats.ros.number_topics import NotASignalError
from robot_data_platform.formats.ros.samples import Samples

PARTS = ("position", "velocity", "effort")
"""Fields of a JointState; the first is the topic's main signal."""
_POINT_PARTS = ("positions", "velocities", "effort")
"""The same of a JointTrajectoryPoint."""


Vector = npt.NDArray[np.float64]


@dataclass(slots=True)
class _Group:
    """Values of messages that have the same joints."""

    names: tuple[str, ...]
    """In the order of the first message; empty where messages name none."""
    index: dict[str, array[int]] = field(default_factory=dict)
    """Numbers of the messages that have a part, by part."""
    values: dict[str, array[float]] = field(default_factory=dict)

    def add(self, part: str, number: int, vector: Vector) -> None:
        """Add one message's values, in the order of ``names``."""
        if part not in self.index:
            self.index[part], self.values[part] = array("q"), array("d")
        self.index[part].append(number)
        self.values[part].frombytes(vector.tobytes())

    @property
    def num_vectors(self) -> int:
        """Vectors of the part that is there most often."""
        return max(len(index) for index in self.index.values())


class JointTopic:
    """The joints of a topic's messages, gathered.

    Parameters
    ----------
    subject : str
        How errors name the topic.
    """

    def __init__(self, subject: str) -> None:
        self._subject = subject
        self._group_by_joints: dict[object, _Group] = {}
        self._order_by_names: dict[tuple[str, ...], npt.NDArray[np.intp]] = {}
        """Where each of a group's joints is in messages that name them in some order."""
        self._num_messages = 0

    def add(self, message: object) -> None:
        """Add the next message, a JointState.

        Raises
        ------
        DataFaultError
            ``shape-mismatch``: another number of values than joints. ``metadata-contradiction``:
            a joint is named twice.
        """
        names = member(message, "name")
        self._add(names, [(part, member(message, part)) for part in PARTS])

    def add_trajectory(self, message: object) -> None:
        """Add the next message, a JointTrajectory.

        Raises
        ------
        NotASignalError
            It has not exactly one point: it is a plan, not a sample.
        DataFaultError
            As ``add``.
        """
        points = member(message, "points")
        if not isinstance(points, Sequence) or len(points) != 1:
            got = len(points) if isinstance(points, Sequence) else "no"
            raise NotASignalError(f"message {self._num_messages} has {got} points, not one")
        named = zip(PARTS, _POINT_PARTS, strict=True)
        values = [(part, member(points[0], of_point)) for part, of_point in named]
        self._add(member(message, "joint_names"), values)

    def samples(self) -> Iterator[Samples]:
        """Yield the vectors of each set of joints and part, the most frequent set first."""
        for position, group in enumerate(self._groups):
            for part in PARTS:
                if part not in group.index:
                    continue
                words = ["" if part == PARTS[0] else part, str(position + 1) if position else ""]
                index = np.array(group.index[part], dtype=np.int64)
                yield Samples(
                    suffix="_".join(word for word in words if word),
                    index=index,
                    values=np.array(group.values[part]).reshape(len(index), -1),
                    names=group.names or None,
                )

    @property
    def joint_sets(self) -> list[tuple[str, ...]]:
        """The sets of joints that messages have, the most frequent first."""
        return [group.names for group in self._groups]

    @property
    def _groups(self) -> list[_Group]:
        groups = self._group_by_joints.values()
        return sorted(groups, key=lambda group: group.num_vectors, reverse=True)

    def _add(self, recorded_names: object, parts: Sequence[tuple[str, object]]) -> None:
        names = tuple(recorded_names) if isinstance(recorded_names, Sequence) else ()
        vectors = [(part, _vector(recorded)) for part, recorded in parts]
        for part, vector in vectors:
            if not vector.size:
                continue
            if names and len(vector) != len(names):
                raise self._wrong_length(part, len(vector), names)
            group = self._group(names, len(vector))
            group.add(part, self._num_messages, vector[self._order(group, names)])
        self._num_messages += 1

    def _order(self, group: _Group, names: tuple[str, ...]) -> npt.NDArray[np.intp] | slice:
        if names == group.names:
            return slice(None)
        if names not in self._order_by_names:
            places = [names.index(name) for name in group.names]
            self._order_by_names[names] = np.array(places, dtype=np.intp)
        return self._order_by_names[names]

    def _group(self, names: tuple[str, ...], width: int) -> _Group:
        joints: object = tuple(sorted(names)) if names else width
        if joints not in self._group_by_joints:
            if len(set(names)) < len(names):
                raise self._named_twice(names)
            self._group_by_joints[joints] = _Group(names)
        return self._group_by_joints[joints]

    def _named_twice(self, names: tuple[str, ...]) -> DataFaultError:
        return DataFaultError(
            f"{self._subject} message {self._num_messages} names a joint twice: got "
            f"{list(names)}, expected each joint once. Correct the driver's joint names.",
            kind=ErrorKind.METADATA_CONTRADICTION,
            message_number=self._num_messages,
        )

    def _wrong_length(self, part: str, num_values: int, names: tuple[str, ...]) -> DataFaultError:
        return DataFaultError(
            f"{self._subject} message {self._num_messages} has another number of values than "
            f"joints: got {num_values} of {part}, expected {len(names)} for {list(names)}. "
            "Record the episode again, or skip the topic in the profile's `streams`.",
            kind=ErrorKind.SHAPE_MISMATCH,
            message_number=self._num_messages,
        )


def _vector(recorded: object) -> Vector:
    if isinstance(recorded, np.ndarray) and recorded.dtype == np.float64:
        return recorded
    return np.asarray(() if recorded is None else recorded, dtype=np.float64).reshape(-1)
