"""What a command line names as source and profile, before anything is copied."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robot_data_platform.formats.profile import Profile
    from robot_data_platform.storage.source import LocalSource


def local_source(source: Path) -> LocalSource:
    """Return a folder with all of its files, or one file alone."""
    from robot_data_platform.storage.source import LocalSource

    if source.is_dir():
        return LocalSource(source)
    return LocalSource(source.parent, str(source), files=[source.name])


def given_profile(
    source: Path, profile: Path | None, *, allow_pickle: bool = False
) -> Profile | None:
    """Return what the command line states of a source; None where the source speaks for itself.

    Parameters
    ----------
    source : Path
        The folder or file to read.
    profile : Path or None
        File of ``--profile``.
    allow_pickle : bool
        Permission to read pickles; it is added to the given profile, or else to the source's own.

    Raises
    ------
    InvalidInputError
        ``invalid-profile``, naming the file, line and key.
    """
    from robot_data_platform.formats.profile import PROFILE_FILE, Profile, load_profile

    if not allow_pickle:
        return load_profile(profile) if profile else None
    own = source / PROFILE_FILE
    path = profile or (own if own.is_file() else None)
    stated = load_profile(path) if path else Profile()
    return stated.model_copy(update={"allow_pickle": True})


def stated_text(source: Path, profile: Path | None, *, allow_pickle: bool) -> str | None:
    """Return the YAML that is kept with an upload: what `given_profile` returns.

    A file goes as it is, comments and all, unless a permission is added to it.
    """
    import yaml

    stated = given_profile(source, profile, allow_pickle=allow_pickle)
    if stated is None:
        return None
    if profile is not None and not allow_pickle:
        return profile.read_text(encoding="utf-8-sig")
    return yaml.safe_dump(stated.model_dump(mode="json", exclude_defaults=True), sort_keys=False)


def check_format(source: Path, stated: str | None, format_hint: str | None) -> None:
    """Refuse a source that can't be read, before anything of it is copied.

    Raises
    ------
    DataFaultError
        ``unknown-format``, ``empty-source``.
    InvalidInputError
        ``invalid-profile``; ``invalid-argument``: no such format.
    """
    from robot_data_platform.formats.profile import find_profile, load_profile
    from robot_data_platform.formats.registry import detect_format

    files = local_source(source)
    profile = find_profile(files, load_profile(stated) if stated is not None else None)
    detect_format(files, format_hint or profile.described_format)
