"""Curation: one commit to ``splits`` that says which episode is in which split."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from robot_data_platform.core.fingerprint import digest, table_digest
from robot_data_platform.core.run import RunInfo
from robot_data_platform.core.schema import splits_schema
from robot_data_platform.curation.assign import assign_groups
from robot_data_platform.curation.eligible import COLUMNS, keep_within, pass_filter
from robot_data_platform.curation.grouping import group_episodes, joined_values
from robot_data_platform.curation.history import History
from robot_data_platform.curation.spec import SplitSpec
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.storage.commit import append_built
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.predicate import equals
from robot_data_platform.storage.table import LakeTable

CONTENT_COLUMNS = ("episode_id", "content_digest", "split")
"""What of an assignment is content: a re-ingestion of equal content changes none of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurationResult:
    """An assignment that ``splits`` holds."""

    assignment_id: str
    """Digest of the spec and of each episode's id, content and split."""
    version: int
    """A version of ``splits`` that holds it."""
    is_new: bool
    """False where the same assignment was there, so nothing was written."""
    counts: dict[str, int]
    """Episodes by split, zeros included."""
    excluded: dict[str, int]
    """Episodes left out, by the key of the spec that left them out."""
    episodes_version: int
    """The version of ``episodes`` that was read."""


def curate(
    lake: Lake, dataset: str, spec: SplitSpec, run: RunInfo, *, version: int | None = None
) -> CurationResult:
    """Assign the episodes of a dataset to splits, and write the assignment unless it is there.

    Parameters
    ----------
    version : int, optional
        Version of ``episodes`` to read; None = the latest.

    Raises
    ------
    NotFoundError
        ``dataset-not-found``, ``version-not-found``.
    DataFaultError
        ``no-rows``: no episode passes the spec; the message counts the reasons.
    """
    episodes = lake.open(dataset, "episodes", version)
    curation = _Curation(dataset, spec, episodes.read(COLUMNS))
    committed = append_built(
        lake.ensure(dataset, "splits").uri,
        curation.rows_at,
        properties=run.properties(),
        is_done=curation.is_done,
    )
    counts = count_by_split(curation.rows["split"])
    return CurationResult(
        assignment_id=curation.assignment_id,
        version=committed.version,
        is_new=committed.is_new,
        counts={split: counts.get(split, 0) for split in spec.ratios},
        excluded=curation.excluded,
        episodes_version=episodes.version,
    )


def content_digest(rows: pa.Table) -> str:
    """Return the digest of the content of an assignment, whatever the order of its rows."""
    content = rows.select(CONTENT_COLUMNS)
    ids = content["episode_id"].combine_chunks()
    is_sorted = pc.all(pc.less_equal(ids[:-1], ids[1:])).as_py() is not False
    return table_digest(content if is_sorted else content.sort_by("episode_id"))


def count_by_split(splits: pa.ChunkedArray) -> dict[str, int]:
    """Return how often each name of a split stands in a column, by name."""
    counts = splits.value_counts()
    names, numbers = (counts.field(part).to_pylist() for part in ("values", "counts"))
    return dict(sorted(zip(names, numbers, strict=True)))


class _Curation:
    """The assignment of one read of ``episodes``, made anew for each version of ``splits``."""

    def __init__(self, dataset: str, spec: SplitSpec, episodes: pa.Table) -> None:
        self._dataset = dataset
        self._spec = spec
        self._passed, self._left_out = pass_filter(episodes, spec.filter)
        self.rows = splits_schema().empty_table()
        self.assignment_id = ""
        self.excluded: dict[str, int] = {}

    def is_done(self, splits: LakeTable) -> bool:
        """Make the assignment that follows from a version of ``splits``; say if it holds it."""
        history = History(splits, self._spec.scheme_digest())
        kept, over = self._within_caps(history)
        self.excluded = self._left_out | over
        if not len(kept):
            raise self._nothing_left()
        rows = _assigned(kept, self._spec, history)
        self.assignment_id = digest([self._spec.digest(), content_digest(rows)])
        self.rows = _labelled(rows, self._spec, self.assignment_id)
        return splits.count_rows(equals("assignment_id", self.assignment_id)) > 0

    def _within_caps(self, history: History) -> tuple[pa.Table, dict[str, int]]:
        limits = self._spec.caps.by_column()
        if not limits:
            return self._passed, {}
        is_earlier = history.holds(self._passed["episode_id"].combine_chunks())
        return keep_within(self._passed, limits, self._spec.seed, is_earlier)

    def rows_at(self, _: LakeTable) -> pa.Table:
        """Return the rows that `is_done` made, which is asked at the same version before."""
        return self.rows

    def _nothing_left(self) -> DataFaultError:
        return DataFaultError(
            f"No episode of dataset {self._dataset!r} passes split spec {self._spec.name!r}: left "
            f"out are {self.excluded}. Look at them with `rdp episodes` and `rdp findings`, or "
            "loosen the spec's filter.",
            kind=ErrorKind.NO_ROWS,
            dataset=self._dataset,
            **{f"excluded_{reason}": count for reason, count in self.excluded.items()},
        )


def _assigned(episodes: pa.Table, spec: SplitSpec, history: History) -> pa.Table:
    """Return id, index, content, group and split of each episode, by id."""
    names = joined_values(episodes, spec.group_by)
    groups, of_episode = group_episodes(names, joined_values(episodes, spec.stratify_by))
    splits = sorted(spec.ratios)
    earlier = history.split_of(groups.names, splits)
    place = assign_groups(groups, spec.ratios, spec.seed, earlier)[of_episode]
    return (
        episodes.select(("episode_id", "episode_index", "content_digest"))
        .append_column("group", names)
        .append_column("split", pa.array(splits, pa.string()).take(pa.array(place)))
        .sort_by("episode_id")
    )


def _labelled(rows: pa.Table, spec: SplitSpec, assignment_id: str) -> pa.Table:
    labels = {
        "assignment_id": assignment_id,
        "spec_name": spec.name,
        "spec_digest": spec.digest(),
        "scheme_digest": spec.scheme_digest(),
    }
    for name, text in labels.items():
        rows = rows.append_column(name, pa.repeat(text, len(rows)))
    return rows.select(splits_schema().names).cast(splits_schema())
