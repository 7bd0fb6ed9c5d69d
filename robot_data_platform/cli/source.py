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


def given_profile(profile: Path | None) -> Profile | None:
    """Return the profile of a file, None where no file is given.

    Raises
    ------
    InvalidInputError
        ``invalid-profile``, naming the file, line and key.
    """
    from robot_data_platform.formats.profile import load_profile

    return load_profile(profile) if profile else None
