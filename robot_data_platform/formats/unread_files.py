"""Files of a source of which nothing is read."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.source import Source
from robot_data_platform.formats.natural_order import shortened
from robot_data_platform.formats.profile import PROFILE_FILE


def files_besides(source: Source, known: Collection[str]) -> list[str]:
    """Return the files of a source that are neither known nor its profile, sorted."""
    return [path for path in source.list_files() if path not in known and path != PROFILE_FILE]


def unread_files(paths: Sequence[str], what: str) -> Iterator[Finding]:
    """Yield the finding that some files were left out, if there are any.

    Parameters
    ----------
    paths : sequence of str
        The files.
    what : str
        What they are not, or why they don't count, as the end of a sentence.
    """
    if paths:
        yield Finding(
            rule="files_are_read",
            severity=Severity.INFO,
            message=f"{len(paths)} files were left out: got {shortened(paths, 3)}, {what}.",
            value=len(paths),
            unit="files",
        )
