"""Built lakes that several tests only read."""

from __future__ import annotations

import pytest

from robot_data_platform.testing.lake import build_lake, release_lake
from robot_data_platform.testing.lake_model import LakeModel, LakeShape


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> LakeModel:
    """Three episodes, two cameras at half the row rate, the last one late; never written to."""
    shape = LakeShape(num_rows_without_picture=3)
    return build_lake(tmp_path_factory.mktemp("lake"), shape=shape)


@pytest.fixture
def own(tmp_path_factory: pytest.TempPathFactory) -> LakeModel:
    """A small dataset for a test to damage: two episodes, one camera."""
    shape = LakeShape(num_rows=20, cameras=("env",), width_px=64, height_px=48, gop_size=4)
    return build_lake(tmp_path_factory.mktemp("lake"), num_episodes=2, shape=shape)


@pytest.fixture(scope="session")
def released(tmp_path_factory: pytest.TempPathFactory) -> LakeModel:
    """Five episodes with release ``r1``: three in ``train``, one in ``test``, one in none."""
    root = tmp_path_factory.mktemp("lake")
    shape = LakeShape(num_rows=10, cameras=("env",), width_px=48, height_px=32)
    model = build_lake(root, num_episodes=5, shape=shape)
    ids = [episode.episode_id for episode in model.episodes]
    splits = {ids[0]: "train", ids[1]: "test", ids[2]: "train", ids[4]: "train"}
    release_lake(root, "robot", "r1", splits)
    return model
