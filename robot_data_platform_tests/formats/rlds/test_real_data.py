"""An RLDS dataset that others made is read as package tfrecord and Pillow see it."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tfrecord import example_pb2
from tfrecord.reader import tfrecord_iterator

from robot_data_platform.core.recording import PictureSequence
from robot_data_platform.errors import InvalidInputError
from robot_data_platform.formats.profile import Profile
from robot_data_platform_tests.formats.reading import (
    by_rule,
    camera,
    list_folder,
    read_episode,
    signal,
)

SHARD = "bridge_dataset/1.0.0/bridge_dataset-train.tfrecord-00000-of-00001"
PROFILE = Profile(control_hz=5.0)


@pytest.fixture(scope="module")
def root(shared_data: Path) -> Path:
    return shared_data / "rlds_bridge_octo"


def test_every_episode_of_bridge_has_its_values_pictures_and_instruction(root: Path) -> None:
    tasks: Counter[str | None] = Counter()
    for number, data in enumerate(tfrecord_iterator(str(root / SHARD))):
        features = example_pb2.Example.FromString(bytes(data)).features.feature
        recording = read_episode(root, f"{SHARD}:{number}", PROFILE)
        for key, name in (("observation/state", "observation_state"), ("action", "action")):
            expected = np.array(features[f"steps/{key}"].float_list.value, dtype=np.float32)
            np.testing.assert_array_equal(signal(recording, name).values, expected.reshape(10, 7))
        texts = set(features["steps/language_instruction"].bytes_list.value)
        assert {recording.task} == {text.decode() for text in texts}
        tasks[recording.task] += 1
        for name in ("image_0", "image_1", "image_2"):
            pictures = camera(recording, name).pictures
            stored = features[f"steps/observation/{name}"].bytes_list.value
            assert isinstance(pictures, PictureSequence)
            for got, expected in zip(pictures.read(), stored, strict=True):
                np.testing.assert_array_equal(got, np.asarray(Image.open(io.BytesIO(expected))))
    assert (sum(tasks.values()), len(tasks)) == (25, 4)


def test_bridge_lacks_its_val_shard_and_a_camera_and_denies_the_others(root: Path) -> None:
    listing = list_folder(root, PROFILE)
    assert len(listing.episodes) == 25
    missing = by_rule(listing.findings)["declared_episodes_have_files"]
    assert (missing.value, "bridge_dataset-val.tfrecord" in missing.message) == (25, True)
    for ref in listing.episodes:
        findings = by_rule(read_episode(root, ref.source_key, PROFILE).findings)
        assert findings["camera_shows_something"].where == "camera=image_3"
        assert findings["camera_flags_match_pictures"].value == 3
        assert findings["columns_are_read"].where == "steps/language_embedding"


def test_bridge_asks_for_a_rate(root: Path) -> None:
    with pytest.raises(InvalidInputError, match="State `control_hz`"):
        read_episode(root, f"{SHARD}:0")
