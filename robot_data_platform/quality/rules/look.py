"""Rules on what a stream looks like as a whole: its exposure and its sharpness."""

from __future__ import annotations

import numpy as np

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.quality.look import StreamLook
from robot_data_platform.quality.picture_meter import StreamPictures
from robot_data_platform.quality.thresholds import Thresholds


def picture_is_well_exposed(pictures: StreamPictures, limits: Thresholds) -> list[Finding]:
    """Inform of a stream whose pictures are dark or bright by half, most of the time.

    Pictures that are so all over are left to the rules on those.
    """
    darkest, middle, brightest = pictures.percentiles[np.isfinite(pictures.percentiles[:, 1])].T
    if not len(middle):
        return []
    margin = limits.exposure_margin.value
    is_dark = (middle <= pictures.black + margin) & (
        brightest > pictures.black + limits.black_level.value
    )
    is_bright = (middle >= pictures.white - margin) & (
        darkest < pictures.white - limits.white_level.value
    )
    shares = {"dark": float(np.mean(is_dark)), "bright": float(np.mean(is_bright))}
    what, share = max(shares.items(), key=lambda item: item[1])
    if share <= limits.exposure_share.value:
        return []
    return [
        Finding(
            rule="picture_is_well_exposed",
            severity=Severity.INFO,
            message=f"In {share:.0%} of the pictures of camera {pictures.camera!r}, half of the "
            f"picture or more is within {margin:.0f} levels of the {what} end: little is seen "
            "there.",
            where=f"camera={pictures.camera}",
            value=share,
            threshold=limits.exposure_share.value,
            unit=limits.exposure_share.unit,
        )
    ]


def picture_is_sharp(camera: str, look: StreamLook, limits: Thresholds) -> list[Finding]:
    """Inform of a stream without a single steep edge in the sampled pictures."""
    if not look.sharpness < limits.sharpness.value:
        return []
    return [
        Finding(
            rule="picture_is_sharp",
            severity=Severity.INFO,
            message=f"Pictures of camera {camera!r} have no sharp edge: steepness "
            f"{look.sharpness:.3f} over {look.num_sampled} sampled pictures, expected "
            f"{limits.sharpness.value:.3f} or more. The lens may be out of focus.",
            where=f"camera={camera}",
            value=look.sharpness,
            threshold=limits.sharpness.value,
            unit=limits.sharpness.unit,
        )
    ]
