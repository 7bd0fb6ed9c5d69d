"""The page's part on bars that were not reached: what of the same run says why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from robot_data_platform.video.settings import GopSettings
from robot_data_platform_tests.benchmarks.ratios import BARS, FIGURE_BARS, Bar

Results = Mapping[str, Any]

BYTES_HELD_PER_ROW = 2 * 14 * 4 + 3 * 12 + 2 * 8
"""Of the synthetic rows: two signals of 14 float32, three picture references, row id and time."""


def shortfall_section(results: Results) -> str:
    """Return a line for each bar that was not reached; empty where all were."""
    measured = {**results["figures"], **results["ratio_spreads"]}
    short = [
        bar
        for bar in (*BARS, *FIGURE_BARS)
        if bar.key in measured and not bar.is_reached(measured[bar.key]["median"])
    ]
    lines = [f"- {_line(bar, results)}" for bar in short]
    return "\n".join(["### Where it falls short, and why", "", *lines]) if lines else ""


def _line(bar: Bar, results: Results) -> str:
    reason = next(reason for part, reason in REASONS if part in bar.key)
    return f"**{bar.meaning}**: {reason(bar, results)}"


def _against_peers(bar: Bar, results: Results) -> str:
    """The floor bounds what any reader of the same GOPs can do."""
    scenario, _, peer = bar.key.partition("_vs_")
    figures, quality = results["figures"], results["stores"]["ours"]["psnr_db"]["mean"]
    theirs, ours, floor = (
        figures[f"{scenario}_{name}"]["median"] for name in (peer, "ours", "floor")
    )
    return (
        f"the floor, which only decodes and converts, is {theirs / floor:.1f} times as fast as "
        f"this peer, and no reader of these GOPs, at {quality} dB, gets beyond it; ours takes "
        f"{ours / floor:.1f} times as long as the floor."
    )


def _over_floor(bar: Bar, results: Results) -> str:
    figures = results["figures"]
    ours, floor = (figures[f"B_{name}_cpu_per_frame"]["median"] for name in ("ours", "floor"))
    return (
        f"{(ours - floor) * 1e6:.0f} µs a picture go to fetching its GOP, to finding it, and to "
        "memory that the floor does not touch."
    )


def _decoding(bar: Bar, results: Results) -> str:
    figures = results["figures"]
    parts = ", ".join(
        f"{clip} {figures[f'default_decode_over_chain_{clip}']['median']} of the time for "
        f"{figures[f'default_bytes_over_chain_{clip}']['median']} of the bytes"
        for clip in results["sweep"]
    )
    return f"{parts}."


def _order(bar: Bar, results: Results) -> str:
    rates = [
        cell["batched_fps"]["median"] / cell["random_fps"]["median"]
        for part in results.get("sweep", {}).values()
        for cell in part["cells"]
        if (cell["profile"], cell["gop_size"]) == ("anchored", GopSettings().gop_size)
    ]
    gain = f" ({' and '.join(f'{rate:.1f}' for rate in rates)} times in the sweep)" if rates else ""
    return (
        f"an order saves decoding only{gain}, and few decodings are left to save. Conversion to "
        "RGB and the copy into the batch are the same in every order."
    )


def _opening(bar: Bar, results: Results) -> str:
    return "opening is a few small reads, whose wait for a core on a busy machine is most of it."


def _s3(bar: Bar, results: Results) -> str:
    cpu = results["figures"]["s3_cpu_over_local"]["median"]
    return (
        f"our own processor time is {cpu} of that from disk; the rest is the server's, which works "
        "on the same cores, and both are busy decoding."
    )


def _memory(bar: Bar, results: Results) -> str:
    rows = results["sizes"]["many_rows"]
    held_mb = results["sizes"]["many_rows"] * BYTES_HELD_PER_ROW / 1e6
    return (
        f"{held_mb:.0f} MB are the signals and picture references of {rows:,} rows, held in memory "
        "on purpose (a smaller `ram_budget_bytes` reads them for each batch instead); about 130 MB "
        "are Python with Arrow and Lance imported."
    )


def _ingestion(bar: Bar, results: Results) -> str:
    figures = results["figures"]
    seconds = figures["I_copy_s"]["median"] if "I_copy_s" in figures else "some"
    return (
        "an upload of some seconds' work: the registration, the commits and what is shared out "
        f"unevenly at its end are counted ({seconds} s in all for a copy with two workers)."
    )


def _unknown(bar: Bar, results: Results) -> str:
    return "this run does not say why."


REASONS: tuple[tuple[str, Callable[[Bar, Results], str]], ...] = (
    ("I_", _ingestion),
    ("_vs_", _against_peers),
    ("cpu_over_floor", _over_floor),
    ("anchored_decode", _decoding),
    ("shuffle", _order),
    ("open_", _opening),
    ("s3_over_local", _s3),
    ("rss_above", _memory),
    ("", _unknown),
)
"""What is said of a bar whose key has the first text in it."""
