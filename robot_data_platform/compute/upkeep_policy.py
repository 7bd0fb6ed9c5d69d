"""What maintenance may touch, and when: one place for every limit, each with its reason."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from robot_data_platform.compute.scrub_share import ALL, ScrubShare
from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.storage.compaction import CompactionPolicy
from robot_data_platform.storage.lake import GOPS_CONFIG

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_GRACE = timedelta(days=6)
"""Lance's own clean-up removes files without a version after seven days, and asks nobody."""

BLOBS = CompactionPolicy(
    target_rows=int(GOPS_CONFIG["lance.compaction.target_rows_per_fragment"]),
    min_small_fragments=8,
    max_garbage_share=0.3,
)
"""``gops``: every merge copies pictures. An upload of usual size is beyond ``target_rows`` at
once and stays where it is until three tenths of a fragment are superseded."""

WIDE = CompactionPolicy(min_small_fragments=16)
"""``frames``: sixteen uploads are merged at once, so a row is written again a sixteenth as often
as if the last fragment were filled up every night."""

SMALL = CompactionPolicy(min_small_fragments=8)
"""Tables of a few megabytes, which every query opens: their fragments are kept few."""


def _by_table() -> dict[str, CompactionPolicy]:
    return {"gops": BLOBS, "frames": WIDE}


@dataclass(frozen=True, slots=True, kw_only=True)
class UpkeepPolicy:
    """How long what nobody reaches is kept, and what is worth writing again."""

    keep_versions: timedelta = timedelta(days=14)
    """Untagged versions stay readable for that long after the next one replaced them."""
    grace: timedelta = timedelta(days=3)
    """Ingestions, files and tags younger than this are left alone: they may still be running.
    An ingestion that takes longer is refused at its end, and nothing of it is half there."""
    scrub: ScrubShare = ALL
    """Which GOPs' bytes are held against their checksum."""
    compaction: Mapping[str, CompactionPolicy] = field(default_factory=_by_table)
    """By table; those not named follow `SMALL`."""
    index_min_rows: int = 100_000
    """Below so many rows a scan is as fast as an index."""

    def __post_init__(self) -> None:
        """Refuse a grace that Lance would not keep.

        Raises
        ------
        InvalidInputError
            ``invalid-argument``.
        """
        if not timedelta(0) <= self.grace <= MAX_GRACE or self.keep_versions < timedelta(0):
            raise InvalidInputError(
                f"Maintenance can't keep a grace of {self.grace} and versions for "
                f"{self.keep_versions}: expected a grace of 0 to {MAX_GRACE.days} days and no "
                "negative time. Correct --grace-days or --keep-days.",
                kind=ErrorKind.INVALID_ARGUMENT,
            )

    def compaction_of(self, table: str) -> CompactionPolicy:
        """Return the policy of one table."""
        return self.compaction.get(table, SMALL)
