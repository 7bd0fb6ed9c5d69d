"""Items from the arrays of a batch, in the reader's output type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.reader.spec import Output, PictureDtype

Array = npt.NDArray[np.generic]
Batch = Mapping[str, Array | list[str]]
Item: TypeAlias = dict[str, Any]
"""One sample by item key: numpy arrays or torch tensors, as ``output`` says, and ``str``."""


def to_pictures(
    pictures: npt.NDArray[np.uint8], dtype: PictureDtype, *, channels_first: bool
) -> Array:
    """Return decoded pictures as asked for.

    Parameters
    ----------
    pictures : ndarray of uint8, shape (..., H, W, 3)
        Decoded RGB.
    dtype : {"uint8", "float32"}
        ``float32`` is divided by 255, so in [0, 1].
    channels_first : bool
        Whether the result is (..., 3, H, W).
    """
    shaped = np.moveaxis(pictures, -1, -3) if channels_first else pictures
    if dtype == "uint8":
        return np.ascontiguousarray(shaped)
    return np.divide(shaped, np.float32(255), dtype=np.float32, order="C")


def check_output(output: Output) -> None:
    """Refuse ``torch`` where it is not installed.

    Raises
    ------
    InvalidInputError
        ``not-installed``.
    """
    if output == "numpy":
        return
    try:
        import torch  # noqa: F401
    except ModuleNotFoundError as err:
        raise InvalidInputError(
            "output='torch' needs torch: got no such module, expected it installed. Install "
            "robot_data_platform[torch], or read with output='numpy'.",
            kind=ErrorKind.NOT_INSTALLED,
        ) from err


def split_batch(batch: Batch, num_items: int, output: Output) -> list[Item]:
    """Return the items of a batch; their arrays or tensors share the batch's memory."""
    values = _as_tensors(batch) if output == "torch" else batch
    return [{key: value[n] for key, value in values.items()} for n in range(num_items)]


def _as_tensors(batch: Batch) -> Mapping[str, Any]:
    import torch

    return {
        key: torch.from_numpy(value) if isinstance(value, np.ndarray) else value
        for key, value in batch.items()
    }
