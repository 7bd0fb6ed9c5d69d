"""Models that installed packages bring along are found by name and asked for masks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from robot_data_platform.errors import InvalidInputError
from robot_data_platform.spatial.mask_sources import MaskSource, robot_masks
from robot_data_platform.spatial.segmenters import (
    ENTRY_POINT_GROUP,
    check_segmenter,
    segmenter_named,
)

Mask = npt.NDArray[np.bool_]


class BrightParts:
    """A model that takes whatever is bright for the robot, and finds none in the dark."""

    def __call__(self, picture: npt.NDArray[np.uint8], seed: Mask) -> Mask | None:
        """Return where a picture is bright."""
        found = np.asarray(picture.max(axis=2) > 200)
        return found if found.any() else None


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    info = tmp_path / "bright_parts-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bright-parts\nVersion: 1.0\n")
    entry = f"[{ENTRY_POINT_GROUP}]\nbright = {__name__}:BrightParts\n"
    (info / "entry_points.txt").write_text(entry)
    monkeypatch.syspath_prepend(str(tmp_path))
    segmenter_named.cache_clear()
    yield
    segmenter_named.cache_clear()


@pytest.mark.usefixtures("installed")
def test_a_model_of_an_installed_package_makes_the_masks() -> None:
    pictures = np.zeros((2, 20, 30, 3), np.uint8)
    pictures[1, 5:9, 10:20] = 255
    seeds = np.ones((2, 20, 30), np.bool_)
    found = robot_masks(pictures, seeds, segmenter=segmenter_named("bright"))
    assert (found.source, found.frames.tolist()) == (MaskSource.MODEL, [1])
    assert found.masks.sum() == 40


@pytest.mark.usefixtures("installed")
def test_a_model_is_loaded_once() -> None:
    assert segmenter_named("bright") is segmenter_named("bright")


@pytest.mark.usefixtures("installed")
def test_recorded_masks_come_before_those_of_a_model() -> None:
    recorded = np.zeros((1, 20, 30), np.bool_)
    pictures = np.full((1, 20, 30, 3), 255, np.uint8)
    model = segmenter_named("bright")
    found = robot_masks(pictures, ~recorded, of_dataset=recorded, segmenter=model)
    assert found.source is MaskSource.DATASET
    assert not found.masks.any()


def test_an_unknown_model_is_refused_with_those_there_are() -> None:
    with pytest.raises(InvalidInputError, match=r"'sam' is not known: expected one of"):
        check_segmenter("sam")
