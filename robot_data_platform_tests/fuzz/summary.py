"""What many runs came to, counted by seed."""

from __future__ import annotations

from dataclasses import dataclass, field

from robot_data_platform_tests.fuzz.run import Outcome

MIB = 1 << 20
COLUMNS = ("runs", "converted", "refused", "flagged", "failed", "slowest s", "peak MiB")


@dataclass(slots=True)
class Counts:
    """The runs of one seed; episodes are counted, but for ``failed``."""

    runs: int = 0
    converted: int = 0
    refused: int = 0
    flagged: int = 0
    failed: int = 0
    slowest_s: float = 0.0
    peak_bytes: int = 0

    def add(self, outcome: Outcome) -> None:
        """Count one run."""
        self.runs += 1
        self.converted += outcome.num_converted
        self.refused += outcome.num_refused
        self.flagged += outcome.num_flagged
        self.failed += bool(outcome.faults)
        self.slowest_s = max(self.slowest_s, outcome.seconds)
        self.peak_bytes = max(self.peak_bytes, outcome.peak_bytes)

    def cells(self) -> tuple[str, ...]:
        """Return them as text, in the order of `COLUMNS`."""
        numbers = (self.runs, self.converted, self.refused, self.flagged, self.failed)
        size = f"{self.peak_bytes / MIB:.0f}"
        return (*(str(number) for number in numbers), f"{self.slowest_s:.1f}", size)


@dataclass(slots=True)
class Summary:
    """Counts of every seed and of all of them."""

    by_seed: dict[str, Counts] = field(default_factory=dict)
    total: Counts = field(default_factory=Counts)

    def add(self, outcome: Outcome) -> None:
        """Count one run."""
        self.total.add(outcome)
        self.by_seed.setdefault(outcome.case.seed_name, Counts()).add(outcome)

    def line(self) -> str:
        """Return all of it in a line."""
        pairs = zip(COLUMNS, self.total.cells(), strict=True)
        return ", ".join(f"{name} {cell}" for name, cell in pairs)

    def table(self) -> str:
        """Return a line for each seed and one for all."""
        rows: list[tuple[str, ...]] = [("", *COLUMNS)]
        rows += [(name, *counts.cells()) for name, counts in sorted(self.by_seed.items())]
        rows.append(("all", *self.total.cells()))
        return "\n".join(
            f"{name:<16}" + "".join(f"{cell:>11}" for cell in cells) for name, *cells in rows
        )
