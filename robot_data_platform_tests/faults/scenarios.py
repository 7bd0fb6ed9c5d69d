"""Uploads whose ingestion is disturbed, with what the lake shows before and after each."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.testing.rawlog import RawlogShape
from robot_data_platform_tests.compute.uploads import ingest, land, workplace
from robot_data_platform_tests.faults.contents import Shown, rows_of_tables, shown

SHAPE = RawlogShape(
    num_episodes=3, num_rows=10, cameras=("env",), faults={1: "truncated_video", 2: "nan_state"}
)
"""An episode that is well, one for quarantine, and one with a finding."""
EARLIER = RawlogShape(num_episodes=1, num_rows=8, cameras=("env",), seed=1)
CORRECTED = replace(SHAPE, seed=2, faults={0: "nan_state"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One upload that has landed, and the truth about it from a run that nobody disturbed."""

    name: str
    place: Workplace
    """Holds the lake as it is before; it is copied, never written."""
    dataset: str
    upload: str
    before: Shown
    after: Shown
    rows: Mapping[str, list[str]]
    """Every row of every table of the dataset after a run that nobody disturbed."""
    others: Shown
    """What the dataset shows beside which the upload lands."""
    num_files: int
    """New files that a run makes."""

    def copied(self, folder: Path) -> Workplace:
        """Return a copy of the place to do harm to."""
        shutil.copytree(Path(self.place.lake_root).parent, folder)
        return workplace(folder)


NEIGHBOUR = "old"
"""A dataset that nothing is done to."""


UPLOADS = {"first": ("fresh", "f1"), "second": ("robot", "u2"), "corrected": ("mended", "m1")}
"""Dataset and upload: it makes its dataset, lands beside another, replaces its former content."""

STARTS = {"second": ("robot", "u1", EARLIER), "corrected": (*UPLOADS["corrected"], SHAPE)}
"""Dataset, upload and shape of what is there before."""


def make_scenarios(folder: Path, names: Sequence[str] = tuple(UPLOADS)) -> dict[str, Scenario]:
    """Land and ingest what the scenarios start from, and run each once, undisturbed."""
    place = workplace(folder / "start")
    for dataset, upload, shape in (
        (NEIGHBOUR, "o1", EARLIER),
        *(STARTS[n] for n in names if n in STARTS),
    ):
        land(place, dataset, upload, shape)
        ingest(place, upload)
    for name in names:
        land(place, *UPLOADS[name], CORRECTED if name == "corrected" else SHAPE)
    return {name: _scenario(name, place, *UPLOADS[name], folder) for name in names}


def _scenario(name: str, start: Workplace, dataset: str, upload: str, folder: Path) -> Scenario:
    scenario = Scenario(
        name=name,
        place=start,
        dataset=dataset,
        upload=upload,
        before=shown(start, dataset),
        after={},
        rows={},
        others=shown(start, NEIGHBOUR),
        num_files=0,
    )
    place = scenario.copied(folder / name)
    num_files = count_files(place)
    ingest(place, upload)
    return replace(
        scenario,
        after=shown(place, dataset),
        rows=rows_of_tables(place, dataset),
        num_files=count_files(place) - num_files,
    )


def count_files(place: Workplace) -> int:
    """Return the number of files of a local lake."""
    return sum(path.is_file() for path in Path(place.lake_root).rglob("*"))
