"""The page of results: every number on it comes from the JSON file beside it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from robot_data_platform.reader.samplers import DEFAULT_OPEN_BLOCKS
from robot_data_platform_tests.benchmarks.plots import readers_plot, sweep_plot
from robot_data_platform_tests.benchmarks.ratios import BARS, FIGURE_BARS, Bar
from robot_data_platform_tests.benchmarks.shortfalls import shortfall_section
from robot_data_platform_tests.benchmarks.sweep_text import sweep_section

Results = Mapping[str, Any]

READERS = {
    "ours": "robot_data_platform",
    "lerobot": "LeRobot",
    "lerobot_lancedb": "lerobot-lancedb",
    "daft": "Daft",
    "floor": "floor",
}
SCENARIOS = {
    "A": ("one sample, 3 pictures", "ms", 1_000),
    "B": ("batch of {batch_size} random rows, {batch_pictures} pictures", "ms", 1_000),
    "C": ("window of 8 steps, 24 pictures", "ms", 1_000),
    "D": ("25 of {steps} consecutive steps, 75 pictures", "ms", 1_000),
}


def write_page(folder: Path) -> None:
    """Write ``benchmarks.md`` and its plots from ``benchmarks.json`` in the same folder."""
    results = json.loads((folder / "benchmarks.json").read_text())
    for name, text in render(results).items():
        (folder / name).write_text(text)


INGESTION = {
    "I_copy_fps": "copying LeRobot's AV1 store, one worker",
    "I_transcode_fps": "re-encoding its H.264 store as `anchored`, checks included, one worker",
    "I_transcode_2_over_1": "the same, two workers over one",
    "I_rows_per_s": "rows at 100 Hz of two signals, no video, two workers",
    "I_copy_s": "copying LeRobot's AV1 store, two workers, the whole process",
    "I_lance_convert_s": "lerobot-lancedb's converter on the same store, the whole process",
    "I_vs_lance_convert": "ours over the converter",
    "I_peak_rss_mb": "largest process, ingesting the source's raw pictures",
    "I_file_mb": "largest file of the source",
}
"""Figures of ingestion and what they are of."""


def render(results: Results) -> dict[str, str]:
    """Return the page and its plots by file name."""
    sections = [
        _head(results),
        _bars(results),
        shortfall_section(results),
        _readers(results),
        _stores(results),
        _trials(results),
        _tables(results),
        _shuffle(results),
        _ingestion(results),
        _object_store(results),
        sweep_section(results),
    ]
    return {
        "benchmarks.md": "\n\n".join(filter(None, sections)) + "\n",
        "benchmarks_readers.svg": readers_plot(results),
        "benchmarks_sweep.svg": sweep_plot(results),
    }


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def number(value: float) -> str:
    """Return a number with three significant digits, never as a power of ten."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) >= 0.001 or value == 0 else f"{value:.6f}"


def spread(figure: Mapping[str, float], factor: float = 1) -> str:
    """Return a figure as median and quartiles."""
    low, middle, high = (number(figure[key] * factor) for key in ("p25", "median", "p75"))
    return middle if figure["n"] == 1 else f"{middle} ({low} to {high})"


def _head(results: Results) -> str:
    machine, sizes = results["machine"], results["sizes"]
    versions = ", ".join(f"{name} {value}" for name, value in sorted(results["versions"].items()))
    apart = "".join(
        f"; part {part} by itself, with the same stores: {run['date']}, commit {run['commit']}"
        for part, run in results.get("measured_apart", {}).items()
    )
    source = "\n".join(f"- `{camera}`: {origin}" for camera, origin in results["source"].items())
    return f"""# Benchmarks

`{results["command"]}` measures everything below in one run, on one machine, and writes
`benchmarks.json` and this page. Settings take turns (A B C, B C A …), so what slows the machine
slows all of them; a figure is the median of the rounds with its quartiles, and a ratio is the
median of the rounds' own ratios. Trust the ratios; another machine has other times.

- {machine["processor"]}, {machine["cores"]} cores, {machine["memory_gb"]} GB, {machine["system"]};
  load {machine["load_at_start"]} before the run, which took {results["minutes"]} minutes
- {results["date"]}, commit {results["commit"]}{apart}
- {versions}

The source is {sizes["num_episodes"] * sizes["rows_per_episode"]:,} rows of three cameras,
{sizes["width_px"]}x{sizes["height_px"]}, as raw RGB:

{source}

Each store is made from these pixels by its own writer. All readers return the same: uint8 RGB,
(3, H, W), of three cameras, in memory of the caller's own."""


