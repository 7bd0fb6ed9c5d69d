"""Cameras that show nothing: every picture the same single colour, as fillers are."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import AnyPicture


def is_blank(stored: Iterable[bytes], decode: Callable[[bytes], AnyPicture]) -> bool:
    """Return whether all pictures of a camera are one and the same colour, or distance.

    Parameters
    ----------
    stored : iterable of bytes
        Every picture as it is stored; read on only while nothing shows.
    decode : callable
        Makes a picture, (H, W, 3) or (H, W), of its bytes; only the first one is decoded.
    """
    first: bytes | None = None
    for data in stored:
        if first is None:
            first = data
            picture = decode(data)
            if not (picture == picture[:1, :1]).all():
                return False
        elif data != first:
            return False
    return first is not None


def blank_camera(name: str, num_frames: int, subject: str, what_became: str) -> Finding:
    """Return the finding that a camera shows nothing; ``what_became`` is a sentence."""
    return Finding(
        rule="camera_shows_something",
        severity=Severity.WARN,
        message=f"{subject}: camera {name!r} is blank: all of its {num_frames} pictures are one "
        f"and the same colour. {what_became}",
        where=f"camera={name}",
        value=num_frames,
        unit="frames",
    )
