"""The part of docs/scale.md between its markers: every number on it is from scale.json."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from robot_data_platform_tests.benchmarks.page import number, table

Results = Mapping[str, Any]

START = "<!-- measured: from scale.json, by make bench-scale -->\n"
END = "<!-- end of what is measured -->\n"

WHAT = {
    "open_live": "open the live state",
    "open_release": "open a release",
    "open_split": "open a split with a tenth of it",
    "episodes_upload": "`rdp episodes --upload`",
    "episodes_flagged": "`rdp episodes --status flagged --limit 1000`",
    "episodes_first": "`rdp episodes --task … --limit 1000`",
    "split": "split assignment",
    "split_again": "split assignment, all assigned before",
    "release": "release",
    "lineage_release": "lineage of a release",
    "lineage_model": "lineage of a model",
    "impact_episode": "impact of an episode",
    "impact_upload": "impact of an upload",
    "impact_source": "impact of a source file",
    "add": "ingest a new upload of three episodes",
    "compact_episodes": "compaction of `episodes`",
    "compact_frames": "compaction of `frames`",
    "compact_measurements": "compaction of `measurements`",
    "compact_quality": "compaction of `quality`",
    "compact_gops": "compaction of `gops`",
}
BAR_S = {
    **dict.fromkeys(("open_live", "open_release", "open_split"), 1.0),
    **dict.fromkeys(("episodes_upload", "episodes_flagged", "episodes_first"), 1.0),
    **dict.fromkeys(("split", "split_again"), 10.0),
    "release": 5.0,
    **dict.fromkeys(("lineage_release", "lineage_model"), 1.0),
    **dict.fromkeys(("impact_episode", "impact_upload", "impact_source"), 1.0),
}
"""Seconds at a million episodes."""
ADD_BAR = 1.5
"""Adding an upload at a million episodes over the same at ten thousand."""
PEAK_BAR_MB = 2_000
MILLION, TEN_THOUSAND = "1000000", "10000"


def write_page(folder: Path) -> None:
    """Write the measured part of ``scale.md`` anew from ``scale.json`` in the same folder."""
    path = folder / "scale.md"
    before, _, rest = path.read_text().partition(START)
    after = rest.partition(END)[2]
    results = json.loads((folder / "scale.json").read_text())
    path.write_text(before + START + "\n" + render(results) + "\n" + END + after)


def render(results: Results) -> str:
    """Return the measured part of the page."""
    parts = [_head(results), _bars(results), _commands(results, "commands", "On a local disk")]
    if "compact" in results:
        parts.append(_commands(results, "compact", "Compaction, on a local disk"))
    if "s3" in results:
        parts.append(_commands(results, "s3", "On S3, 20 ms added to each request"))
    if "s3_compact" in results:
        parts.append(_commands(results, "s3_compact", "Compaction, on S3"))
    if "dagster" in results:
        parts.append(_dagster(results["dagster"]))
    return "\n\n".join(parts) + "\n"


def _head(results: Results) -> str:
    machine = results["machine"]
    versions = ", ".join(f"{name} {value}" for name, value in sorted(results["versions"].items()))
    return (
        f"`{results['command']}`, {results['date']}, commit {results['commit']}: "
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB; "
        f"{versions}.\n\n"
        "Each figure is of a process of its own: wall seconds (the least of the repeats), "
        "processor seconds of all its threads, and its peak of resident memory, interpreter and "
        "libraries included. *Load* is the machine's load average in that minute: at a load of 20 "
        "on two cores, what needs one second of processor takes about ten of the wall."
    )


def _bars(results: Results) -> str:
    measured = results["commands"].get(MILLION, {})
    rows = []
    for name, bar in BAR_S.items():
        if name in measured:
            taken = measured[name]
            rows.append([WHAT[name], f"{bar:g} s", *_seconds(taken), _verdict(taken, bar)])
    rows += _add_row(results["commands"])
    if measured:
        peak = max(taken["peak_mb"] for taken in measured.values())
        reached = "yes" if peak <= PEAK_BAR_MB else "**no**"
        rows.append(
            ["peak memory of any of these", f"{PEAK_BAR_MB:,} MB", f"{peak:,} MB", "", reached]
        )
    header = ["at a million episodes", "wanted, at most", "wall", "processor", "reached"]
    return "### Measured on a local disk, and wanted\n\n" + table(header, rows)


def _seconds(taken: Results) -> tuple[str, str]:
    return f"{number(taken['wall_s'])} s", f"{number(taken['cpu_s'])} s"


def _verdict(taken: Results, bar: float) -> str:
    if taken["wall_s"] <= bar:
        return "yes"
    return f"not at load {taken['load']:g}" if taken["cpu_s"] <= bar else "**no**"


def _add_row(commands: Results) -> list[list[str]]:
    if not all("add" in commands.get(size, {}) for size in (MILLION, TEN_THOUSAND)):
        return []
    large, small = commands[MILLION]["add"], commands[TEN_THOUSAND]["add"]
    wall, cpu = (large[key] / small[key] for key in ("wall_s", "cpu_s"))
    reached = "yes" if wall <= ADD_BAR else "**no**"
    what = "adding an upload, over the same at 10,000"
    return [[what, f"{ADD_BAR:g}", number(wall), number(cpu), reached]]


def _commands(results: Results, part: str, title: str) -> str:
    sizes = sorted(results[part], key=int)
    names = [name for name in WHAT if any(name in results[part][size] for size in sizes)]
    header = ["", *(f"{int(size):,}" for size in sizes), "slope", "load"]
    rows = [
        [
            WHAT[name],
            *(_cell(results[part][size].get(name)) for size in sizes),
            _slope(results[part], sizes, name),
            ", ".join(
                f"{results[part][s][name]['load']:g}" for s in sizes if name in results[part][s]
            ),
        ]
        for name in names
    ]
    return (
        f"### {title}\n\nWall seconds / processor seconds / peak MB. The slope is the power of "
        "the number of episodes that processor time follows, from the smallest lake to the "
        "largest: 0 is constant, 1 is linear.\n\n" + table(header, rows)
    )


def _taken(results: Results, sizes: list[str], name: str) -> list[Results]:
    return [results[size][name] for size in sizes if name in results[size]]


def _cell(taken: Results | None) -> str:
    if taken is None:
        return ""
    return f"{number(taken['wall_s'])} / {number(taken['cpu_s'])} / {taken['peak_mb']}"


def _slope(results: Results, sizes: list[str], name: str) -> str:
    known = [size for size in sizes if name in results[size]]
    if len(known) < 2:
        return ""
    first, last = known[0], known[-1]
    grown = max(results[last][name]["cpu_s"], 1e-3) / max(results[first][name]["cpu_s"], 1e-3)
    return f"{math.log(grown) / math.log(int(last) / int(first)):.2f}"


def _dagster(results: Results) -> str:
    sizes = sorted(results, key=int)
    names = list(dict.fromkeys(name for size in sizes for name in results[size]))
    rows = [[name, *(number(results[size][name]) for size in sizes)] for name in names]
    return (
        "### Partitions in Dagster, on PostgreSQL\n\nSeconds, by the number of uploads, all of "
        "them partitions that were materialized.\n\n"
        + table(["", *(f"{int(size):,}" for size in sizes)], rows)
    )
