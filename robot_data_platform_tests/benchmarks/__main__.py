"""``make bench``: measure everything in one run, write ``docs/benchmarks.json`` and its page."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from robot_data_platform_tests.benchmarks import (
    ingestion,
    machine,
    object_store,
    opening,
    random_access,
    shuffle,
    sweep,
)
from robot_data_platform_tests.benchmarks.clips import clip_sources, describe
from robot_data_platform_tests.benchmarks.page import write_page
from robot_data_platform_tests.benchmarks.peers_environment import peers_python
from robot_data_platform_tests.benchmarks.ratios import RATIO_KEYS
from robot_data_platform_tests.benchmarks.scale import SCALES
from robot_data_platform_tests.benchmarks.stores import Bench, Stores, make_stores
from robot_data_platform_tests.benchmarks.worker import REPOSITORY

PARTS: Mapping[str, Callable[[Bench, Stores], dict[str, Any]]] = {
    "A-D": random_access.measure,
    "E": lambda bench, stores: opening.measure(bench),
    "F": shuffle.measure,
    "S": object_store.measure,
    "I": ingestion.measure,
    "sweep": lambda bench, stores: sweep.measure(bench),
}
"""What a run measures, in this order."""
NEED_STORES = ("A-D", "F", "S", "I")


def main(arguments: list[str] | None = None) -> None:
    """Run the benchmark as the command line says."""
    options = _options(arguments)
    started = time.perf_counter()
    say = _teller(started)
    folder = options.folder / options.scale
    if not options.without_peers:
        say("making the peers' environment, if it isn't there")
    python = None if options.without_peers else peers_python(options.folder / "peers")
    bench = Bench(scale=SCALES[options.scale], folder=folder, peers_python=python, say=say)
    facts = machine.describe(REPOSITORY, python)
    result = {**_head(options, facts), **measure(bench, options.only)}
    result["minutes"] = round((time.perf_counter() - started) / 60, 1)
    output = options.output or (REPOSITORY / "docs" if options.scale == "full" else folder)
    write_results(output, _merged(output, options.only, result) if options.merge else result)
    say(f"wrote {output / 'benchmarks.md'}")


def measure(bench: Bench, only: str | None = None) -> dict[str, Any]:
    """Measure all parts, or one, and return their results as one."""
    names = [name for name in PARTS if only in (None, name)]
    stores = make_stores(bench) if set(names) & set(NEED_STORES) else None
    merged: dict[str, Any] = {"stores": stores.facts if stores else {}, "ratios": {}, "figures": {}}
    for name in names:
        # Parts that need no store never look at theirs.
        for key, value in PARTS[name](bench, stores).items():  # type: ignore[arg-type]
            merged[key] = {**merged.get(key, {}), **value}
    spread = merged.pop("ratios")
    merged["ratios"] = {key: spread[key]["median"] for key in RATIO_KEYS if key in spread}
    merged["ratio_spreads"] = spread
    return merged


def _merged(folder: Path, part: str, new: Mapping[str, Any]) -> dict[str, Any]:
    """Return a folder's results with those of one part, measured by itself, in their place."""
    held: dict[str, Any] = json.loads((folder / "benchmarks.json").read_text())
    of_the_run = set(_head_keys(new))
    for name, value in new.items():
        if isinstance(value, dict) and name not in of_the_run:
            held[name] = {**held.get(name, {}), **value}
    apart = {key: new[key] for key in ("commit", "date")}
    held["measured_apart"] = {**held.get("measured_apart", {}), part: apart}
    return held


def _head_keys(result: Mapping[str, Any]) -> list[str]:
    """Return the keys that say what a run was, and not what it measured."""
    return [name for name in result if name in ("machine", "versions", "sizes", "source", "stores")]


def write_results(folder: Path, result: Mapping[str, Any]) -> None:
    """Write the JSON file, and the page and the plots that say the same."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "benchmarks.json").write_text(json.dumps(result, indent=1, sort_keys=True) + "\n")
    write_page(folder)


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks", description=main.__doc__)
    parser.add_argument("--quick", dest="scale", action="store_const", const="quick")
    parser.add_argument("--scale", choices=sorted(SCALES), default="full")
    parser.add_argument("--only", choices=list(PARTS), help="measure one part")
    parser.add_argument("--merge", action="store_true", help="keep other parts' results")
    parser.add_argument("--without-peers", action="store_true")
    parser.add_argument("--folder", type=Path, default=REPOSITORY / ".bench", help="for work")
    parser.add_argument("--output", type=Path, help="where the results go")
    options = parser.parse_args(arguments)
    options.scale = options.scale or "full"
    if options.merge and not options.only:
        parser.error("--merge needs --only")
    return options


def _head(options: argparse.Namespace, facts: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "command": "make bench",
        "scale": options.scale,
        "date": datetime.now(UTC).date().isoformat(),
        "source": describe(clip_sources()),
        "sizes": {
            name: getattr(SCALES[options.scale], name)
            for name in SCALES[options.scale].__dataclass_fields__
        },
        **facts,
    }


def _teller(started: float) -> Callable[[str], None]:
    def say(text: str) -> None:
        sys.stderr.write(f"{time.perf_counter() - started:7.1f} s  {text}\n")
        sys.stderr.flush()

    return say


if __name__ == "__main__":
    main()
