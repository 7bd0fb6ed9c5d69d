"""Model records: which release a model was trained on, by which code, and how it did.

For use in any training script, on any machine that reaches the lake, with the base install::

    with training_run("s3://bucket/lake", "aloha", "v1", model="policy-7") as run:
        ...
        run.log_metrics(loss=0.02)
        run.save_artifact("policy.npz")

The record is one row of ``_catalog/models``, written when the block ends without an exception.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from robot_data_platform import __version__
from robot_data_platform.core.identity import check_name
from robot_data_platform.core.run import RunInfo
from robot_data_platform.errors import ErrorKind, InvalidInputError, NotFoundError
from robot_data_platform.lineage.code_commit import code_commit as commit_of
from robot_data_platform.lineage.dagster_report import ASSET, check_server_url, report_model
from robot_data_platform.lineage.training import TrainingRun
from robot_data_platform.storage.catalog import (
    ModelRow,
    add_model,
    find_model,
    list_models,
    release_episodes,
)
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.snapshot import ReleaseRow, find_release


@contextmanager
def training_run(
    lake: Lake | str | Path,
    dataset: str,
    release: str,
    *,
    model: str,
    splits: str | Sequence[str] = ("train",),
    parameters: Mapping[str, object] | None = None,
    code_commit: str | None = None,
    run_id: str | None = None,
    dagster_url: str | None = None,
    clock: Callable[[], int] = time.time_ns,
) -> Iterator[TrainingRun]:
    """Yield a run to train in; record the model when the block ends without an exception.

    Parameters
    ----------
    model : str
        Name of the model, unique in the lake; where it is taken, nothing is trained.
    splits : str or sequence of str
        Splits of the release that the model is trained on.
    parameters : mapping, optional
        What the training was set to; anything that JSON can hold.
    code_commit : str, optional
        Commit of the training code; None = that of the working folder's git repository, with
        ``-dirty`` where it has changes.
    run_id : str, optional
        Id of the training; None = a new one.
    dagster_url : str, optional
        Dagster web server to report the model to. A report that fails is logged; the record
        is in the lake all the same.
    clock : callable
        Returns the UTC time in ns since 1970.

    Raises
    ------
    NotFoundError
        ``release-not-found``, ``split-not-found``.
    InvalidInputError
        ``already-exists``: the model's name is taken, now or when the block ends;
        ``invalid-name``, ``invalid-argument``, ``invalid-uri``.
    """
    lake = lake if isinstance(lake, Lake) else Lake(lake)
    url = check_server_url(dagster_url) if dagster_url else None
    row = find_release(lake, dataset, release)
    splits = (splits,) if isinstance(splits, str) else tuple(splits)
    _check_splits(lake, row, splits)
    _check_free(lake, model)
    run = TrainingRun(
        lake=lake,
        release=row,
        splits=splits,
        model=model,
        run_id=run_id or f"train-{uuid.uuid4().hex[:16]}",
        parameters_json=_as_json(parameters or {}, model),
        code_commit=code_commit or commit_of(Path.cwd()),
        started_ns=clock(),
    )
    yield run
    _write(lake, _record(run, clock()))
    if url:
        report_model(url, data_version=f"{model}@{row['digest']}", metadata=_facts(run))


def _check_splits(lake: Lake, release: ReleaseRow, splits: Sequence[str]) -> None:
    counted = release_episodes(lake, release, ["split"])["split"].value_counts()
    held = {str(row["values"]): int(row["counts"]) for row in counted.to_pylist()}
    missing = sorted(set(splits) - held.keys())
    if missing or not splits:
        raise NotFoundError(
            f"Release {release['release_key']!r} has no episodes in splits {missing}: it has "
            f"{dict(sorted(held.items()))}. Name one or more of these.",
            kind=ErrorKind.SPLIT_NOT_FOUND,
            release=release["release"],
            splits=missing,
        )


def _check_free(lake: Lake, model: str) -> None:
    if list_models(lake, check_name(model, "model")):
        raise _taken(model)


def _as_json(parameters: Mapping[str, object], model: str) -> str:
    try:
        return json.dumps(dict(parameters), sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as err:
        raise InvalidInputError(
            f"Model {model!r}: its parameters can't be recorded: {err}. Give numbers, text, lists "
            "and mappings with text keys.",
            kind=ErrorKind.INVALID_ARGUMENT,
            model=model,
        ) from err


def _record(run: TrainingRun, finished_ns: int) -> ModelRow:
    return ModelRow(
        model=run.model,
        dataset=run.release["dataset"],
        release=run.release["release"],
        release_digest=run.release["digest"],
        splits=list(run.splits),
        tables=run.release["tables"],
        code_commit=run.code_commit,
        parameters_json=run.parameters_json,
        metrics_json=json.dumps(run.metrics_as_json(), sort_keys=True),
        artifact_uri=run.artifact_uri,
        artifact_sha256=run.artifact_sha256,
        started_ns=run.started_ns,
        finished_ns=finished_ns,
        run_id=run.run_id,
        code_version=__version__,
    )


def _write(lake: Lake, record: ModelRow) -> None:
    run = RunInfo(
        run_id=record["run_id"],
        asset=ASSET,
        code_version=record["code_version"],
        created_ns=record["finished_ns"],
    )
    add_model(lake, record, run.properties())
    if find_model(lake, record["model"])["run_id"] != record["run_id"]:
        raise _taken(record["model"])


def _taken(model: str) -> InvalidInputError:
    return InvalidInputError(
        f"Model {model!r} is recorded already: got the name again. Choose another name.",
        kind=ErrorKind.ALREADY_EXISTS,
        model=model,
    )


def _facts(run: TrainingRun) -> dict[str, object]:
    """Return what Dagster shows of a model."""
    facts: dict[str, object] = {
        "model": run.model,
        "dataset": run.release["dataset"],
        "release": run.release["release"],
        "release_digest": run.release["digest"],
        "splits": ", ".join(run.splits),
        "lance/reads": run.versions,
        "code_commit": run.code_commit or "unknown",
        "artifact_uri": run.artifact_uri or "none",
    }
    return facts | {f"metric/{name}": value for name, value in run.metrics_as_json().items()}
