"""Pickles and npz archives behind the ``Format`` protocol."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import cast

from robot_data_platform.core.recording import EpisodeRef, Recording
from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, ErrorKind, InvalidInputError
from robot_data_platform.formats.array_files.episode_tree import episodes_of, leaves_of
from robot_data_platform.formats.array_files.npz_files import npz_arrays
from robot_data_platform.formats.array_files.recording import array_recording
from robot_data_platform.formats.array_files.unpickler import read_pickle
from robot_data_platform.formats.data_files import data_path
from robot_data_platform.formats.file_memo import FileMemo
from robot_data_platform.formats.natural_order import last_number, natural_key
from robot_data_platform.formats.profile import Profile
from robot_data_platform.formats.protocol import EpisodeListing
from robot_data_platform.formats.statements import apply_profile
from robot_data_platform.formats.unread_files import files_besides, unread_files

NOTES = (".json", ".md", ".txt", ".yaml", ".yml")
"""Suffixes of files that may lie beside the data and say nothing that is read."""
Episodes = list[dict[str, object]]

_parsed: FileMemo[Episodes] = FileMemo(max_entries=1)


class _ArrayFormat(ABC):
    """Files that each hold a dict of arrays, or a list of such dicts."""

    name = ""
    suffixes: tuple[str, ...] = ()

    def sniff(self, source: Source) -> bool:
        """Return whether all files are of this kind, notes aside.

        A stray pickle within another layout doesn't make a source a pickle.
        """
        files = [path for path in source.list_files() if _suffix(path) not in NOTES]
        named = [path for path in files if PurePosixPath(path).suffix]
        return bool(named) and all(_suffix(path) in self.suffixes for path in named)

    def list_episodes(self, source: Source, profile: Profile) -> EpisodeListing:
        """Return the episodes of every file, in natural order.

        Raises
        ------
        InvalidInputError
            ``invalid-profile``: a pickle is to be read, and nothing permits it.
        """
        paths = [path for path in source.list_files() if _suffix(path) in self.suffixes]
        ordered = sorted(paths, key=natural_key)
        refs = (ref for path in ordered for ref in self._refs(source, path, profile))
        others = unread_files(
            files_besides(source, paths), f"whose names don't end in {' or '.join(self.suffixes)}"
        )
        return EpisodeListing(episodes=tuple(refs), findings=tuple(others))

    def read(self, source: Source, ref: EpisodeRef, profile: Profile) -> Recording:
        """Return one episode; row k lies at ``k / control_hz``, or where ``timestamp_ns`` says.

        Raises
        ------
        DataFaultError
            ``unreadable-file``, ``missing-file``, ``no-rows``, ``row-mismatch``,
            ``shape-mismatch``, ``time-not-increasing``.
        InvalidInputError
            ``invalid-profile``: the profile states no ``control_hz``, or permits no pickle.
        """
        (path,) = ref.files
        subject = f"Episode {ref.source_key!r} of {source.label!r}"
        number = int(ref.source_key.removeprefix(f"{path}:")) if ref.source_key != path else 0
        leaves = leaves_of(self._episodes(source, path, profile)[number], subject)
        return apply_profile(array_recording(ref, leaves, profile, subject), profile)

    def _refs(self, source: Source, path: str, profile: Profile) -> Iterator[EpisodeRef]:
        try:
            count = len(self._episodes(source, path, profile))
        except DataFaultError:
            count = 1  # reading the episode says what is wrong with it
        for number in range(count):
            yield EpisodeRef(
                source_key=path if count == 1 else f"{path}:{number}",
                source_episode_index=last_number(PurePosixPath(path).stem) if count == 1 else None,
                files=(path,),
            )

    @abstractmethod
    def _episodes(self, source: Source, path: str, profile: Profile) -> Episodes:
        """Return the episodes of one file."""


class PickleFormat(_ArrayFormat):
    """Pickles of NumPy arrays, read by an unpickler that calls nothing; only with permission."""

    name = "pickle"
    marker = "*.pkl or *.pickle and nothing else"
    suffixes = (".pkl", ".pickle")

    def _episodes(self, source: Source, path: str, profile: Profile) -> Episodes:
        check_allowed(profile, f"File {path!r} of {source.label!r}")
        where = f"File {path!r} of {source.label!r}"

        def parse() -> Episodes:
            return episodes_of(read_pickle(data_path(source, path), where), where)

        return _parsed.get(source, (path,), parse)


class NpzFormat(_ArrayFormat):
    """Npz archives of plain arrays; those of Python values only with permission."""

    name = "npz"
    marker = "*.npz and nothing else"
    suffixes = (".npz",)

    def _episodes(self, source: Source, path: str, profile: Profile) -> Episodes:
        arrays = npz_arrays(source, path)
        where = f"File {path!r} of {source.label!r}"
        pickled = [name for name, array in arrays.items() if array.dtype.hasobject]
        if not pickled:
            return [cast("dict[str, object]", arrays)]
        check_allowed(profile, f"{where} array {pickled[0]!r}")
        values = {
            name: array.python_values() if name in pickled else array
            for name, array in arrays.items()
        }
        return episodes_of(values[pickled[0]] if len(values) == 1 else values, where)


def check_allowed(profile: Profile, what: str) -> None:
    """Refuse a pickle unless the profile permits it.

    Raises
    ------
    InvalidInputError
        ``invalid-profile``: it does not.
    """
    if not profile.allow_pickle:
        raise InvalidInputError(
            f"{what} is a Python pickle: got no permission to read it, expected `--allow-pickle`, "
            "or `allow_pickle: true` in the profile given with it. A pickle is a program; here "
            "it is read without running any of it, and refused where it names more than NumPy "
            "arrays.",
            kind=ErrorKind.INVALID_PROFILE,
            key="allow_pickle",
        )


def _suffix(path: str) -> str:
    return PurePosixPath(path).suffix.lower()