def _bars(results: Results) -> str:
    measured = {**results["figures"], **results["ratio_spreads"]}
    rows = [
        _bar_row(bar, measured[bar.key]) for bar in (*BARS, *FIGURE_BARS) if bar.key in measured
    ]
    return "## Measured and wanted\n\n" + table(
        ["measure", "wanted", "measured (quartiles)", "reached"], rows
    )


def _bar_row(bar: Bar, figure: Mapping[str, float]) -> list[str]:
    wanted = f"{'at most' if bar.is_upper else 'at least'} {bar.bar:g} {bar.unit}"
    reached = "yes" if bar.is_reached(figure["median"]) else "**no**"
    return [bar.meaning, wanted, f"{spread(figure)} {bar.unit}", reached]


def _readers(results: Results) -> str:
    figures, sizes = results["figures"], results["sizes"]
    if "A_ours" not in figures:
        return ""
    filled = {**sizes, "batch_pictures": sizes["batch_size"] * 3}
    readers = [name for name in READERS if f"D_{name}" in figures or f"B_{name}" in figures]
    rows = [
        [f"{scenario}: {what.format(**filled)}, {unit}"]
        + [_cell(figures, f"{scenario}_{reader}", factor) for reader in readers]
        for scenario, (what, unit, factor) in SCENARIOS.items()
    ]
    best = results["best_settings"]
    chosen = "\n".join(f"- {key.partition('_')[0]}: {best[key]}" for key in sorted(best))
    said = f"\n\nThe settings, the fastest of those tried:\n\n{chosen}" if best else ""
    return (
        "## Random and sequential access\n\n![Pictures per second by reader]"
        "(benchmarks_readers.svg)\n\n"
        + table(["scenario", *(READERS[name] for name in readers)], rows)
        + "\n\nThe floor is libavcodec on exactly the packets that a batch needs and the colour "
        "conversion, with all packets in memory and nothing else, on as many threads. Processor "
        f"time per picture in B: ours {_us(figures, 'B_ours_cpu_per_frame')} µs, floor "
        f"{_us(figures, 'B_floor_cpu_per_frame')} µs." + said + _daft(figures)
    )


def _daft(figures: Results) -> str:
    if "D_daft" not in figures:
        return ""
    return (
        "\n\nDaft gives a dataframe of decoded pictures and no random access, so it takes part in "
        "D only: an episode of the H.264 store, in two rounds of its own."
    )


def _us(figures: Results, key: str) -> str:
    return spread(figures[key], 1e6)


def _cell(figures: Results, key: str, factor: float) -> str:
    return spread(figures[key], factor) if key in figures else ""


def _stores(results: Results) -> str:
    if not results["stores"]:
        return ""
    rows = [
        [
            name.replace("_", " "),
            _settings_text(facts["settings"]),
            f"{facts['bytes_per_picture']:,}",
            *(number(facts["psnr_db"][key]) for key in (*results["source"], "mean")),
        ]
        for name, facts in results["stores"].items()
    ]
    header = ["store", "settings", "bytes a picture", *results["source"], "mean PSNR, dB"]
    return (
        "### What is stored\n\nOur CRF is the one whose PSNR comes nearest to LeRobot's default "
        "store. PSNR is over RGB, against the source, per camera; lerobot-lancedb holds LeRobot's "
        "own video files.\n\n" + table(header, rows)
    )


def _settings_text(settings: Mapping[str, Any]) -> str:
    kept = ("profile", "codec", "gop_size", "crf")
    return ", ".join(f"{key} {settings[key]}" for key in kept if key in settings)


