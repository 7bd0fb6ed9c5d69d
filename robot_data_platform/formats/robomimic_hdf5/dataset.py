"""The robomimic HDF5 format behind the ``Format`` protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import ACTION, EpisodeRef, Recording, Signal
from robot_data_platform.core.source import Source
from robot_data_platform.formats.data_files import unreadable
from robot_data_platform.formats.episode_claims import outcome_findings, row_count_findings
from robot_data_platform.formats.hdf5_attributes import (
    flag_attribute,
    left_out_attributes,
    text_attributes,
)
from robot_data_platform.formats.hdf5_cameras import read_cameras
from robot_data_platform.formats.hdf5_files import NO_HDF5, list_hdf5, open_hdf5
from robot_data_platform.formats.hdf5_members import datasets_below
from robot_data_platform.formats.hdf5_process import has_layout, read_apart
from robot_data_platform.formats.hdf5_signals import check_signals, is_vector, read_signals
from robot_data_platform.formats.profile import Profile
from robot_data_platform.formats.protocol import EpisodeListing
from robot_data_platform.formats.robomimic_hdf5.contents import sort_contents
from robot_data_platform.formats.robomimic_hdf5.demos import (
    ACTIONS,
    DATA,
    check_demos,
    claimed_rows,
    demo_at,
    filter_keys,
    has_demos,
    list_demos,
)
from robot_data_platform.formats.robomimic_hdf5.environment import (
    LOOKED_AT,
    UPSIDE_DOWN,
    read_environment,
)
from robot_data_platform.formats.robomimic_hdf5.state import (
    measure_lag,
    state_dataset,
    state_findings,
)
from robot_data_platform.formats.row_rate import times_at_rate
from robot_data_platform.formats.statements import apply_profile
from robot_data_platform.formats.timing import check_rows
from robot_data_platform.formats.unread_files import files_besides, unread_files

if TYPE_CHECKING:
    import h5py

ACTION_LIMIT = 1.0
"""Actions of robosuite and Isaac Lab are normalized to -1..1 (robosuite, "Controllers")."""


class RobomimicHdf5Format:
    """HDF5 files with ``/data/<demo>/actions``."""

    name = "robomimic_hdf5"
    marker = f"*.hdf5 or *.h5 with /{DATA}/<demo>/{ACTIONS}"

    def sniff(self, source: Source) -> bool:
        """Return whether one of the first HDF5 files holds demos."""
        return has_layout(source, list_hdf5(source), has_demos)

    def list_episodes(self, source: Source, profile: Profile) -> EpisodeListing:
        """Return one episode per demo; files and demos in natural order."""
        paths = list_hdf5(source)
        listings = [list_demos(source, path) for path in paths]
        return EpisodeListing(
            episodes=tuple(ref for listing in listings for ref in listing.episodes),
            findings=(
                *(finding for listing in listings for finding in listing.findings),
                *unread_files(files_besides(source, paths), NO_HDF5),
            ),
        )

    def read(self, source: Source, ref: EpisodeRef, profile: Profile) -> Recording:
        """Return one demo; row k lies at k / rate.

        Raises
        ------
        DataFaultError
            ``unreadable-file``, ``missing-file``, ``no-rows``; ``row-mismatch``: observations of
            another length than the actions; ``video-too-short``: fewer pictures than rows;
            ``unsafe-path``; ``metadata-contradiction``: two datasets that get the same name.
        InvalidInputError
            ``invalid-profile``: neither the profile nor the file states the rate.
        """
        return read_apart(source, ref.files, _read_demo, ref, profile)


def _read_demo(source: Source, ref: EpisodeRef, profile: Profile) -> Recording:
    if ref.files == (ref.source_key,):
        check_demos(source, ref.source_key)
    subject = f"Episode {ref.source_key!r} of {source.label!r}"
    with open_hdf5(source, ref.files[0]) as file:
        return apply_profile(_read(source, ref, file, profile, subject), profile)


def _read(
    source: Source, ref: EpisodeRef, file: h5py.File, profile: Profile, subject: str
) -> Recording:
    demo = demo_at(file, ref, subject)
    found = dict(sorted(datasets_below(demo, subject)))
    num_rows = _num_rows(source, ref, found)
    single = check_rows(num_rows, subject)
    state = state_dataset([path for path, dataset in found.items() if is_vector(dataset)])
    contents = sort_contents(found, state, num_rows, subject)
    check_signals(contents.signals, num_rows, subject)
    environment = read_environment(file[DATA], demo)
    rows = times_at_rate(num_rows, profile, environment.rate, LOOKED_AT, subject)
    cameras, unseen = read_cameras(source, ref, contents.cameras, profile, rows.timestamp_ns)
    signals = read_signals(contents.signals, rows.timestamp_ns)
    return Recording(
        ref=ref,
        signals=signals,
        cameras=cameras,
        task=environment.task,
        robot=environment.robot,
        findings=(
            *single,
            *_claims(demo, num_rows, subject),
            *rows.findings,
            *state_findings(state, found, measure_lag(signals, state), subject),
            *_action_findings(signals, subject),
            *unseen,
            *(_upside_down(subject) if environment.is_upside_down and cameras else ()),
            *contents.findings,
        ),
        metadata={
            **_attributes(file, demo),
            **contents.metadata,
            **({"observation_state": state} if state else {}),
            "clock": rows.clock,
        },
    )


def _claims(demo: h5py.Group, num_rows: int, subject: str) -> tuple[Finding, ...]:
    return (
        *row_count_findings(claimed_rows(demo), num_rows, "attribute `num_samples`", subject),
        *outcome_findings(flag_attribute(demo, "success"), "attribute `success`", subject),
        *left_out_attributes(demo, subject),
    )


def _attributes(file: h5py.File, demo: h5py.Group) -> dict[str, str]:
    """Return the attributes of file, ``data`` and demo, and the subsets that the demo is in."""
    subsets = filter_keys(file, str(demo.name).rpartition("/")[2])
    return {
        **{f"/{key}": text for key, text in text_attributes(file).items()},
        **{f"/{DATA}/{key}": text for key, text in text_attributes(file[DATA]).items()},
        **text_attributes(demo),
        **({"filter_keys": ", ".join(subsets)} if subsets else {}),
    }


def _num_rows(source: Source, ref: EpisodeRef, found: dict[str, h5py.Dataset]) -> int:
    actions = found.get(ACTIONS)
    if actions is None or not is_vector(actions):
        got = f"got {sorted(found)!s:.200} in {ref.source_key!r}, expected numbers in {ACTIONS!r}"
        raise unreadable(source, ref.files[0], got)
    return len(actions)


def _action_findings(signals: tuple[Signal, ...], subject: str) -> tuple[Finding, ...]:
    values = np.abs(next(signal.values for signal in signals if signal.name == ACTION))
    num_rows = int((values > ACTION_LIMIT).any(axis=1).sum())
    if not num_rows:
        return ()
    finding = Finding(
        rule="actions_in_declared_range",
        severity=Severity.WARN,
        message=f"{subject}: actions of {num_rows} of {len(values)} rows leave the range: got "
        f"{int((values > ACTION_LIMIT).sum())} values up to {np.nanmax(values):.4g} from zero, "
        f"expected -{ACTION_LIMIT:g}..{ACTION_LIMIT:g}. They were kept as recorded.",
        where=ACTIONS,
        value=num_rows,
        threshold=0,
        unit="rows",
    )
    return (finding,)


def _upside_down(subject: str) -> tuple[Finding, ...]:
    finding = Finding(
        rule="pictures_are_upright",
        severity=Severity.INFO,
        message=f"{subject}: pictures are upside down: got `macros_image_convention` "
        f"{UPSIDE_DOWN!r}, whose first row is the bottom. They were kept as recorded.",
        where="cameras",
    )
    return (finding,)
