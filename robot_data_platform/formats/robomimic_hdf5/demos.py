"""Demos of a robomimic file: their names, their order, and the counters that claim them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import EpisodeRef
from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, ErrorKind, InvalidInputError
from robot_data_platform.formats.hdf5_attributes import number_attribute, text_attributes
from robot_data_platform.formats.hdf5_files import check_size, open_hdf5
from robot_data_platform.formats.hdf5_members import dataset_at, group_at, names_dataset
from robot_data_platform.formats.hdf5_process import read_apart
from robot_data_platform.formats.natural_order import last_number, natural_key
from robot_data_platform.formats.robomimic_hdf5.environment import JSON_ATTRIBUTES, json_object

if TYPE_CHECKING:
    import h5py

DATA = "data"
"""Group that holds one group per demo."""
ACTIONS = "actions"
"""Dataset of a demo that decides how many rows it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileListing:
    """The demos of one file."""

    episodes: tuple[EpisodeRef, ...]
    findings: tuple[Finding, ...] = ()


def has_demos(file: h5py.File) -> bool:
    """Return whether a file has a group ``data`` with a demo, or with the attributes of one."""
    data = group_at(file, DATA)
    if data is None:
        return False
    return "env_args" in data.attrs or any(names_dataset(data, f"{n}/{ACTIONS}") for n in data)


def list_demos(source: Source, path: str) -> FileListing:
    """Return the demos of a file in natural order; a file without any is one broken episode."""
    broken = FileListing(episodes=(EpisodeRef(source_key=path, files=(path,)),))
    try:
        return read_apart(source, (path,), _list_demos, path) or broken
    except (DataFaultError, InvalidInputError):
        return broken  # reading the episode says what is wrong with the file


def check_demos(source: Source, path: str) -> None:
    """Refuse a file that was listed as one broken episode, for what keeps it from being more.

    Raises
    ------
    DataFaultError
        ``no-rows``: it has no demo. ``unreadable-file``: its demos can't be listed.
    """
    if _list_demos(source, path) is None:
        raise DataFaultError(
            f"File {path!r} of {source.label!r} holds no demo: got none, expected groups in "
            f"/{DATA}. Drop the file.",
            kind=ErrorKind.NO_ROWS,
            path=path,
        )


def _list_demos(source: Source, path: str) -> FileListing | None:
    with open_hdf5(source, path) as file:
        data = group_at(file, DATA)
        return _listing(data, source, path) if data is not None and len(data) else None


def demo_at(file: h5py.File, ref: EpisodeRef, subject: str) -> h5py.Group:
    """Return the group of a listed demo.

    Raises
    ------
    DataFaultError
        ``unreadable-file``: it is no group of the file.
    """
    (path,) = ref.files
    name = ref.source_key.removeprefix(path).removeprefix("/")
    demo = group_at(file, f"{DATA}/{name}")
    if demo is None:
        raise DataFaultError(
            f"{subject} is no demo: got no group of the file at '/{DATA}/{name}', expected one "
            f"with {ACTIONS!r}. Drop the demo.",
            kind=ErrorKind.UNREADABLE_FILE,
            path=path,
        )
    return demo


def filter_keys(file: h5py.File, name: str) -> list[str]:
    """Return the names of the file's own subsets (``train``, ``valid``) that a demo is in."""
    mask = group_at(file, "mask")
    keys = sorted(mask) if mask is not None else []
    return [key for key in keys if name.encode() in _names_in(mask, key)]


def _names_in(mask: h5py.Group | None, key: str) -> list[object]:
    dataset = dataset_at(mask, key, "/mask") if mask is not None else None
    if dataset is None or dataset.ndim != 1 or dataset.dtype.kind not in "SO":
        return []
    check_size(dataset.dtype.itemsize * len(dataset), f"/mask/{key}")
    return list(dataset[()].tolist())


def _listing(data: h5py.Group, source: Source, path: str) -> FileListing:
    names = sorted(data, key=natural_key)
    rows = {name: _num_rows(data, name) for name in names}
    refs = tuple(
        EpisodeRef(
            source_key=f"{path}/{name}",
            source_episode_index=last_number(name),
            files=(path,),
            num_rows_claimed=_claimed(data, name),
        )
        for name in names
    )
    return FileListing(
        episodes=refs,
        findings=(*_wrong_totals(data, rows, path), *_unreadable(data, source, path)),
    )


def _num_rows(data: h5py.Group, name: str) -> int | None:
    demo = group_at(data, name)
    try:
        actions = dataset_at(demo, ACTIONS, name) if demo is not None else None
    except DataFaultError:
        return None
    return len(actions) if actions is not None and actions.ndim else None


def _claimed(data: h5py.Group, name: str) -> int | None:
    demo = group_at(data, name)
    return claimed_rows(demo) if demo is not None else None


def claimed_rows(demo: h5py.Group) -> int | None:
    """Return the rows that a demo's attribute ``num_samples`` claims."""
    claimed = number_attribute(demo, "num_samples")
    return int(claimed) if claimed is not None and claimed.is_integer() else None


def _wrong_totals(data: h5py.Group, rows: Mapping[str, int | None], path: str) -> Iterator[Finding]:
    num_rows = sum(count or 0 for count in rows.values())
    claimed = number_attribute(data, "total")
    if claimed not in (None, num_rows):
        yield _wrong_total("total_frames_as_declared", path, "total", (claimed, num_rows, "rows"))
    claimed = number_attribute(data, "num_demos")
    if claimed not in (None, len(rows)):
        got = (claimed, len(rows), "episodes")
        yield _wrong_total("total_episodes_as_declared", path, "num_demos", got)


def _wrong_total(rule: str, path: str, key: str, numbers: tuple[float | None, int, str]) -> Finding:
    claimed, got, unit = numbers
    return Finding(
        rule=rule,
        severity=Severity.WARN,
        message=f"File {path!r} attribute {key!r} of /{DATA} says {claimed:g} {unit}: got {got} in "
        "its demos, which were taken.",
        where=f"{path} {key}",
        value=got,
        threshold=claimed,
        unit=unit,
    )


def _unreadable(data: h5py.Group, source: Source, path: str) -> Iterator[Finding]:
    for key, text in text_attributes(data).items():
        if key in JSON_ATTRIBUTES and json_object(text) is None:
            yield Finding(
                rule="metadata_is_readable",
                severity=Severity.FAIL,
                message=f"File {path!r} of {source.label!r} attribute {key!r} of /{DATA} was left "
                f"out: got {text!r:.80}, expected a JSON object.",
                where=f"{path} {key}",
            )
