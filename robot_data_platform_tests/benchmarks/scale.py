"""How much is measured: the published size, a small one for development, a tiny one for tests."""

from __future__ import annotations

from dataclasses import dataclass

CAMERAS = ("top", "head", "wrist")
FPS = 30
STATE_WIDTH = 14
WINDOW_S = tuple(step / FPS for step in range(-7, 1))
"""Scenario C: the row's picture and the seven before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Sizes and repetitions of one run."""

    name: str
    num_episodes: int
    rows_per_episode: int
    width_px: int = 640
    height_px: int = 480
    num_rounds: int
    """Rounds in which the settings take turns."""
    samples_per_round: int
    """Scenario A."""
    batches_per_round: int
    """Scenario B."""
    batch_size: int
    windows_per_round: int
    """Scenario C."""
    steps: int
    """Scenario D: consecutive rows."""
    many_rows: int
    """Rows of the large table of E."""
    many_rows_per_episode: int
    sweep_frames: int
    """Pictures of each clip of the sweep."""
    sweep_gop_sizes: tuple[int, ...]
    shuffle_rows: int
    """Rows that F reads in each order."""
    ingest_rows: int
    """Rows without video that I ingests."""

    @property
    def num_rows(self) -> int:
        """Rows of the measured dataset."""
        return self.num_episodes * self.rows_per_episode

    @property
    def size_px(self) -> tuple[int, int]:
        """Height and width of every picture."""
        return self.height_px, self.width_px


FULL = Scale(
    name="full",
    num_episodes=8,
    rows_per_episode=250,
    num_rounds=7,
    samples_per_round=20,
    batches_per_round=3,
    batch_size=32,
    windows_per_round=6,
    steps=250,
    many_rows=1_000_000,
    many_rows_per_episode=1_000,
    sweep_frames=256,
    sweep_gop_sizes=(1, 2, 4, 8, 16, 32, 64, 128),
    shuffle_rows=2_000,
    ingest_rows=1_000_000,
)
QUICK = Scale(
    name="quick",
    num_episodes=2,
    rows_per_episode=250,
    num_rounds=3,
    samples_per_round=6,
    batches_per_round=1,
    batch_size=32,
    windows_per_round=2,
    steps=50,
    many_rows=100_000,
    many_rows_per_episode=1_000,
    sweep_frames=64,
    sweep_gop_sizes=(1, 8, 16, 64),
    shuffle_rows=500,
    ingest_rows=100_000,
)
TINY = Scale(
    name="tiny",
    num_episodes=2,
    rows_per_episode=20,
    width_px=96,
    height_px=64,
    num_rounds=2,
    samples_per_round=2,
    batches_per_round=1,
    batch_size=4,
    windows_per_round=1,
    steps=10,
    many_rows=400,
    many_rows_per_episode=40,
    sweep_frames=16,
    sweep_gop_sizes=(1, 8),
    shuffle_rows=40,
    ingest_rows=400,
)
SCALES = {scale.name: scale for scale in (FULL, QUICK, TINY)}
