from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.spatial.mask_sources import MaskSource, grabcut, robot_masks
from robot_data_platform_tests.spatial.test_edge_lock import disc, picture_of

pytest.importorskip("cv2", reason="it segments")

TRUTH = np.stack([disc(80, 60, 30)] * 3)
SEEDS = np.stack([disc(84, 63, 30)] * 3)
PICTURES = np.stack([picture_of(mask, seed) for seed, mask in enumerate(TRUTH)])


def test_masks_of_the_dataset_come_first() -> None:
    found = robot_masks(PICTURES, SEEDS, of_dataset=TRUTH, segmenter=lambda picture, seed: seed)
    assert found.source is MaskSource.DATASET
    np.testing.assert_array_equal(found.masks, TRUTH)


def test_a_model_comes_second_and_may_find_nothing() -> None:
    def model(
        picture: npt.NDArray[np.uint8], seed: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.bool_] | None:
        return (
            seed
            if picture is not PICTURES[1] and picture[0, 0, 0] != PICTURES[1][0, 0, 0]
            else None
        )

    found = robot_masks(PICTURES, SEEDS, segmenter=model)
    assert found.source is MaskSource.MODEL
    assert found.frames.tolist() == [0, 2]


def test_grabcut_finds_the_robot_beside_its_projection() -> None:
    found = robot_masks(PICTURES, SEEDS)
    assert found.source is MaskSource.GRABCUT
    shared, union = (found.masks & TRUTH).sum(), (found.masks | TRUTH).sum()
    assert shared / union > 0.97


def test_grabcut_gives_the_same_mask_again() -> None:
    first, second = (grabcut(PICTURES[0], SEEDS[0]) for _ in range(2))
    assert first is not None
    np.testing.assert_array_equal(first, second)


def test_a_projection_that_is_empty_or_a_thread_seeds_nothing() -> None:
    thread = np.zeros((120, 160), dtype=np.bool_)
    thread[60] = True
    assert grabcut(PICTURES[0], thread) is None
    assert grabcut(PICTURES[0], np.zeros_like(thread)) is None


def test_without_any_source_there_are_no_masks() -> None:
    found = robot_masks(PICTURES, SEEDS, with_grabcut=False)
    assert (found.source, len(found.masks)) == (MaskSource.NONE, 0)


def test_masks_of_another_shape_are_refused() -> None:
    with pytest.raises(DataFaultError) as caught:
        robot_masks(PICTURES, SEEDS, of_dataset=TRUTH[:, :60])
    assert caught.value.kind is ErrorKind.SHAPE_MISMATCH
