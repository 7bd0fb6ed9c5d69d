"""`make bench-scale`: measure commands on lakes of several sizes, write docs/scale.json and page.

Lakes are kept in ``.bench/scale`` and used again. Results of other parts and sizes stay.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from robot_data_platform.core.lookup_columns import LOOKUP_COLUMNS
from robot_data_platform.storage.compaction import compact
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.upkeep import ensure_index
from robot_data_platform_tests.benchmarks.machine import describe
from robot_data_platform_tests.scale.lake import Say, Shape, built, linked
from robot_data_platform_tests.scale.measures import MADE_BY_COMMANDS, Place
from robot_data_platform_tests.scale.page import write_page
from robot_data_platform_tests.scale.session import (
    REPOSITORY,
    Session,
    command_names,
    compaction_names,
)
from robot_data_platform_tests.scale.template import DATASET

SIZES = (10_000, 100_000, 1_000_000)
NUM_UPLOADS = 1_000
PARTS = ("compact", "commands", "s3", "s3_compact", "dagster")
Save = Callable[[str, str, dict[str, Any]], None]
"""Keeps results: part, size, results by name."""


def main(arguments: list[str] | None = None) -> None:
    """Measure, and write the results."""
    options = _options(arguments)
    started = time.perf_counter()

    def say(text: str) -> None:
        sys.stderr.write(f"{time.perf_counter() - started:7.1f} s  {text}\n")
        sys.stderr.flush()

    save = keeping(options.output)
    for part in options.parts:
        if part == "dagster":
            from robot_data_platform_tests.scale.orchestration import measure_partitions

            measure_partitions(say, save)
            continue
        for size in options.sizes:
            measure_lake(part, Shape(num_episodes=size, num_uploads=options.uploads), options, save)
    write_page(options.output)


def keeping(folder: Path) -> Save:
    """Return a function that adds results to ``scale.json``, and says of what run they are."""
    path = folder / "scale.json"

    def save(part: str, size: str, results: dict[str, Any]) -> None:
        held = json.loads(path.read_text()) if path.is_file() else {}
        held |= {"command": "make bench-scale", **describe(REPOSITORY, None)}
        held["date"] = datetime.now(UTC).date().isoformat()
        held.setdefault(part, {}).setdefault(size, {}).update(results)
        path.write_text(json.dumps(held, indent=1, sort_keys=True) + "\n")

    return save


def measure_lake(part: str, shape: Shape, options: argparse.Namespace, save: Save) -> None:
    """Take the measures of one part on a lake of one shape."""
    started = time.perf_counter()

    def say(text: str) -> None:
        passed = time.perf_counter() - started
        sys.stderr.write(f"{passed:7.1f} s  {shape.num_episodes:,}: {text}\n")
        sys.stderr.flush()

    raw = built(options.folder / f"raw_{shape.num_episodes}", shape, say)
    kept = options.folder / f"kept_{shape.num_episodes}"
    size = str(shape.num_episodes)
    if part == "compact" or not kept.is_dir():
        linked(raw, kept)
        taken = session(kept, say, 1).run(compaction_names())
        tidy(Lake(kept / "lake"), say)
        save("compact", size, taken)
    if part == "commands":
        if not options.only:
            forget(kept)
        keep_one = session(kept, say, options.repeats, lambda n, r: save(part, size, {n: r}))
        keep_one.run(options.only or command_names())
    if part.startswith("s3"):
        from robot_data_platform_tests.scale.on_s3 import session_on_s3

        source, names = (kept, command_names()) if part == "s3" else (raw, compaction_names())
        with session_on_s3(
            source, say, options.repeats, lambda n, r: save(part, size, {n: r})
        ) as s3:
            s3.run(options.only or names)


def session(
    folder: Path,
    say: Say,
    repeats: int,
    after: Callable[[str, dict[str, Any]], None] = lambda name, result: None,
) -> Session:
    """Return a session on the lake of a folder."""
    place = Place(lake_root=str(folder / "lake"), landing_root=str(folder / "landing"))
    return Session(place=place, say=say, repeats=repeats, after=after)


def tidy(lake: Lake, say: Say) -> None:
    """Leave a lake as maintenance does: the catalog compacted too, and its indices made."""
    for name in ("uploads", "lineage"):
        compact(lake.catalog_uri(name))
    for name, columns in LOOKUP_COLUMNS.items():
        for column in columns if lake.find(DATASET, name) else ():
            say(f"index of {name}.{column}")
            ensure_index(lake.table_uri(DATASET, name), column)


def forget(folder: Path) -> None:
    """Remove what an earlier run of the commands made: the splits, the release, the model."""
    for table in MADE_BY_COMMANDS:
        shutil.rmtree(folder / "lake" / f"{table}.lance", ignore_errors=True)


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scale", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--only", nargs="+", choices=command_names(), help="of the commands")
    parser.add_argument("--uploads", type=int, default=NUM_UPLOADS, help="in each lake")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=REPOSITORY / ".bench" / "scale")
    parser.add_argument("--output", type=Path, default=REPOSITORY / "docs")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
