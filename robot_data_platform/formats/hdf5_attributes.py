"""Attributes of HDF5 groups: as text, and as the numbers and flags that they state."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from robot_data_platform.core.finding import Finding, Severity

if TYPE_CHECKING:
    import h5py

MAX_ATTRIBUTE_BYTES = 1 << 16
"""Larger attributes are left out and told; a description has a few kilobytes, a robot model
written out as XML has hundreds."""


def text_attributes(item: h5py.Group) -> dict[str, str]:
    """Return the attributes of a file or group as text, without those that are too large."""
    texts = ((key, _text(item, key)) for key in item.attrs)
    return {key: text for key, text in texts if text is not None}


def left_out_attributes(item: h5py.Group, subject: str) -> tuple[Finding, ...]:
    """Return a finding that names the attributes that `text_attributes` leaves out, if any."""
    large = [key for key in item.attrs if _text(item, key) is None]
    if not large:
        return ()
    finding = Finding(
        rule="attributes_are_read",
        severity=Severity.INFO,
        message=f"{subject}: attributes {large} were left out of the metadata: got more than the "
        f"{MAX_ATTRIBUTE_BYTES} bytes that are expected at most.",
        where=str(item.name),
        value=len(large),
        threshold=0,
        unit="attributes",
    )
    return (finding,)


def number_attribute(item: h5py.Group, key: str) -> float | None:
    """Return an attribute that is one number, or None where it is absent or something else."""
    if key not in item.attrs or _declared_bytes(item, key) > MAX_ATTRIBUTE_BYTES:
        return None
    value = np.asarray(item.attrs[key])
    return float(value.item()) if value.size == 1 and value.dtype.kind in "iufb" else None


def flag_attribute(item: h5py.Group, key: str) -> bool | None:
    """Return an attribute that is true or false, or None where it is absent or something else."""
    value = number_attribute(item, key)
    return bool(value) if value in (0, 1) else None


def _text(item: h5py.Group, key: str) -> str | None:
    if _declared_bytes(item, key) > MAX_ATTRIBUTE_BYTES:
        return None
    value = item.attrs[key]
    plain = value.tolist() if isinstance(value, np.ndarray) else value
    text = plain.decode("utf-8", "replace") if isinstance(plain, bytes) else str(plain)
    return text if len(text) <= MAX_ATTRIBUTE_BYTES else None


def _declared_bytes(item: h5py.Group, key: str) -> int:
    declared = item.attrs.get_id(key)
    return int(declared.dtype.itemsize) * math.prod(declared.shape or ())