def _trials(results: Results) -> str:
    trials = results.get("trials")
    if not trials:
        return ""
    rows = [
        [name, *(spread(seconds[scenario], 1_000) for scenario in SCENARIOS)]
        for name, seconds in sorted(trials.items())
    ]
    return (
        "### Settings that were tried\n\nMilliseconds, before the run proper, two "
        "rounds each, one setting after the other.\n\n"
        + table(["setting", "A, sample", "B, batch", "C, window", "D, 25 steps"], rows)
    )


def _tables(results: Results) -> str:
    figures, ratios = results["figures"], results["ratio_spreads"]
    if "open_1m_rows_s" not in ratios:
        return ""
    rows = [
        ["opening 100 episodes with 3 cameras", f"{spread(ratios['open_100_episodes_s'], 1e3)} ms"],
        [
            f"opening {results['sizes']['many_rows']:,} rows",
            f"{spread(ratios['open_1m_rows_s'], 1e3)} ms",
        ],
        ["importing the reader", f"{spread(figures['import_reader_s'], 1e3)} ms"],
        *(
            [f"opening the measured dataset: {READERS[name]}", f"{_opened(figures, name)} ms"]
            for name in READERS
            if f"open_{name}" in figures
        ),
        ["peak memory, no workers", f"{spread(figures['peak_rss_0_workers_mb'])} MB"],
        ["peak memory, two workers together", f"{spread(figures['peak_rss_2_workers_mb'])} MB"],
        ["pictures of one batch", f"{spread(figures['batch_mb'])} MB"],
        [
            "peak memory where a batch is one sample",
            f"{spread(figures['rss_above_buffers_mb'])} MB",
        ],
    ]
    return (
        "## Opening and memory (E)\n\nTables of synthetic rows, opened again and again by a "
        "process that has imported everything. Memory is that of a process that opened the large "
        "table and read twenty random batches of it, without reading ahead.\n\n"
        + table(["what", "measured"], rows)
    )


def _opened(figures: Results, name: str) -> str:
    return spread(figures[f"open_{name}"], 1e3)


def _shuffle(results: Results) -> str:
    figures = results["figures"]
    if "F_block" not in figures:
        return ""
    exact, block = (1 / figures[f"F_{name}"]["median"] for name in ("exact", "block"))
    return (
        f"## Order (F)\n\nExact shuffle reads {number(exact)} pictures/s, GOP-block shuffle "
        f"{number(block)}: {spread(results['ratio_spreads']['block_over_exact_shuffle'])} times as "
        f"many. The second mixes the rows of {DEFAULT_OPEN_BLOCKS} open GOP blocks only, so the "
        "two are not the same job; A to D read exact random rows."
    )


def _ingestion(results: Results) -> str:
    figures = results["figures"]
    if "I_rows_per_s" not in figures:
        return ""
    rows = [
        [text, f"{spread(figures[key])} {figures[key]['unit']}"]
        for key, text in INGESTION.items()
        if key in figures
    ]
    return (
        "## Ingestion (I)\n\nWhole processes, an upload at a time, from its registration to rows "
        "that a reader sees; checks are included where that is said.\n\n"
        + table(["what", "measured"], rows)
    )


def _object_store(results: Results) -> str:
    figures = results["figures"]
    if "S_A_local" not in figures:
        return ""
    requests = results["requests"]
    rows = [
        [
            scenario,
            *(_cell(figures, f"S_{scenario}_{name}", 1_000) for name in ("local", "s3", "s3_20ms")),
            number(requests[scenario]["gets"]),
            f"{requests[scenario]['bytes']:,.0f}",
        ]
        for scenario in SCENARIOS
    ]
    header = ["scenario", "disk, ms", "S3, ms", "20 ms a request, ms", "GETs a picture"]
    opened = requests["open"]
    return (
        "## Object store (S)\n\nSeaweedFS on the same machine, its work on the same cores; B and D "
        "read ahead. The delayed column goes through a proxy that holds back each answer for 20 "
        "ms.\n\n"
        + table([*header, "bytes a picture"], rows)
        + f"\n\nOpening takes {opened['gets']:.0f} GETs and {opened['bytes']:,.0f} bytes."
    )
