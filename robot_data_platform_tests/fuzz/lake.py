"""A spoilt source on its whole way into a lake, held against what reading it came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.core.finding import STATUS_QUARANTINED
from robot_data_platform.reader import RobotLanceDataset
from robot_data_platform_tests.compute.uploads import Published, ingest, published, workplace
from robot_data_platform_tests.fuzz.reading import REFUSALS, Episode, Reading, number_of

DATASET, UPLOAD = "fuzz", "u1"


def lake_faults(root: Path, stated: str | None, folder: Path, read: Reading) -> Iterator[str]:
    """Ingest a source, and yield what of it is in the lake otherwise than it was read.

    Parameters
    ----------
    root : Path
        The source.
    stated : str or None
        A profile that wins over its own.
    folder : Path
        An empty one, for landing folder and lake.
    read : Reading
        What reading the source came to.
    """
    place = workplace(folder)
    try:
        place.landing.put(root, DATASET, UPLOAD, profile=stated)
        ingest(place, UPLOAD)
    except REFUSALS:
        return  # with a reason, and nothing is visible
    shown = published(place, DATASET, UPLOAD)
    if shown.keys() != read.episodes.keys() | read.refused.keys():
        yield f"the lake has episodes {sorted(shown)}: expected those that were listed"
    rows = _rows(place)
    for key, row in shown.items():
        if row.status == STATUS_QUARANTINED:
            yield from () if row.status_reason else (f"{key!r} is in quarantine for no reason",)
        elif key not in read.episodes:
            yield f"{key!r} is in the lake, though reading refused it"
        else:
            yield from _differences(place, row, rows[row.episode_index], read.episodes[key])


def _rows(place: Workplace) -> Counter[int]:
    frames = place.lake.open(DATASET, "frames").read(["episode_index"])
    return Counter(frames["episode_index"].to_pylist())


def _differences(
    place: Workplace, row: Published, num_rows: int, episode: Episode
) -> Iterator[str]:
    if num_rows != episode.num_rows:
        yield f"{row.source_key!r} has {num_rows} rows in the lake, {episode.num_rows} when read"
        return
    for camera, codes in episode.pictures.items():
        wanted = [k for k, code in enumerate(codes) if code is not None]
        items = RobotLanceDataset(
            place.lake_root, DATASET, episodes=[row.episode_index], cameras=[camera]
        ).__getitems__(wanted)
        shown = [number_of(item[f"observation.images.{camera}"]) for item in items]
        if shown != [codes[k] for k in wanted]:
            yield f"{row.source_key!r} shows {shown} of {camera!r} in the lake, {codes} when read"
