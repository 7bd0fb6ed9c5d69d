"""Items and batches in the reader's output type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.reader.spec import Output

Array = npt.NDArray[np.generic]
Batch = Mapping[str, Array | list[str]]
Item: TypeAlias = dict[str, Any]
"""One sample, or a batch of them, by item key: arrays or tensors, as ``output`` says, and ``str``
or a list of them."""


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
    values = to_output(batch, output)
    return [{key: value[n] for key, value in values.items()} for n in range(num_items)]


def to_output(batch: Batch, output: Output) -> Item:
    """Return a batch with its arrays as they are, or as tensors on the same memory."""
    if output == "numpy":
        return dict(batch)
    import torch

    return {
        key: torch.from_numpy(value) if isinstance(value, np.ndarray) else value
        for key, value in batch.items()
    }
