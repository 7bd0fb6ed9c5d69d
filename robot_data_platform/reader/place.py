"""How errors of the reader name a dataset, an episode, a row and a GOP."""

from __future__ import annotations

from dataclasses import dataclass

from robot_data_platform.core.identity import CAMERA_BITS, GOP_INDEX_BITS
from robot_data_platform.storage.snapshot import Snapshot

EPISODE_SHIFT = CAMERA_BITS + GOP_INDEX_BITS
"""Bits of a GOP key below its ``episode_index``."""


def episode_of_gop(gop_key: int) -> int:
    """Return the ``episode_index`` that a GOP key holds."""
    return gop_key >> EPISODE_SHIFT


def first_gop_key(episode_index: int) -> int:
    """Return the least GOP key that an episode may have."""
    return episode_index << EPISODE_SHIFT


@dataclass(frozen=True, slots=True)
class Place:
    """One pinned dataset, for messages."""

    snapshot: Snapshot

    def __str__(self) -> str:
        return f"dataset {self.snapshot.dataset!r} {self._release}"

    @property
    def _release(self) -> str:
        release = self.snapshot.release
        if release is not None:
            return f"release {release['release']!r}"
        return f"version {self.snapshot.episodes.version} (no release)"

    def gop(self, camera: str, gop_key: int, episode_id: str) -> str:
        """Return how a message names one GOP."""
        gop_index = gop_key & ((1 << GOP_INDEX_BITS) - 1)
        return (
            f"GOP {gop_index} of camera {camera!r} of episode {episode_id!r} "
            f"(episode_index {episode_of_gop(gop_key)}) of {self}, table gops version "
            f"{self.snapshot.gops.version},"
        )

    def facts(self) -> dict[str, str]:
        """Return the ids that every error carries."""
        release = self.snapshot.release
        return {
            "dataset": self.snapshot.dataset,
            "release": release["release"] if release is not None else "",
        }
