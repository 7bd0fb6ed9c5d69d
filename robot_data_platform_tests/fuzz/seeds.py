"""One small, whole source of every way to record that a registered format reads."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
from mcap.writer import CompressionType
from rosbags.rosbag1 import Writer as Bag1Writer

from robot_data_platform_tests.depth_maps import depth_map
from robot_data_platform_tests.formats import (
    droid_files,
    hdf5_files,
    pickle_files,
    rawlog_files,
    rlds_files,
    robomimic_files,
    ros_files,
)
from robot_data_platform_tests.formats.coded_video import write_video
from robot_data_platform_tests.formats.lerobot_files import (
    TOP,
    V2_DATA,
    Take,
    V3Plan,
    edit_info,
    edit_parquet,
    features,
    write_v2,
    write_v3,
)
from robot_data_platform_tests.formats.lerobot_lance_files import write_lance
from robot_data_platform_tests.formats.lerobot_v1_files import write_v1
from robot_data_platform_tests.formats.png import png

TAKES = (
    Take(index=0, num_rows=6),
    Take(index=1, num_rows=8, task=1),
    Take(index=2, num_rows=5),
)
WRIST = "observation.images.wrist"
SHARED = V3Plan(
    takes=TAKES,
    data_files=[[0, 1], [2]],
    video_files={TOP: [[0, 1, 2]], WRIST: [[0], [1, 2]]},
)
ONE_CAMERA = V3Plan(takes=TAKES, data_files=[[0, 1], [2]], video_files={TOP: [[0, 1, 2]]})
RATE = "control_hz: 50\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seed:
    """A whole source, and what it can tell of damage."""

    format_name: str
    write: Callable[[Path], object]
    """Writes it into an empty folder; equal calls give equal files."""
    profile: str | None = None
    """What is stated with the source, as YAML; None = its own ``profile.yaml``, if it has one."""
    checked: tuple[str, ...] = ()
    """Suffixes of files in which every byte of rows and pictures is under a checksum."""
    optional: tuple[str, ...] = ()
    """Patterns of files that an episode may lack: nothing tells that one was there."""

    def is_checked(self, path: str) -> bool:
        """Return whether other content of a file has to be noticed."""
        return path.endswith(self.checked) if self.checked else False

    def is_optional(self, path: str) -> bool:
        """Return whether a file may be missing without a word."""
        return any(fnmatch(path, pattern) for pattern in self.optional)


def _lerobot_images(root: Path) -> None:
    write_v2(root, TAKES, cameras=())
    edit_info(root, features=features((TOP,), dtype="image"))
    for take in TAKES:
        path = root / V2_DATA.format(episode_chunk=0, episode_index=take.index)
        edit_parquet(path, **{TOP: [{"bytes": png(code), "path": None} for code in take.codes]})


def _aloha(root: Path) -> None:
    for number, num_rows in enumerate((12, 9)):
        path = hdf5_files.write_episode(root / f"episode_{number}.hdf5", num_rows)
        codes = range(100 * number, 100 * number + num_rows)
        hdf5_files.add_padded(path, "high", [hdf5_files.jpeg(code) for code in codes])
        hdf5_files.add_varying(path, "low", [hdf5_files.jpeg(code + 50) for code in codes])
    (root / "profile.yaml").write_text(RATE)


def _robomimic(root: Path) -> None:
    path = robomimic_files.write_file(root / "demos.hdf5", demos=(0, 3, 10))
    for demo in (0, 3, 10):
        first = 100 * demo
        codes = range(first, first + robomimic_files.ROWS)
        packed = {"compression": "gzip", "chunks": (1, 48, 64, 3)} if demo else {}
        robomimic_files.add_pictures(path, demo, "view", codes, **packed)


def _droid(root: Path) -> None:
    names = (droid_files.WRIST, droid_files.EXT1, droid_files.EXT2)
    for number, folder in enumerate(("success/a", "failure/b")):
        num_rows = 8 - 3 * number
        codes = {name: 1000 * number + 100 * k for k, name in enumerate(names)}
        plan = droid_files.Plan(
            num_rows=num_rows,
            cameras={name: range(first, first + num_rows) for name, first in codes.items()},
            attributes={"success": not number, "robot_serial_number": "panda-295341"},
        )
        described = droid_files.metadata(trajectory_length=num_rows, success=not number)
        droid_files.write_episode(root / folder, plan, described)


def _sent(first: int, num_rows: int) -> list[ros_files.Sent]:
    """Return joint states, and a picture at the time of every fourth one."""
    rows = range(first, first + num_rows)
    messages = [ros_files.joint_state(number) for number in rows]
    messages += [ros_files.image(number // 2) for number in rows[::4]]
    return sorted(messages, key=lambda sent: sent.log_ns)


def _mcap(root: Path) -> None:
    ros_files.write_mcap(root / "take_0.mcap", _sent(0, 20), chunk_size=24_000)
    lz4 = CompressionType.LZ4
    ros_files.write_mcap(root / "take_1.mcap", _sent(100, 15), chunk_size=12_000, compression=lz4)


def _rosbag2(root: Path) -> None:
    ros_files.write_rosbag2(root / "take_0", _sent(0, 20))
    ros_files.write_rosbag2(root / "take_1", _sent(100, 15), is_packed=True)


def _rosbag1(root: Path) -> None:
    ros_files.write_rosbag1(root / "take_0.bag", _sent(0, 20), chunk_size=24_000)
    lz4 = Bag1Writer.CompressionFormat.LZ4
    ros_files.write_rosbag1(root / "take_1.bag", _sent(100, 15), lz4, chunk_size=24_000)


def _rlds(root: Path) -> None:
    other: rlds_files.Record = {"steps/action": (np.arange(12, dtype=np.float32) + 50, "float")}
    records = [rlds_files.record(), rlds_files.record(num_steps=4, start=100, changed=other)]
    rlds_files.write_dataset(root, records)
    (root / "profile.yaml").write_text(RATE)


def _npz(root: Path) -> None:
    for number, num_rows in enumerate((6, 4)):
        values = {
            "state": pickle_files.state(num_rows),
            "action": -pickle_files.state(num_rows),
            "cam": pickle_files.pictures(range(100 * number, 100 * number + num_rows)),
        }
        path = root / f"episode_{number}.npz"
        pickle_files.write_npz(path, values, compressed=bool(number))
    (root / "profile.yaml").write_text(RATE)


def _rawlog(root: Path) -> None:
    for number in range(2):
        rawlog_files.write_episode(root, f"ep_{number}", number)
        clock = rawlog_files.times(rawlog_files.ROWS - 5 * number)
        folder = rawlog_files.folder_of(root, f"ep_{number}")
        rawlog_files.write_signal(folder, "observation_state", clock, 100 * number)
        codes = range(100 * number, 100 * number + rawlog_files.FRAMES)
        write_video(folder / "cameras" / "env.mp4", codes)
        spoken = [{"kind": "source", "value": "human", "start_ns": 0, "end_ns": 1 << 62}]
        rawlog_files.write_json(folder / "events.json", {"events": spoken})


def _rawlog_pictures(root: Path) -> None:
    rawlog_files.write_episode(root)
    folder = rawlog_files.folder_of(root)
    clock = rawlog_files.times(5, 5 * rawlog_files.STEP_NS).tolist()
    rawlog_files.write_pictures(
        folder / "cameras" / "wrist", {time: 100 + k for k, time in enumerate(clock)}
    )
    depth = {time: depth_map(k) for k, time in enumerate(clock)}
    rawlog_files.write_depth(folder / "cameras" / "depth", depth)
    gripper = io.StringIO("timestamp_ns,open\n")
    gripper.seek(0, io.SEEK_END)
    gripper.writelines(f"{time},{k}.5\n" for k, time in enumerate(rawlog_files.times().tolist()))
    (folder / "signals" / "gripper.csv").write_text(gripper.getvalue())


LAYOUT = """\
rawlog:
  episodes: takes/*/raw
  signals:
    observation_state: {path: joints.csv, columns: [t, a, b], time: t}
  cameras:
    top: pictures/top/*.jpg
"""


def _rawlog_stated(root: Path) -> None:
    for number, num_rows in enumerate((8, 6)):
        folder = root / "takes" / f"take_{number}" / "raw"
        clock = rawlog_files.times(num_rows).tolist()
        codes = {time: 100 * number + k for k, time in enumerate(clock)}
        rawlog_files.write_pictures(folder / "pictures" / "top", codes)
        lines = [f"{time},{row},{row + 0.5}" for row, time in enumerate(clock)]
        (folder / "joints.csv").write_text("\n".join(lines) + "\n")
    (root / "profile.yaml").write_text(LAYOUT)


RAWLOG_PARTS = ("*/signals/*", "*/cameras/*", "*/episode.json", "*/events.json")

