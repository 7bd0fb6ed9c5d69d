"""What must hold of a dataset's splits and of its latest release."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.compute as pc

from robot_data_platform.compute.checks import CheckReport
from robot_data_platform.curation.verify import verify
from robot_data_platform.storage.snapshot import list_releases

if TYPE_CHECKING:
    from robot_data_platform.storage.lake import Lake


def splits_are_disjoint(lake: Lake, dataset: str) -> CheckReport:
    """Look for an episode, or a group, that an assignment puts in more than one split."""
    rows = lake.open(dataset, "splits").read(["assignment_id", "episode_id", "group", "split"])
    episodes = rows.group_by(["assignment_id", "episode_id"]).aggregate([("split", "count")])
    groups = rows.group_by(["assignment_id", "group"]).aggregate([("split", "count_distinct")])
    num_twice = _num_above_one(episodes["split_count"])
    num_torn = _num_above_one(groups["split_count_distinct"])
    return CheckReport(
        is_passed=num_twice == 0 and num_torn == 0,
        message=f"{num_twice} episodes assigned twice, {num_torn} groups torn apart",
        numbers={"num_assigned_twice": num_twice, "num_torn_groups": num_torn},
    )


def _num_above_one(counts: object) -> int:
    return pc.sum(pc.greater(counts, 1)).as_py() or 0


def latest_release_verifies(lake: Lake, dataset: str) -> CheckReport:
    """Hold the latest release against its tags, digest, row counts and every checksum."""
    releases = list_releases(lake, dataset)
    if not releases:
        return CheckReport(is_passed=False, message="there is no release")
    report = verify(lake, dataset, releases[-1]["release"])
    return CheckReport(
        is_passed=not report.problems,
        message="; ".join(p.message for p in report.problems[:10]) or "the release is whole",
        numbers={
            "num_episodes": report.num_episodes,
            "num_rows": report.num_rows,
            "num_gops": report.num_gops,
            "num_problems": len(report.problems),
        },
    )
