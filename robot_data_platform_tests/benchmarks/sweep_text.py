"""The page's part on GOP length and profile, and what follows from it for the defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Cell = Mapping[str, Any]


def sweep_section(results: Mapping[str, Any]) -> str:
    """Return the sweep's tables and the reasons for the default profile; empty without a sweep."""
    sweep = results.get("sweep")
    if not sweep:
        return ""
    parts = [
        "## GOP length and profile",
        "![Bytes and random reads by GOP length](benchmarks_sweep.svg)",
        "Both profiles at equal quality: for each cell the CRF is searched whose PSNR comes "
        "nearest to that of `chain` with GOPs of 8 at CRF 23. One core, packets in memory, "
        "colour conversion included. *Random*: one picture of one GOP at a time. *Batched*: 64 "
        "random pictures of the clip in one call, each GOP decoded once.",
        *(_clip(name, part) for name, part in sweep.items()),
        _reasons(results),
    ]
    return "\n\n".join(parts)


def _clip(name: str, part: Mapping[str, Any]) -> str:
    lines = [
        "| profile | GOP | CRF | PSNR, dB | bytes a picture | random, pictures/s | batched |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(_row(cell) for cell in part["cells"]),
        _jpeg_row(part["jpeg"]),
    ]
    return f"### {name.capitalize()} clip, {part['goal_psnr_db']} dB\n\n" + "\n".join(lines)


def _row(cell: Cell) -> str:
    return (
        f"| {cell['profile']} | {cell['gop_size']} | {cell['crf']} | {cell['psnr_db']} "
        f"| {cell['bytes_per_frame']:,} | {_fps(cell, 'random')} | {_fps(cell, 'batched')} |"
    )


def _jpeg_row(jpeg: Cell) -> str:
    return (
        f"| JPEG, quality 95 | 1 | | {jpeg['psnr_db']} | {jpeg['bytes_per_frame']:,} "
        f"| {_fps(jpeg, 'random')} | |"
    )


def _fps(cell: Cell, name: str) -> str:
    figure = cell[f"{name}_fps"]
    return f"{figure['median']:,.0f} ({figure['p25']:,.0f} to {figure['p75']:,.0f})"


def _reasons(results: Mapping[str, Any]) -> str:
    parts = [_reason(name, part["cells"]) for name, part in results["sweep"].items()]
    ratios = results["ratios"]
    return "\n".join(
        [
            "### Why the defaults are what they are",
            "",
            *(f"- {part}" for part in parts if part),
            f"- The default (`anchored`, GOPs of 16, an anchor every 8) against `chain` of 8, "
            f"over both clips: {ratios['anchored_decode_over_chain']} of the processor time of "
            f"decoding a random picture, {ratios['anchored_bytes_over_chain']} of the bytes.",
            "- A longer GOP than 16 saves few bytes more, while a random read fetches all of it; "
            "a shorter one is cheap to decode and costs the bytes of its key pictures.",
        ]
    )


def _reason(name: str, cells: list[Cell]) -> str:
    by_key = {(cell["profile"], cell["gop_size"]): cell for cell in cells}
    sizes = sorted({size for _, size in by_key})
    long, default = sizes[-1], 16
    if default not in sizes or 8 not in sizes:
        return ""
    anchored, shorter = by_key["anchored", default], by_key["anchored", 8]
    longest, chain = by_key["anchored", long], by_key["chain", default]
    return (
        f"{name.capitalize()}: from GOPs of 8 to 16 the bytes of `anchored` change by "
        f"{_change(shorter, anchored)}, from 16 to {long} by {_change(anchored, longest)}; a "
        f"random picture of a GOP of 16 is read "
        f"{_speed(anchored) / _speed(chain):.1f} times as fast as with `chain` of 16, and "
        f"{_speed(anchored) / _speed(longest):.1f} times as fast as from GOPs of {long}."
    )


def _change(before: Cell, after: Cell) -> str:
    return f"{100 * (after['bytes_per_frame'] / before['bytes_per_frame'] - 1):+.0f} %"


def _speed(cell: Cell) -> float:
    return float(cell["random_fps"]["median"])
