"""The ALOHA HDF5 format behind the ``Format`` protocol."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from robot_data_platform.core.recording import ACTION, STATE, EpisodeRef, Recording
from robot_data_platform.core.source import Source
from robot_data_platform.formats.aloha_hdf5.signals import QPOS, vector_datasets
from robot_data_platform.formats.data_files import unreadable
from robot_data_platform.formats.hdf5_attributes import (
    left_out_attributes,
    number_attribute,
    text_attributes,
)
from robot_data_platform.formats.hdf5_cameras import read_cameras
from robot_data_platform.formats.hdf5_files import NO_HDF5, list_hdf5, open_hdf5
from robot_data_platform.formats.hdf5_members import datasets, group_at, names_dataset
from robot_data_platform.formats.hdf5_process import has_layout, read_apart
from robot_data_platform.formats.hdf5_signals import (
    check_signals,
    read_signals,
)
from robot_data_platform.formats.natural_order import last_number
from robot_data_platform.formats.profile import Profile
from robot_data_platform.formats.protocol import EpisodeListing
from robot_data_platform.formats.row_rate import StatedRate, no_rate, times_at_rate
from robot_data_platform.formats.statements import apply_profile
from robot_data_platform.formats.timing import check_rows
from robot_data_platform.formats.unread_files import files_besides, unread_files

if TYPE_CHECKING:
    import h5py

IMAGES = "observations/images"
"""Group that holds one dataset per camera."""


class AlohaHdf5Format:
    """HDF5 files with ``/observations/qpos``, ``/action`` and ``/observations/images/<camera>``."""

    name = "aloha_hdf5"
    marker = f"*.hdf5 or *.h5 with /{QPOS} and /{ACTION}"

    def sniff(self, source: Source) -> bool:
        """Return whether one of the first HDF5 files has the layout's two datasets."""
        return has_layout(source, list_hdf5(source), _is_aloha)

    def list_episodes(self, source: Source, profile: Profile) -> EpisodeListing:
        """Return one episode per HDF5 file, in natural order; no file is opened."""
        paths = list_hdf5(source)
        return EpisodeListing(
            episodes=tuple(
                EpisodeRef(
                    source_key=path,
                    source_episode_index=last_number(PurePosixPath(path).stem),
                    files=(path,),
                )
                for path in paths
            ),
            findings=tuple(unread_files(files_besides(source, paths), NO_HDF5)),
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
        return read_apart(source, ref.files, _read_file, ref, profile)


def _read_file(source: Source, ref: EpisodeRef, profile: Profile) -> Recording:
    subject = f"Episode {ref.source_key!r} of {source.label!r}"
    with open_hdf5(source, ref.source_key) as file:
        return apply_profile(_read(source, ref, file, profile, subject), profile)


def _is_aloha(file: h5py.File) -> bool:
    return names_dataset(file, QPOS) and names_dataset(file, ACTION)


def _read(
    source: Source, ref: EpisodeRef, file: h5py.File, profile: Profile, subject: str
) -> Recording:
    vectors, others = vector_datasets(file, subject)
    if STATE not in vectors or ACTION not in vectors:
        got = f"got {sorted(file)}, expected numbers in /{QPOS} and /{ACTION}"
        raise unreadable(source, ref.source_key, got)
    num_rows = len(vectors[STATE])
    single = check_rows(num_rows, subject)
    check_signals(vectors, num_rows, subject)
    rows = times_at_rate(
        num_rows, profile, _recorded_rate(file, subject), "an attribute `fps`", subject
    )
    images = dict(datasets(group_at(file, IMAGES), subject))
    cameras, unseen = read_cameras(source, ref, images, profile, rows.timestamp_ns)
    attributes = text_attributes(file)
    return Recording(
        ref=ref,
        signals=read_signals(vectors, rows.timestamp_ns),
        cameras=cameras,
        task=attributes.get("task"),
        robot=None,
        findings=(
            *single,
            *rows.findings,
            *unseen,
            *others,
            *left_out_attributes(file, subject),
        ),
        metadata={**attributes, "clock": rows.clock},
    )


def _recorded_rate(file: h5py.File, subject: str) -> StatedRate | None:
    if "fps" not in file.attrs:
        return None
    recorded = number_attribute(file, "fps")
    if recorded is None:
        raise no_rate(subject, f"attribute `fps` of {text_attributes(file).get('fps')!r:.40}")
    return StatedRate(hz=recorded, where="attribute `fps`")
