"""An ingestion that is killed shows all or nothing, and the same command again finishes it.

`make crash` does the same 200 times.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path

import pytest

from robot_data_platform.compute.episodes_map import Fanout
from robot_data_platform_tests.faults.kills import Kill, carry_out
from robot_data_platform_tests.faults.scenarios import Scenario, make_scenarios
from robot_data_platform_tests.servers import require

ALONE, PAIR = Fanout(num_workers=1), Fanout(num_workers=2)
RAY = Fanout(backend="ray", num_workers=2)

KILLS = [
    Kill(number=0, scenario="first", fanout=ALONE, moment="write", share=0.15),
    Kill(number=1, scenario="first", fanout=ALONE, moment="write", share=0.6),
    Kill(number=2, scenario="corrected", fanout=ALONE, moment="write", share=0.4),
    Kill(number=3, scenario="corrected", fanout=ALONE, moment="write", share=0.75),
    Kill(number=4, scenario="first", fanout=PAIR, moment="write", share=0.3),
    Kill(number=5, scenario="first", fanout=RAY, moment="write", share=0.3),
]
"""At shares of the files that are written, which no other load on the machine moves."""


@pytest.fixture(scope="module")
def scenarios(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Scenario]:
    return make_scenarios(tmp_path_factory.mktemp("scenarios"), ["first", "corrected"])


@pytest.mark.parametrize(
    "planned", KILLS, ids=lambda kill: f"{kill.scenario}-{kill.fanout.backend}-{kill.share}"
)
def test_a_killed_ingestion_shows_all_or_nothing_and_the_next_run_finishes_it(
    scenarios: Mapping[str, Scenario], planned: Kill, tmp_path: Path
) -> None:
    if planned.fanout.backend == "ray":
        require(importlib.util.find_spec("ray"), "Ray (package ray)")
    ended = carry_out(planned, scenarios[planned.scenario], 0.0, tmp_path)
    assert ended.problems == ()
