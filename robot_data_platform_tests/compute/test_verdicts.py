"""A verdict says what the findings say that are recorded with it, whatever was judged before."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

from robot_data_platform.storage.predicate import equals
from robot_data_platform.testing.rawlog import RawlogShape
from robot_data_platform_tests.compute.uploads import IN_PROCESS, RUN, STEPS, land, workplace

SHAPE = RawlogShape(num_episodes=1, num_rows=80, cameras=("env",))


def test_what_is_published_again_beside_other_episodes_counts_the_findings_that_it_has(
    tmp_path: Path,
) -> None:
    place = workplace(tmp_path)
    # u2 is first judged as a copy of u1, and comes back when u1 is another recording.
    for upload, seed in (("u1", 0), ("u2", 0), ("u2", 1), ("u1", 2), ("u2", 0)):
        land(place, "robot", upload, replace(SHAPE, seed=seed))
        for step in list(STEPS)[:5]:
            STEPS[step](place, upload, IN_PROCESS, RUN)
    (row,) = place.lake.open("robot", "episodes").read(where=equals("upload", "u2")).to_pylist()
    findings = place.lake.open("robot", "quality").read(
        ["rule", "severity"], equals("episode_index", row["episode_index"])
    )
    assert "episode_is_no_copy" in findings["rule"].to_pylist()
    counts = Counter(findings["severity"].to_pylist())
    found = {name: row[f"q_num_{name}"] for name in ("info", "warn", "fail")}
    assert found == {name: counts[name] for name in found}
    assert row["status"] == "flagged"
