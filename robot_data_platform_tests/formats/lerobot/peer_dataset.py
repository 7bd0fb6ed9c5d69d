"""Writes a LeRobot dataset with LeRobot, and its Lance copy; run by the peers' own Python.

Arguments: the folder to write ``files`` and ``set`` in.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

CAMERAS = ("observation.images.top", "observation.images.wrist")
LENGTHS = (8, 9, 10)
SIZE = (64, 96)


def main(folder: Path) -> None:
    """Write three episodes of two cameras with every kind of column."""
    from lerobot.configs import RGBEncoderConfig  # type: ignore[import-not-found]
    from lerobot.datasets import LeRobotDataset  # type: ignore[import-not-found]
    from lerobot_lancedb.convert import convert  # type: ignore[import-not-found]

    vector = {"dtype": "float32", "shape": (3,), "names": ["a", "b", "c"]}
    picture = {"dtype": "video", "shape": (*SIZE, 3), "names": ["height", "width", "channels"]}
    dataset = LeRobotDataset.create(
        "test/arm",
        fps=30,
        root=folder / "files",
        robot_type="so101",
        features={
            "observation.state": vector,
            "action": dict(vector),
            "next.done": {"dtype": "bool", "shape": (1,), "names": None},
            "observation.pose": {"dtype": "float32", "shape": (2, 2), "names": None},
            **{key: dict(picture) for key in CAMERAS},
        },
        rgb_encoder=RGBEncoderConfig(vcodec="h264", g=2, crf=18, preset="veryfast"),
        streaming_encoding=True,
        encoder_queue_maxsize=1000,  # a full queue drops pictures without an error
    )
    for episode, length in enumerate(LENGTHS):
        for row in range(length):
            dataset.add_frame(_frame(episode, row, length))
        dataset.save_episode()
    dataset.finalize()
    convert(folder / "set", root=folder / "files")


def _frame(episode: int, row: int, length: int) -> dict[str, object]:
    top = np.full((*SIZE, 3), 20 * episode + 5 * row, np.uint8)
    return {
        "observation.state": np.array([episode, row, 100 * episode + row], np.float32),
        "action": np.array([episode, row, 0.5], np.float32),
        "next.done": np.array([row == length - 1]),
        "observation.pose": np.array([[episode, row], [1, 2]], np.float32),
        **dict(zip(CAMERAS, (top, 255 - top), strict=True)),
        "task": f"task {episode % 2}",
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]))
