"""Where the robot really is in pictures: the best source of masks that there is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import numpy as np
import numpy.typing as npt

from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.spatial.optional_packages import import_spatial

Pictures = npt.NDArray[np.uint8]
Masks = npt.NDArray[np.bool_]

MAX_GRABCUT_FRAMES = 6
"""Frames that are segmented without a model: each takes some tenths of a second."""
_BAND_PX = 12
"""Distance from the projected edge within which the real one is looked for."""
_ITERATIONS = 1
"""Another one costs as much again, and changes masks by less than a hundredth."""


class MaskSource(StrEnum):
    """Where masks come from, best first."""

    DATASET = "dataset"
    MODEL = "model"
    GRABCUT = "grabcut"
    NONE = "none"


class Segmenter(Protocol):
    """A model that segments the robot, as SAM does from a prompt."""

    def __call__(
        self, picture: npt.NDArray[np.uint8], seed: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.bool_] | None:
        """Return the robot's mask in a picture.

        Parameters
        ----------
        picture : ndarray of uint8, shape (H, W, 3)
            RGB.
        seed : ndarray of bool, shape (H, W)
            Where the robot is projected; it may be wrong.

        Returns
        -------
        ndarray of bool, shape (H, W), or None
            None where the model finds no robot.
        """


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RobotMasks:
    """Masks of the robot in some of the frames."""

    source: MaskSource
    frames: npt.NDArray[np.int64]
    """(M,) indices of the pictures that have a mask."""
    masks: Masks
    """(M, H, W)."""


def robot_masks(
    pictures: Pictures,
    seeds: Masks,
    *,
    of_dataset: Masks | None = None,
    segmenter: Segmenter | None = None,
    with_grabcut: bool = True,
) -> RobotMasks:
    """Return masks of the robot from the best source at hand.

    Parameters
    ----------
    pictures : ndarray of uint8, shape (S, H, W, 3)
        RGB.
    seeds : ndarray of bool, shape (S, H, W)
        Where the robot is projected.
    of_dataset : ndarray of bool, shape (S, H, W), optional
        Masks that were recorded.
    segmenter : Segmenter, optional
        A model.
    with_grabcut : bool
        Whether to segment without a model where there is no better source. Such masks lean on the
        projection: they find errors of a few centimetres, and no gross ones.

    Raises
    ------
    DataFaultError
        ``shape-mismatch``: recorded masks, or those of the model, of another shape.
    """
    if of_dataset is not None:
        _check_shape(of_dataset, seeds.shape)
        return RobotMasks(
            source=MaskSource.DATASET, frames=np.arange(len(seeds)), masks=of_dataset.astype(bool)
        )
    if segmenter is not None:
        frames = range(len(seeds))
        found = {frame: segmenter(pictures[frame], seeds[frame]) for frame in frames}
        return _of_frames(MaskSource.MODEL, found, seeds.shape)
    if with_grabcut:
        number = min(MAX_GRABCUT_FRAMES, len(seeds))
        frames = np.unique(np.linspace(0, len(seeds) - 1, number).round().astype(int)).tolist()
        found = {frame: grabcut(pictures[frame], seeds[frame]) for frame in frames}
        return _of_frames(MaskSource.GRABCUT, found, seeds.shape)
    return _of_frames(MaskSource.NONE, {}, seeds.shape)


def grabcut(picture: npt.NDArray[np.uint8], seed: npt.NDArray[np.bool_]) -> Masks | None:
    """Return the robot in a picture (H, W, 3), found from its projection (H, W) and its colours.

    None where the projection is empty, or leaves no certain inside and outside.
    """
    cv2 = import_spatial("cv2")
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * _BAND_PX + 1,) * 2)
    near = cv2.dilate(seed.astype(np.uint8), kernel).astype(bool)
    deep = cv2.erode(seed.astype(np.uint8), kernel[_BAND_PX // 2 :: 2, _BAND_PX // 2 :: 2]) > 0
    if not deep.any() or near.all():
        return None
    left, top, width, height = cv2.boundingRect(near.astype(np.uint8))
    part = (
        slice(max(0, top - _BAND_PX), top + height + _BAND_PX),
        slice(max(0, left - _BAND_PX), left + width + _BAND_PX),
    )
    hints = np.full(seed.shape, cv2.GC_BGD, dtype=np.uint8)
    hints[near] = cv2.GC_PR_BGD
    hints[seed] = cv2.GC_PR_FGD
    hints[deep] = cv2.GC_FGD
    cv2.setRNGSeed(0)  # its first clusters are drawn at random
    models = np.zeros((1, 65)), np.zeros((1, 65))
    bgr, cut = np.ascontiguousarray(picture[part][..., ::-1]), np.ascontiguousarray(hints[part])
    if not (cut == cv2.GC_BGD).any():
        return None
    cv2.grabCut(bgr, cut, None, *models, _ITERATIONS, cv2.GC_INIT_WITH_MASK)
    hints[part] = cut
    return np.asarray((hints == cv2.GC_FGD) | (hints == cv2.GC_PR_FGD))


def _of_frames(
    source: MaskSource, found: dict[int, Masks | None], shape: tuple[int, ...]
) -> RobotMasks:
    kept = {frame: mask for frame, mask in found.items() if mask is not None and mask.any()}
    for mask in kept.values():
        _check_shape(mask, shape[1:])
    masks = np.stack(list(kept.values())) if kept else np.zeros((0, *shape[1:]), dtype=np.bool_)
    return RobotMasks(source=source, frames=np.array(list(kept), dtype=np.int64), masks=masks)


def _check_shape(masks: Masks, shape: tuple[int, ...]) -> None:
    if masks.shape != shape:
        raise DataFaultError(
            f"Masks of the robot have the shape {masks.shape}, expected {shape} as the pictures.",
            kind=ErrorKind.SHAPE_MISMATCH,
        )
