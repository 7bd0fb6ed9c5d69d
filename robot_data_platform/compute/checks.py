"""What must hold of the tables after each step; the answers become Dagster asset checks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from robot_data_platform.compute.ingestion import list_tasks
from robot_data_platform.core.finding import STATUS_QUARANTINED, Severity
from robot_data_platform.core.schema import CAMERA_PREFIX, camera_names
from robot_data_platform.storage.predicate import equals

if TYPE_CHECKING:
    from robot_data_platform.compute.ingestion import (
        Ingestion,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """Whether something holds, with the numbers behind it."""

    is_passed: bool
    message: str
    numbers: dict[str, int] = field(default_factory=dict)
    severity: Severity | None = None
    """How much it weighs that something does not hold; None = as the check is declared."""
    table: str = ""
    """What was looked at, as a Markdown table; empty = there is no more to say."""
    page_key: str | None = None
    """Page that tells of it, by its key within the lake."""


def gop_keys_are_unique(ingestion: Ingestion) -> CheckReport:
    """Look for GOPs that are there twice, and for streams whose GOPs have a gap."""
    gops = ingestion.workplace.lake.open(ingestion.dataset, "gops")
    rows = gops.read(["gop_key", "ref_id", "gop_index"], ingestion.where())
    num_unique = len(rows["gop_key"].unique())
    last = rows.group_by("ref_id").aggregate([("gop_index", "max"), ("gop_index", "count")])
    whole = pc.equal(pc.add(last["gop_index_max"], 1), last["gop_index_count"])
    num_broken = len(whole) - (pc.sum(whole).as_py() or 0)
    return CheckReport(
        is_passed=num_unique == rows.num_rows and num_broken == 0,
        message=f"{rows.num_rows} GOPs, {num_unique} keys, {num_broken} streams with a gap",
        numbers={"num_gops": rows.num_rows, "num_streams_with_gap": num_broken},
    )


def frames_are_contiguous(ingestion: Ingestion) -> CheckReport:
    """Look for episodes whose rows are not numbered 0, 1, 2 ... or whose time runs back."""
    frames = ingestion.workplace.lake.open(ingestion.dataset, "frames")
    rows = frames.read(["episode_index", "frame_index", "timestamp_ns"], ingestion.where())
    order = rows.sort_by([("episode_index", "ascending"), ("frame_index", "ascending")])
    episode = order["episode_index"].to_numpy()
    is_first = np.diff(episode, prepend=-1) != 0
    steps = np.diff(order["frame_index"].to_numpy(), prepend=0)
    time_steps = np.diff(order["timestamp_ns"].to_numpy(), prepend=0)
    num_bad = int(np.count_nonzero(~is_first & ((steps != 1) | (time_steps <= 0))))
    num_bad += int(np.count_nonzero(order["frame_index"].to_numpy()[is_first]))
    return CheckReport(
        is_passed=num_bad == 0,
        message=f"{rows.num_rows} rows, {num_bad} out of order",
        numbers={"num_rows": rows.num_rows, "num_out_of_order": num_bad},
    )


def references_resolve(ingestion: Ingestion) -> CheckReport:
    """Look for rows that point at a picture in no GOP."""
    lake = ingestion.workplace.lake
    frames = lake.open(ingestion.dataset, "frames")
    gops = lake.open(ingestion.dataset, "gops").read(
        ["ref_id", "gop_index", "num_frames"], ingestion.where()
    )
    num_bad = 0
    for camera in camera_names(frames.schema):
        num_bad += _num_unresolved(frames.read(_columns(camera), ingestion.where()), gops, camera)
    return CheckReport(
        is_passed=num_bad == 0,
        message=f"{num_bad} references point at no picture",
        numbers={"num_unresolved": num_bad},
    )


def _columns(camera: str) -> list[str]:
    names = ("ref_id", "gop_index", "frame_index_in_gop")
    return [f"{CAMERA_PREFIX}{camera}_{name}" for name in names]


def _num_unresolved(rows: pa.Table, gops: pa.Table, camera: str) -> int:
    held = rows.rename_columns(["ref_id", "gop_index", "frame_index_in_gop"]).drop_null()
    joined = held.join(gops, ["ref_id", "gop_index"], join_type="left outer")
    is_good = pc.less(joined["frame_index_in_gop"], joined["num_frames"])
    return len(joined) - (pc.sum(is_good).as_py() or 0)


def upload_is_published_once(ingestion: Ingestion) -> CheckReport:
    """Hold the upload's rows of ``episodes`` against its episodes, but the retired."""
    num_listed = len(list_tasks(ingestion))
    table = ingestion.workplace.lake.open(ingestion.dataset, "episodes")
    rows = table.read(["episode_id", "ingestion_id"], equals("upload", ingestion.upload))
    num_mine = len(
        rows.filter(pc.equal(rows["ingestion_id"], ingestion.ingestion_id))["episode_id"].unique()
    )
    return CheckReport(
        is_passed=num_mine == rows.num_rows == num_listed,
        message=f"{rows.num_rows} rows for {num_listed} episodes",
        numbers={"num_rows": rows.num_rows, "num_episodes": num_listed},
    )


def no_episode_is_quarantined(ingestion: Ingestion) -> CheckReport:
    """Look for episodes in quarantine; the message gives the reasons."""
    table = ingestion.workplace.lake.open(ingestion.dataset, "episodes")
    rows = table.read(["source_key", "status", "status_reason"], equals("upload", ingestion.upload))
    lost = rows.filter(pc.equal(rows["status"], STATUS_QUARANTINED)).to_pylist()
    reasons = "; ".join(f"{row['source_key']}: {row['status_reason']}" for row in lost[:10])
    return CheckReport(
        is_passed=not lost,
        message=reasons or "every episode was ingested",
        numbers={"num_quarantined": len(lost)},
    )


def no_rule_is_broken(ingestion: Ingestion) -> CheckReport:
    """Look for episodes with a finding of severity ``fail`` or ``warn``."""
    table = ingestion.workplace.lake.open(ingestion.dataset, "episodes")
    columns = ["source_key", "q_rules_broken", "q_num_warn", "q_num_fail"]
    rows = table.read(columns, equals("upload", ingestion.upload)).to_pylist()
    broken = [r for r in rows if (r["q_num_warn"] or 0) + (r["q_num_fail"] or 0)]
    said = "; ".join(f"{r['source_key']}: {', '.join(r['q_rules_broken'])}" for r in broken[:10])
    return CheckReport(
        is_passed=not broken,
        message=said or "no episode breaks a rule",
        numbers={"num_flagged": len(broken)},
    )


def no_calibration_is_contradicted(ingestion: Ingestion) -> CheckReport:
    """Look for episodes whose joints or pictures contradict what is declared of the cameras."""
    table = ingestion.workplace.lake.open(ingestion.dataset, "episodes")
    columns = ["source_key", "s_rules_broken", "s_verdict", "s_cause"]
    rows = table.read(columns, equals("upload", ingestion.upload)).to_pylist()
    wrong = [row for row in rows if row["s_rules_broken"]]
    num_measured = sum(row["s_verdict"] is not None for row in rows)
    said = "; ".join(
        f"{row['source_key']}: {row['s_cause'] or ', '.join(row['s_rules_broken'])}"
        for row in wrong[:10]
    )
    return CheckReport(
        is_passed=not wrong,
        message=said or f"{num_measured} of {len(rows)} episodes measured, none contradicted",
        numbers={
            "num_contradicted": len(wrong),
            "num_not_measured": len(rows) - num_measured,
        },
    )
