"""Damaged files are refused with a typed error, or what is whole of them is read."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from robot_data_platform.core.recording import PictureSequence
from robot_data_platform.errors import RobotDataError
from robot_data_platform.formats.profile import Profile
from robot_data_platform.formats.registry import detect_format
from robot_data_platform.storage.source import LocalSource
from robot_data_platform_tests.formats import (
    droid_files,
    hdf5_files,
    pickle_files,
    rawlog_files,
    rlds_files,
    robomimic_files,
)
from robot_data_platform_tests.formats.lerobot_files import TOP, Take, V3Plan, write_v2, write_v3
from robot_data_platform_tests.formats.lerobot_lance_files import write_lance
from robot_data_platform_tests.formats.lerobot_v1_files import write_v1

TAKES = tuple(Take(index=i, num_rows=6) for i in range(3))
PROFILE = Profile(control_hz=50.0, allow_pickle=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """One way to spoil a file; fractions choose file and place."""

    kind: str
    file: float
    place: float
    byte: int

    def apply(self, data: bytes) -> bytes | None:
        """Return the spoilt content, or None where the file goes."""
        at = int(self.place * len(data))
        match self.kind:
            case "cut":
                return data[:at]
            case "flip":
                return data[:at] + bytes([self.byte]) + data[at + 1 :]
            case "zeros":
                return data[:at] + bytes(len(data[at : at + 64])) + data[at + 64 :]
            case _:
                return None


DAMAGE = st.builds(
    Damage,
    kind=st.sampled_from(["cut", "flip", "flip", "zeros", "remove"]),
    file=st.floats(0, 1, exclude_max=True),
    place=st.floats(0, 1, exclude_max=True),
    byte=st.integers(0, 255),
)


def write_hdf5(root: Path) -> None:
    for number in range(2):
        path = hdf5_files.write_episode(root / f"episode_{number}.hdf5")
        rows = [hdf5_files.jpeg(code) for code in range(hdf5_files.ROWS)]
        hdf5_files.add_padded(path, "high", rows)


def write_demos(root: Path) -> None:
    path = robomimic_files.write_file(root / "demos.hdf5", demos=(0, 3))
    robomimic_files.add_pictures(path, 3, "view", range(robomimic_files.ROWS), compression="gzip")


SHARED = V3Plan(takes=TAKES, data_files=[[0, 1], [2]], video_files={TOP: [[0, 1, 2]]})


def write_picture_log(root: Path) -> None:
    rawlog_files.write_episode(root)
    folder = rawlog_files.folder_of(root) / "cameras" / "wrist"
    rawlog_files.write_pictures(folder, {rawlog_files.START_NS + k: k for k in range(3)})


def write_npz(root: Path) -> None:
    values = pickle_files.episode() | {"cam": pickle_files.pictures(range(pickle_files.ROWS))}
    values["init_state_dict"] = np.array(values["init_state_dict"], dtype=object)
    pickle_files.write_npz(root / "ep_0.npz", values, compressed=True)


WRITERS: dict[str, Callable[[Path], object]] = {
    "lerobot v1": lambda root: write_v1(root, TAKES),
    "lerobot v2": lambda root: write_v2(root, TAKES),
    "lerobot v3": lambda root: write_v3(root, SHARED),
    "lerobot Lance": lambda root: write_lance(root, SHARED),
    "aloha_hdf5": write_hdf5,
    "robomimic_hdf5": write_demos,
    "isaac": lambda root: robomimic_files.write_isaac(root / "demos.hdf5", demos=(0, 3)),
    "droid": lambda root: droid_files.write_episode(root / "success" / "a"),
    "rawlog": rawlog_files.write_episode,
    "rawlog with pictures": write_picture_log,
    "rlds": lambda root: rlds_files.write_dataset(root, [rlds_files.record()] * 2),
    "npz": write_npz,
    "pickle": pickle_files.write_demos,
}


def read_everything(root: Path) -> Iterator[str]:
    """Read all that is there; yield what was refused."""
    source = LocalSource(root)
    try:
        reader = detect_format(source)
        refs = reader.list_episodes(source, PROFILE).episodes
    except RobotDataError as error:
        yield str(error)
        return
    for ref in refs:
        try:
            recording = reader.read(source, ref, PROFILE)
            for camera in recording.cameras:
                if isinstance(camera.pictures, PictureSequence):
                    assert sum(1 for _ in camera.pictures.read()) == camera.pictures.num_frames
        except RobotDataError as error:
            yield str(error)


@pytest.mark.parametrize("name", WRITERS)
def test_damage_anywhere_never_ends_in_anything_but_a_typed_error(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    whole = tmp_path_factory.mktemp("whole")
    WRITERS[name](whole)
    files = sorted(path.relative_to(whole) for path in whole.rglob("*") if path.is_file())

    @settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
    @given(DAMAGE)
    def spoil(damage: Damage) -> None:
        root = tmp_path_factory.mktemp("spoilt")
        shutil.copytree(whole, root, dirs_exist_ok=True)
        path = root / files[int(damage.file * len(files))]
        content = damage.apply(path.read_bytes())
        path.unlink() if content is None else path.write_bytes(content)
        assert all("expected" in message for message in read_everything(root))
        shutil.rmtree(root)

    assert list(read_everything(whole)) == []
    spoil()
