"""The page's part on GOP length and profile, and what follows from it for the defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robot_data_platform.video.settings import GopSettings

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
    ratios, default = results["ratios"], GopSettings()
    return "\n".join(
        [
            "### Why the defaults are what they are",
            "",
            *(f"- {part}" for part in parts if part),
            f"- The default (`anchored`, GOPs of {default.gop_size}, an anchor every "
            f"{default.anchor_distance}) against `chain` of 8, over both clips: "
            f"{ratios['anchored_decode_over_chain']} of the processor time of decoding a random "
            f"picture, {ratios['anchored_bytes_over_chain']} of the bytes.",
            f"- A longer GOP than {default.gop_size} saves few bytes more, while a random read "
            "fetches all of it and decodes more of it; a shorter one costs the bytes of its key "
            "pictures.",
        ]
    )


def _reason(name: str, cells: list[Cell]) -> str:
    by_key = {(cell["profile"], cell["gop_size"]): cell for cell in cells}
    sizes = sorted({size for _, size in by_key})
    default = GopSettings().gop_size
    if sizes[-1] < 4 * default:
        return ""
    anchored, chain = by_key["anchored", default], by_key["chain", default]
    double, long = by_key["anchored", 2 * default], by_key["anchored", sizes[-1]]
    return (
        f"{name.capitalize()}: from GOPs of {default} to {2 * default} the bytes of `anchored` "
        f"change by {_change(anchored, double)} and random reads by "
        f"{_faster(double, anchored)}; to {sizes[-1]}, by {_change(anchored, long)} and "
        f"{_faster(long, anchored)}. A random picture of a GOP of {default} is read "
        f"{_speed(anchored) / _speed(chain):.1f} times as fast as with `chain`."
    )


def _faster(cell: Cell, other: Cell) -> str:
    return f"{100 * (_speed(cell) / _speed(other) - 1):+.0f} %"


def _change(before: Cell, after: Cell) -> str:
    return f"{100 * (after['bytes_per_frame'] / before['bytes_per_frame'] - 1):+.0f} %"


def _speed(cell: Cell) -> float:
    return float(cell["random_fps"]["median"])
