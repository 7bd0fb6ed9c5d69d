"""The ratios that a run is judged by: what each means, and the bar that it has to reach."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bar:
    """One measure with its bar."""

    key: str
    meaning: str
    bar: float
    is_upper: bool = False
    """Whether the measure has to stay below the bar."""
    unit: str = "x"

    def is_reached(self, value: float) -> bool:
        """Return whether a measured value reaches the bar."""
        return value <= self.bar if self.is_upper else value >= self.bar


BARS = (
    Bar("A_vs_lerobot", "A, one sample: speed over LeRobot's best setting", 5),
    Bar("B_vs_lerobot", "B, random batch: speed over LeRobot's best setting", 6),
    Bar("C_vs_lerobot", "C, window: speed over LeRobot's best setting", 6),
    Bar("A_vs_lerobot_lancedb", "A: speed over lerobot-lancedb's best setting", 3),
    Bar("B_vs_lerobot_lancedb", "B: speed over lerobot-lancedb's best setting", 3),
    Bar("C_vs_lerobot_lancedb", "C: speed over lerobot-lancedb's best setting", 3),
    Bar(
        "anchored_decode_over_chain",
        "decoding a random picture, processor time, default profile over chain of 8, equal PSNR",
        0.5,
        is_upper=True,
    ),
    Bar("anchored_bytes_over_chain", "bytes, the same pair", 1.1, is_upper=True),
    Bar("cpu_over_floor", "B: processor time per picture over the floor", 1.15, is_upper=True),
    Bar("block_over_exact_shuffle", "F: speed of GOP-block shuffle over exact shuffle", 3),
    Bar("open_100_episodes_s", "E: opening 100 episodes", 0.02, is_upper=True, unit="s"),
    Bar("open_1m_rows_s", "E: opening 1,000,000 rows", 0.2, is_upper=True, unit="s"),
    Bar("s3_over_local_sequential", "S, D: speed from S3 over local disk", 0.95),
    Bar("s3_over_local_random", "S, B: speed from S3 over local disk", 0.92),
)
RATIO_KEYS = tuple(bar.key for bar in BARS)

FIGURE_BARS = (
    Bar("s3_cpu_over_local", "S, B: processor time per picture over local", 1.1, is_upper=True),
    Bar("import_reader_s", "importing the reader, warm", 0.6, is_upper=True, unit="s"),
    Bar(
        "rss_above_buffers_mb",
        "resident memory above the batch buffers, 1,000,000 rows",
        400,
        is_upper=True,
        unit="MB",
    ),
    Bar("I_copy_fps", "I: copied pictures, one worker", 5_000, unit="frames/s"),
    Bar(
        "I_transcode_fps",
        "I: re-encoded pictures, checks included, one worker",
        150,
        unit="frames/s",
    ),
    Bar("I_transcode_2_over_1", "I: the same with two workers over one", 1.8),
    Bar("I_rows_per_s", "I: rows at 100 Hz without video", 200_000, unit="rows/s"),
    Bar("I_peak_rss_mb", "I: largest process", 1_000, is_upper=True, unit="MB"),
    Bar("I_vs_lance_convert", "I: speed over lerobot-lancedb's converter, copying", 1),
)
"""Bars of figures that are not among the ratios."""
