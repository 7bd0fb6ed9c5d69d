"""What a doctor's visit finds: what is wrong, where, and how to mend it."""

from __future__ import annotations

from dataclasses import dataclass

from robot_data_platform.core.finding import Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class Ailment:
    """One thing that is wrong with a lake, or worth knowing of it."""

    severity: Severity
    """``fail``: data can't be read or could be lost; ``warn``: something waits to be done;
    ``info``: nothing is wrong."""
    what: str
    """Stable name of what should hold, ``snake_case``."""
    where: str
    """The table, release, upload or store."""
    message: str
    mend: str
    """What to do."""


def fail(what: str, where: str, message: str, mend: str) -> Ailment:
    """Return that data can't be read, or could be lost."""
    return Ailment(severity=Severity.FAIL, what=what, where=where, message=message, mend=mend)


def warn(what: str, where: str, message: str, mend: str) -> Ailment:
    """Return that something waits to be done."""
    return Ailment(severity=Severity.WARN, what=what, where=where, message=message, mend=mend)


def info(what: str, where: str, message: str, mend: str) -> Ailment:
    """Return what is worth knowing."""
    return Ailment(severity=Severity.INFO, what=what, where=where, message=message, mend=mend)
