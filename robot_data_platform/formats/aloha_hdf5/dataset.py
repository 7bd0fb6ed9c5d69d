"""The ALOHA HDF5 format behind the ``Format`` protocol."""

from __future__ import annotations

from itertools import islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import ACTION, STATE, EpisodeRef, Recording
from robot_data_platform.core.source import Source
from robot_data_platform.core.time_base import frame_index_to_ns
from robot_data_platform.errors import DataFaultError, ErrorKind, InvalidInputError
from robot_data_platform.formats.aloha_hdf5.cameras import read_cameras
from robot_data_platform.formats.aloha_hdf5.hdf5_files import SUFFIXES, group_at, open_hdf5
from robot_data_platform.formats.aloha_hdf5.signals import (
    OBSERVATIONS,
    QPOS,
    read_signal,
    vector_datasets,
)
from robot_data_platform.formats.data_files import unreadable
from robot_data_platform.formats.natural_order import last_number, natural_key
from robot_data_platform.formats.profile import Profile
from robot_data_platform.formats.protocol import EpisodeListing
from robot_data_platform.formats.statements import apply_profile
from robot_data_platform.formats.timing import check_rows

if TYPE_CHECKING:
    import h5py

MAX_SNIFFED = 5
"""Files that are opened to recognise a source in which the first ones may be damaged."""


class AlohaHdf5Format:
    """HDF5 files with ``/observations/qpos``, ``/action`` and ``/observations/images/<camera>``."""

    name = "aloha_hdf5"
    marker = f"*.hdf5 or *.h5 with /{QPOS} and /{ACTION}"

    def sniff(self, source: Source) -> bool:
        """Return whether one of the first HDF5 files has the layout's two datasets."""
        return any(_has_layout(source, path) for path in islice(_hdf5_files(source), MAX_SNIFFED))

    def list_episodes(self, source: Source, profile: Profile) -> EpisodeListing:
        """Return one episode per HDF5 file, in natural order; no file is opened."""
        return EpisodeListing(
            episodes=tuple(
                EpisodeRef(
                    source_key=path,
                    source_episode_index=last_number(PurePosixPath(path).stem),
                    files=(path,),
                )
                for path in _hdf5_files(source)
            )
        )

    def read(self, source: Source, ref: EpisodeRef, profile: Profile) -> Recording:
        """Return one file's episode; row k lies at ``k / control_hz``.

        Raises
        ------
        DataFaultError
            ``unreadable-file``, ``missing-file``, ``no-rows``; ``row-mismatch``: datasets of
            different lengths; ``video-too-short``: fewer pictures than rows; ``unsafe-path``.
        InvalidInputError
            ``invalid-profile``: neither the profile nor the file states the rate.
        """
        subject = f"Episode {ref.source_key!r} of {source.label!r}"
        with open_hdf5(source, ref.source_key) as file:
            return apply_profile(_read(source, ref, file, profile, subject), profile)


def _hdf5_files(source: Source) -> list[str]:
    return sorted((f for f in source.list_files() if f.endswith(SUFFIXES)), key=natural_key)


def _has_layout(source: Source, relative: str) -> bool:
    try:
        with open_hdf5(source, relative) as file:
            observed = group_at(file, OBSERVATIONS)
            return observed is not None and "qpos" in observed and ACTION in file
    except DataFaultError:
        return False  # reading the episode says what is wrong with it


def _read(
    source: Source, ref: EpisodeRef, file: h5py.File, profile: Profile, subject: str
) -> Recording:
    vectors, others = vector_datasets(file, subject)
    if STATE not in vectors or ACTION not in vectors:
        got = f"got {sorted(file)}, expected numbers in /{QPOS} and /{ACTION}"
        raise unreadable(source, ref.source_key, got)
    num_rows = len(vectors[STATE])
    single = check_rows(num_rows, subject)
    rate_hz, contradicted = _rate(file, profile, subject)
    times = frame_index_to_ns(np.arange(num_rows, dtype=np.int64), rate_hz)
    cameras, unseen = read_cameras(source, ref, file, profile, times)
    return Recording(
        ref=ref,
        signals=tuple(read_signal(name, d, times, subject) for name, d in vectors.items()),
        cameras=cameras,
        task=_text_attributes(file).get("task"),
        robot=None,
        findings=(*single, *contradicted, *unseen, *(_not_read(o, subject) for o in others)),
        metadata={**_text_attributes(file), "clock": "row number / control_hz"},
    )


def _rate(file: h5py.File, profile: Profile, subject: str) -> tuple[float, tuple[Finding, ...]]:
    stated, recorded = profile.control_hz, _recorded_rate(file, subject)
    rate_hz = recorded if stated is None else stated
    if rate_hz is None:
        raise _no_rate(
            subject, "neither `control_hz` in the profile nor an attribute `fps` in the file"
        )
    if recorded in (None, rate_hz):
        return rate_hz, ()
    contradiction = Finding(
        rule="rate_as_profile_states",
        severity=Severity.WARN,
        message=(
            f"{subject}: attribute fps says {recorded:g}: expected the profile's {rate_hz:g}, "
            "which was used."
        ),
        where="/ fps",
        value=recorded,
        threshold=rate_hz,
        unit="Hz",
    )
    return rate_hz, (contradiction,)


def _recorded_rate(file: h5py.File, subject: str) -> float | None:
    recorded = file.attrs.get("fps")
    if recorded is None:
        return None
    is_rate = np.ndim(recorded) == 0 and np.asarray(recorded).dtype.kind in "iuf"
    if not is_rate or not 0 < recorded < np.inf:
        raise _no_rate(subject, f"an attribute `fps` of {recorded!r:.40}")
    return float(recorded)


def _no_rate(subject: str, got: str) -> InvalidInputError:
    return InvalidInputError(
        f"{subject} has no clock: got {got}, expected rows per second. State `control_hz` in the "
        "profile.",
        kind=ErrorKind.INVALID_PROFILE,
        key="control_hz",
    )


def _not_read(path: str, subject: str) -> Finding:
    return Finding(
        rule="columns_are_read",
        severity=Severity.INFO,
        message=f"{subject}: dataset {path!r} was left out: it holds no numbers by row.",
        where=path,
    )


def _text_attributes(file: h5py.File) -> dict[str, str]:
    values = {key: file.attrs[key] for key in file.attrs}
    return {
        key: value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
        for key, value in values.items()
    }
