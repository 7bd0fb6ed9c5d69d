"""Plots as SVG, drawn by hand: bars of readers, and curves over the GOP length."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

INK, GRID = "#333", "#ddd"
COLOURS = ("#0b6e4f", "#c8553d", "#588b8b", "#b08900")
READERS = {
    "ours": "robot_data_platform",
    "lerobot": "LeRobot, best setting",
    "lerobot_lancedb": "lerobot-lancedb, best setting",
    "daft": "Daft",
}
SCENARIOS = {"A": "A: one sample", "B": "B: batch", "C": "C: window", "D": "D: in order"}
PANEL_WIDTH, PANEL_HEIGHT = 400, 260
LEFT, TOP, BOTTOM = 60, 40, 60

Point = tuple[float, float]


def readers_plot(results: Mapping[str, Any]) -> str:
    """Return pictures per second of each reader in A to D, as bars."""
    rates = _rates(results)
    names = [name for name in READERS if any(name in of for of in rates.values())]
    top = 1.08 * max((rate for of in rates.values() for rate in of.values()), default=1.0)
    width, step = 2 * PANEL_WIDTH, _round_step(top / 5)
    parts = []
    for number in range(int(top / step) + 1):
        y = TOP + PANEL_HEIGHT * (1 - number * step / top)
        parts += [_line(LEFT, y, LEFT + width, y)]
        parts.append(_text(LEFT - 6, y + 4, f"{number * step:,.0f}", "end"))
    group = width / max(1, len(rates))
    for place, (scenario, of) in enumerate(rates.items()):
        parts += _group(LEFT + place * group, group, scenario, [of.get(n) for n in names], top)
    legend = _legend([READERS[name] for name in names], TOP + PANEL_HEIGHT + 48)
    sizes = results["sizes"]
    title = f"Pictures per second, three cameras of {sizes['width_px']}x{sizes['height_px']}"
    return _svg(LEFT + width + 20, [_text(LEFT, 20, title, "start"), *parts, *legend])


def _group(
    left: float, width: float, scenario: str, rates: Sequence[float | None], top: float
) -> list[str]:
    """Return the bars of one scenario, side by side."""
    parts = [_text(left + width / 2, TOP + PANEL_HEIGHT + 18, SCENARIOS[scenario], "middle")]
    bar = (width - 32) / len(rates)
    for number, rate in enumerate(rates):
        if rate is None:
            continue
        height = PANEL_HEIGHT * rate / top
        x, y = left + 16 + number * bar, TOP + PANEL_HEIGHT - height
        parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{bar - 4:.1f}" height="{height:.1f}" '
            f'fill="{COLOURS[number]}"/>'
        )
        parts.append(_text(x + bar / 2 - 2, y - 4, f"{rate:,.0f}", "middle"))
    return parts


def _rates(results: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    figures = results["figures"]
    pictures = {"A": 3, "B": 3 * results["sizes"]["batch_size"], "C": 24, "D": 75}
    if "A_ours" not in figures:
        return {}
    return {
        scenario: {
            name: count / figures[f"{scenario}_{name}"]["median"]
            for name in READERS
            if f"{scenario}_{name}" in figures
        }
        for scenario, count in pictures.items()
    }


def sweep_plot(results: Mapping[str, Any]) -> str:
    """Return bytes a picture, and random pictures per second, over the GOP length."""
    sweep = results.get("sweep", {})
    curves = {
        f"{profile}, {clip}": [cell for cell in part["cells"] if cell["profile"] == profile]
        for clip, part in sweep.items()
        for profile in ("anchored", "chain")
    }
    panels = {"Bytes a picture, at equal PSNR": _bytes, "Random pictures/s of one core": _speed}
    parts = []
    for place, (title, value) in enumerate(panels.items()):
        points = {
            name: [(float(cell["gop_size"]), value(cell)) for cell in cells]
            for name, cells in curves.items()
        }
        parts += _panel(LEFT + place * (PANEL_WIDTH + LEFT), title, points)
    legend = _legend(list(curves), TOP + PANEL_HEIGHT + 48)
    return _svg(2 * (PANEL_WIDTH + LEFT) + 20, [*parts, *legend])


def _bytes(cell: Mapping[str, Any]) -> float:
    return float(cell["bytes_per_frame"])


def _speed(cell: Mapping[str, Any]) -> float:
    return float(cell["random_fps"]["median"])


def _panel(left: float, title: str, curves: Mapping[str, Sequence[Point]]) -> list[str]:
    points = [point for curve in curves.values() for point in curve]
    top = max((y for _, y in points), default=1.0) * 1.05
    last = max((math.log2(x) for x, _ in points), default=1.0) or 1.0
    step = _round_step(top / 4)

    def place(point: Point) -> Point:
        x, y = point
        return left + math.log2(x) / last * PANEL_WIDTH, TOP + PANEL_HEIGHT * (1 - y / top)

    parts = [_text(left, 20, title, "start")]
    for number in range(int(top / step) + 1):
        y = place((1, number * step))[1]
        parts += [_line(left, y, left + PANEL_WIDTH, y)]
        parts.append(_text(left - 6, y + 4, f"{number * step:,.0f}", "end"))
    for x in sorted({x for x, _ in points}):
        parts.append(_text(place((x, 0))[0], TOP + PANEL_HEIGHT + 16, f"{x:.0f}", "middle"))
    middle = left + PANEL_WIDTH / 2
    parts.append(_text(middle, TOP + PANEL_HEIGHT + 32, "frames in a GOP", "middle"))
    for number, curve in enumerate(curves.values()):
        parts += _curve([place(point) for point in curve], number)
    return parts


def _round_step(step: float) -> float:
    scale: float = 10 ** math.floor(math.log10(step)) if step > 0 else 1
    return next(scale * factor for factor in (1, 2, 2.5, 5, 10) if scale * factor >= step)


def _curve(points: Sequence[Point], number: int) -> list[str]:
    colour, dash = COLOURS[number], ' stroke-dasharray="5 4"' if number % 2 else ""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    line = f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>'
    return [
        line,
        *(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points),
    ]


def _legend(names: Sequence[str], y: float) -> list[str]:
    parts = []
    for number, name in enumerate(names):
        x = LEFT + number * 200
        parts.append(f'<rect x="{x}" y="{y:.0f}" width="12" height="12" fill="{COLOURS[number]}"/>')
        parts.append(_text(x + 18, y + 11, name, "start"))
    return parts


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{GRID}"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'


def _svg(width: float, parts: Sequence[str]) -> str:
    height = TOP + PANEL_HEIGHT + BOTTOM + 20
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
        f'viewBox="0 0 {width:.0f} {height}" font-family="sans-serif" font-size="12" '
        f'fill="{INK}">\n<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n'
    )
