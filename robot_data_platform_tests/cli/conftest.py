"""A lake that `rdp` itself filled: one upload, two releases, one model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from robot_data_platform.lineage.models import training_run
from robot_data_platform.testing.rawlog import RawlogEpisode, RawlogShape
from robot_data_platform_tests.cli.rdp import Done, Json, rdp
from robot_data_platform_tests.cli.recordings import record

DATASET = "robot"
SHAPE = RawlogShape(
    num_episodes=4,
    num_rows=12,
    cameras=("env",),
    faults={0: "truncated_video", 1: "nan_state"},
)
"""One episode that can't be read, one that is flagged, two that are ok."""

EVERYTHING = """
name: everything
filter: {status: [ok, flagged], max_findings: {}}
ratios: {holdout: 1.0}
"""


@dataclass(frozen=True, slots=True)
class Lab:
    """A folder with a recording, and with the lake that was made of it."""

    folder: Path
    episodes: tuple[RawlogEpisode, ...]
    ingested: Done

    @property
    def source(self) -> Path:
        """The recording."""
        return self.folder / "recording"

    @property
    def lake(self) -> Path:
        """The lake, where `rdp` in the folder finds it by default."""
        return self.folder / ".rdp" / "lake"

    @property
    def upload(self) -> str:
        """The upload's id."""
        return str(self.ingested.json()["upload"])

    def rdp(self, *arguments: object, **environment: str) -> Done:
        """Run `rdp` in the folder."""
        return rdp(self.folder, *arguments, **environment)

    def rdp_json(self, *arguments: object) -> Json:
        """Run `rdp … --json` and return what it printed."""
        return self.rdp(*arguments, "--json").json()


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """A lab after its first upload."""
    folder = tmp_path_factory.mktemp("lab")
    episodes = record(folder / "recording", SHAPE)
    ingested = rdp(folder, "ingest", "recording", "--dataset", DATASET, "--json")
    assert ingested.exit_code == 0, ingested.err
    return Lab(folder, episodes, ingested)


@dataclass(frozen=True, slots=True)
class Released:
    """A lab after its first releases and its first model."""

    lab: Lab
    created: Done
    model: str


@pytest.fixture(scope="session")
def released(lab: Lab) -> Released:
    """Release v1 by the default spec, v2 with the flagged episode and another split."""
    created = lab.rdp("release", "create", DATASET, "v1", "--json")
    assert created.exit_code == 0, created.err
    spec = lab.folder / "everything.yaml"
    spec.write_text(EVERYTHING)
    assert lab.rdp("release", "create", DATASET, "v2", "--spec", spec).exit_code == 0
    with training_run(lab.lake, DATASET, "v1", model="policy-1") as run:
        run.log_metrics(loss=0.5)
    return Released(lab, created, "policy-1")
