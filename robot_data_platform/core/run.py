"""What a commit says of the run that made it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInfo:
    """One run of one asset; who runs it gives the clock, so that nothing below reads one."""

    run_id: str
    """Id of the orchestrator's run, or of whatever else ran the code."""
    asset: str
    """Name of the asset (``curated_splits``)."""
    partition: str | None = None
    """Partition of the asset: the upload, or None where there is no partition."""
    code_version: str
    """Version of the code that made the content."""
    created_ns: int
    """UTC time of the run, ns since 1970."""

    def properties(self) -> dict[str, str]:
        """Return the run as a commit's ``transaction_properties``; no partition is ``""``."""
        return {
            "rdp.run_id": self.run_id,
            "rdp.asset": self.asset,
            "rdp.partition": self.partition or "",
            "rdp.code_version": self.code_version,
        }
