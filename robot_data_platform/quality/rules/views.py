"""Rules on a camera's view beside that of other episodes: its own, in right colours, in place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.quality.look import Thumbnail
from robot_data_platform.quality.thresholds import Thresholds

Views = npt.NDArray[np.uint8]
"""(n, 12, 16, 3) small pictures of one camera, one for each episode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsualView:
    """What a camera shows in other episodes."""

    middle: npt.NDArray[np.float64]
    """(12, 16, 3) median of its small pictures."""
    spread: float
    """How far they usually are from it, in levels."""
    num_episodes: int


def usual_view(views: Views) -> UsualView:
    """Return the median of a camera's views, and how far they usually are from it."""
    middle = np.median(views.astype(np.float64), axis=0)
    apart = [distance(view, middle) for view in views]
    return UsualView(middle=middle, spread=float(np.median(apart)), num_episodes=len(views))


def distance(view: npt.NDArray[np.generic], other: npt.NDArray[np.generic]) -> float:
    """Return the root mean square difference of two views, in levels; a lamp's share left out.

    All of a view may be brighter than the other by one number, alike in every colour.
    """
    apart = view.astype(np.float64) - other.astype(np.float64)
    return float(np.sqrt(np.mean(np.square(apart - apart.mean()))))


def camera_is_the_named_one(
    camera: str, view: Thumbnail, usual: Mapping[str, UsualView], limits: Thresholds
) -> list[Finding]:
    """Warn of pictures that look like those of another camera of other episodes.

    Parameters
    ----------
    camera : str
        Name that the pictures have.
    view : ndarray of uint8, shape (12, 16, 3)
        Their small picture.
    usual : mapping of str to UsualView
        What each camera shows in other episodes.
    """
    own = _own_distance(camera, view, usual, limits)
    others = {
        name: distance(view, known.middle)
        for name, known in usual.items()
        if name != camera and known.num_episodes >= limits.look_min_episodes.value
    }
    nearest = min(others, key=lambda name: others[name], default=None)
    if own is None or nearest is None or others[nearest] > limits.look_other.value * own:
        return []
    return [
        Finding(
            rule="camera_is_the_named_one",
            severity=Severity.WARN,
            message=f"Pictures of camera {camera!r} look like those of camera {nearest!r} in other "
            f"episodes: {others[nearest]:.0f} levels away, and {own:.0f} from its own. The two may "
            "be exchanged.",
            where=f"camera={camera}",
            value=others[nearest] / own,
            threshold=limits.look_other.value,
            unit=limits.look_other.unit,
        )
    ]


def channels_are_in_order(
    camera: str, view: Thumbnail, usual: Mapping[str, UsualView], limits: Thresholds
) -> list[Finding]:
    """Warn of pictures that look like the camera's own with red and blue exchanged."""
    own = _own_distance(camera, view, usual, limits)
    if own is None:
        return []
    exchanged = distance(view[:, :, ::-1], usual[camera].middle)
    if exchanged > limits.look_other.value * own:
        return []
    return [
        Finding(
            rule="channels_are_in_order",
            severity=Severity.WARN,
            message=f"Pictures of camera {camera!r} look like its own in other episodes with red "
            f"and blue exchanged: {exchanged:.0f} levels away, and {own:.0f} as they are. State "
            "`channel_order` in the profile.",
            where=f"camera={camera}",
            value=exchanged / own,
            threshold=limits.look_other.value,
            unit=limits.look_other.unit,
        )
    ]


def _own_distance(
    camera: str, view: Thumbnail, usual: Mapping[str, UsualView], limits: Thresholds
) -> float | None:
    """Return how far a view is from the camera's usual one; None = near, or not known."""
    known = usual.get(camera)
    if known is None or known.num_episodes < limits.look_min_episodes.value:
        return None
    own = distance(view, known.middle)
    return own if own > max(limits.look_distance.value, known.spread) else None


def view_is_as_before(
    camera: str, view: Thumbnail, before: UsualView | None, limits: Thresholds
) -> list[Finding]:
    """Inform of a view that is not that of earlier uploads: a camera was moved, or the room was."""
    if before is None or before.num_episodes < limits.look_min_episodes.value:
        return []
    limit = max(limits.look_distance.value, limits.drift_look.value * before.spread)
    own = distance(view, before.middle)
    if own <= limit:
        return []
    return [
        Finding(
            rule="view_is_as_before",
            severity=Severity.INFO,
            message=f"Pictures of camera {camera!r} differ from those of {before.num_episodes} "
            f"episodes of earlier uploads by {own:.0f} levels: expected at most {limit:.0f}. The "
            "camera, or what it looks at, may have been moved.",
            where=f"camera={camera}",
            value=own,
            threshold=limit,
            unit=limits.look_distance.unit,
        )
    ]