SEEDS: dict[str, Seed] = {
    "lerobot_v1": Seed(format_name="lerobot", write=lambda root: write_v1(root, TAKES)),
    "lerobot_v2": Seed(format_name="lerobot", write=lambda root: write_v2(root, TAKES)),
    "lerobot_v3": Seed(format_name="lerobot", write=lambda root: write_v3(root, SHARED)),
    "lerobot_images": Seed(format_name="lerobot", write=_lerobot_images),
    "lerobot_lance": Seed(format_name="lerobot", write=lambda root: write_lance(root, ONE_CAMERA)),
    "aloha_hdf5": Seed(format_name="aloha_hdf5", write=_aloha),
    "robomimic_hdf5": Seed(format_name="robomimic_hdf5", write=_robomimic),
    "isaac_hdf5": Seed(
        format_name="robomimic_hdf5",
        write=lambda root: robomimic_files.write_isaac(root / "demos.hdf5", demos=(0, 3)),
    ),
    "droid": Seed(format_name="droid", write=_droid, optional=("*/metadata_*.json",)),
    "mcap": Seed(format_name="mcap", write=_mcap, checked=(".mcap",)),
    "rosbag2": Seed(format_name="rosbag2", write=_rosbag2),
    "rosbag1": Seed(format_name="rosbag1", write=_rosbag1),
    "rlds": Seed(format_name="rlds", write=_rlds, checked=(".tfrecord-00000-of-00001",)),
    "npz": Seed(format_name="npz", write=_npz, checked=(".npz",)),
    "pickle": Seed(
        format_name="pickle",
        write=pickle_files.write_demos,
        profile=f"{RATE}allow_pickle: true\n",
    ),
    "rawlog": Seed(format_name="rawlog", write=_rawlog, optional=RAWLOG_PARTS),
    "rawlog_pictures": Seed(format_name="rawlog", write=_rawlog_pictures, optional=RAWLOG_PARTS),
    "rawlog_stated": Seed(
        format_name="rawlog", write=_rawlog_stated, optional=("*/pictures/*", "profile.yaml")
    ),
}
"""By name; a test asks that every registered format is among them."""
