"""Findings on a LeRobot dataset as a whole: what is declared against what is there."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import Int64Array
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.lerobot.info import INFO_FILE, Feature, Info
from robot_data_platform.formats.lerobot.place import VIDEO_SUFFIX
from robot_data_platform.formats.natural_order import number_ranges, shortened


def episodes_without_files(
    lost: Collection[int], num_declared: int, files: Collection[str]
) -> Iterator[Finding]:
    """Yield a finding where declared episodes have no file to be read from."""
    if lost:
        yield Finding(
            rule="declared_episodes_have_files",
            severity=Severity.WARN,
            message=(
                f"{len(lost)} of {num_declared} declared episodes have no files: got none for "
                f"episodes {number_ranges(lost)}, expected {shortened(sorted(files), 3)}. "
                "They were left out."
            ),
            value=len(lost),
            unit="episodes",
        )


def undeclared_episodes(found: Collection[int], what: str) -> Iterator[Finding]:
    """Yield a finding where rows belong to episodes that the metadata does not know."""
    if found:
        yield Finding(
            rule="episodes_are_declared",
            severity=Severity.WARN,
            message=(
                f"{len(found)} episodes have rows but no metadata: got episodes "
                f"{number_ranges(found)}, expected every episode in the metadata. {what}"
            ),
            value=len(found),
            unit="episodes",
        )


def unreadable_file(path: str, reason: str, lost: Collection[int]) -> Finding:
    """Return the finding for a damaged file, with the episodes that are lost with it."""
    return Finding(
        rule="data_files_are_readable",
        severity=Severity.FAIL,
        message=f"{reason} Lost with it: episodes {number_ranges(lost) or 'unknown'}.",
        where=path,
        value=len(lost),
        unit="episodes",
    )


def wrong_totals(info: Info, num_declared: int, num_rows: int | None) -> Iterator[Finding]:
    """Yield a finding for each total of ``info.json`` that the episodes' metadata contradicts."""
    counted = {
        "total_episodes": (info.num_episodes_claimed, num_declared, "episodes"),
        "total_frames": (info.num_rows_claimed, num_rows, "rows"),
    }
    for key, (claimed, got, unit) in counted.items():
        if None not in (claimed, got) and claimed != got:
            yield Finding(
                rule=f"{key}_as_declared",
                severity=Severity.WARN,
                message=f"{INFO_FILE!r} says {key} {claimed}: got {got} in the episodes' metadata.",
                where=f"{INFO_FILE} {key}",
                value=got,
                threshold=claimed,
                unit=unit,
            )


def absent_cameras(features: Collection[Feature], present: Collection[str]) -> Iterator[Finding]:
    """Yield a finding for each declared camera of which there is no file at all."""
    for feature in features:
        if feature.dtype == "video" and feature.key not in present:
            yield Finding(
                rule="declared_cameras_have_files",
                severity=Severity.WARN,
                message=(
                    f"Camera {feature.key!r} is declared in {INFO_FILE!r} but has no video in any "
                    "episode: got 0 files, expected one or more. It was left out."
                ),
                where=f"camera={feature.key}",
                value=0,
                unit="files",
            )


def check_template(info: Info, videos: Collection[str], present: Collection[str]) -> None:
    """Refuse a dataset whose videos are there, and none of them where it says.

    Raises
    ------
    DataFaultError
        ``metadata-contradiction``: names the template and some of the videos.
    """
    keys = [feature.key for feature in info.features if feature.dtype == "video"]
    if keys and videos and not present:
        raise DataFaultError(
            f"{INFO_FILE!r} leads to no video: got {len(videos)} such as "
            f"{shortened(sorted(videos), 2)}, expected them at video_path "
            f"{str(info.video_path)!r} for cameras {keys}. Correct video_path, or the folders.",
            kind=ErrorKind.METADATA_CONTRADICTION,
            path=INFO_FILE,
            num_videos=len(videos),
        )


def unreferenced_videos(files: Collection[str], referenced: Collection[str]) -> Iterator[Finding]:
    """Yield a finding where videos lie in the source that no episode refers to."""
    unused = sorted(f for f in files if f.endswith(VIDEO_SUFFIX) and f not in referenced)
    if unused:
        yield Finding(
            rule="videos_are_referenced",
            severity=Severity.WARN,
            message=f"{len(unused)} videos belong to no episode: got {shortened(unused)}.",
            value=len(unused),
            unit="files",
        )


def wrong_bounds(
    start: Int64Array, stop: Int64Array, episode_index: Int64Array
) -> Iterator[Finding]:
    """Yield a finding where the global row bounds of the episodes overlap or run backwards.

    Parameters
    ----------
    start, stop, episode_index : ndarray of int64, shape (E,)
        ``dataset_from_index``, ``dataset_to_index`` and the episodes' own numbers, in any order.
    """
    order = np.argsort(episode_index, kind="stable")
    backwards = np.flatnonzero(start[order][1:] < stop[order][:-1])
    if len(backwards):
        episodes = episode_index[order][backwards + 1].tolist()
        yield Finding(
            rule="dataset_bounds_are_cumulative",
            severity=Severity.WARN,
            message=(
                f"dataset_from_index of {len(backwards)} episodes lies before the end of the one "
                f"before: got it for episodes {number_ranges(episodes)}, expected growing bounds. "
                "Rows were found by episode_index instead."
            ),
            value=len(backwards),
            unit="episodes",
        )


def wrong_video_ends(
    key: str,
    episode_index: Int64Array,
    spans_s: npt.NDArray[np.float64],
    num_rows: Int64Array,
    fps: Fraction,
) -> Iterator[Finding]:
    """Yield a finding where ``to_timestamp`` is not as far from the start as the rows reach.

    Parameters
    ----------
    key : str
        The camera.
    episode_index, num_rows : ndarray of int64, shape (E,)
        The episodes' own numbers and lengths.
    spans_s : ndarray of float64, shape (E,)
        ``to_timestamp - from_timestamp``; NaN where one of them is absent.
    fps : Fraction
        Rows per second.
    """
    off = np.rint(spans_s * float(fps)) - num_rows
    wrong = np.flatnonzero(np.isfinite(off) & (off != 0))
    if len(wrong):
        yield Finding(
            rule="video_ends_match_rows",
            severity=Severity.WARN,
            message=(
                f"to_timestamp of camera {key!r} contradicts the length of {len(wrong)} episodes: "
                f"got {off[wrong[0]]:+.0f} frames for episode {episode_index[wrong[0]]}, expected "
                "as many frames as rows. It is not used."
            ),
            where=f"camera={key}",
            value=len(wrong),
            threshold=0,
            unit="episodes",
        )
