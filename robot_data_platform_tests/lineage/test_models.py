from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from robot_data_platform.errors import ErrorKind, InvalidInputError, NotFoundError, RobotDataError
from robot_data_platform.lineage.models import training_run
from robot_data_platform.storage.catalog import find_model, list_models, versions_of
from robot_data_platform.storage.snapshot import find_release
from robot_data_platform_tests.curation.small_lake import SmallLake
from robot_data_platform_tests.servers import S3Server

SHA256 = "0" * 64


def test_a_training_that_ends_well_is_one_row(released: SmallLake) -> None:
    times = iter((100, 200))
    with training_run(
        released.lake,
        "aloha",
        "v1",
        model="m",
        splits=["train", "val"],
        parameters={"rate": 0.1, "layers": [3, 4]},
        code_commit="c0ffee",
        run_id="t1",
        clock=lambda: next(times),
    ) as run:
        run.log_metrics(loss=0.5, steps=3)
        run.log_metrics(loss=np.float32(0.25))
    row, release = find_model(released.lake, "m"), find_release(released.lake, "aloha", "v1")
    assert (row["release"], row["release_digest"]) == ("v1", release["digest"])
    assert (row["splits"], row["tables"]) == (["train", "val"], release["tables"])
    assert json.loads(row["parameters_json"]) == {"rate": 0.1, "layers": [3, 4]}
    assert json.loads(row["metrics_json"]) == {"loss": 0.25, "steps": 3.0}
    assert (row["code_commit"], row["run_id"]) == ("c0ffee", "t1")
    assert (row["started_ns"], row["finished_ns"]) == (100, 200)


def test_the_versions_to_read_are_those_of_the_release(released: SmallLake) -> None:
    pinned = find_release(released.lake, "aloha", "v1")["tables"]
    with training_run(released.lake, "aloha", "v1", model="m") as run:
        assert run.versions == versions_of(pinned)


def test_a_lake_may_be_named_by_its_folder(released: SmallLake) -> None:
    with training_run(released.lake.root, "aloha", "v1", model="m", splits="val"):
        pass
    assert find_model(released.lake, "m")["splits"] == ["val"]


def test_a_training_that_fails_writes_nothing(released: SmallLake) -> None:
    def train() -> None:
        with training_run(released.lake, "aloha", "v1", model="m"):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        train()
    assert list_models(released.lake) == []


def test_a_saved_artifact_lies_in_the_lake_with_its_hash(
    released: SmallLake, tmp_path: Path
) -> None:
    (tmp_path / "policy.npz").write_bytes(b"weights")
    with training_run(released.lake, "aloha", "v1", model="m") as run:
        uri = run.save_artifact(tmp_path / "policy.npz")
    row = find_model(released.lake, "m")
    assert Path(uri).read_bytes() == b"weights"
    assert Path(uri).is_relative_to(released.lake.root)
    assert row["artifact_uri"] == uri
    assert row["artifact_sha256"] == hashlib.sha256(b"weights").hexdigest()


def test_a_saved_artifact_of_a_lake_on_s3_is_an_object(
    released: SmallLake, s3_environment: S3Server, tmp_path: Path
) -> None:
    bucket = s3_environment.make_bucket("models")
    (tmp_path / "policy.npz").write_bytes(b"weights")
    with training_run(released.lake, "aloha", "v1", model="m") as run:
        run.lake = type(run.lake)(bucket)
        uri = run.save_artifact(tmp_path / "policy.npz")
    key = uri.removeprefix(f"{bucket}/")
    body = s3_environment.client.get_object(Bucket="models", Key=key)["Body"].read()
    assert body == b"weights"


@pytest.mark.parametrize(
    ("uri", "sha256", "kind"),
    [
        ("hf://models/m", "abc", ErrorKind.INVALID_ARGUMENT),
        ("https://host/m?X-Amz-Signature=1", SHA256, ErrorKind.INVALID_URI),
        ("s3://key:secret@bucket/m", SHA256, ErrorKind.INVALID_URI),
    ],
)
def test_an_artifact_without_a_hash_or_with_a_secret_is_refused(
    released: SmallLake, uri: str, sha256: str, kind: ErrorKind
) -> None:
    with training_run(released.lake, "aloha", "v1", model="m") as run:
        with pytest.raises(InvalidInputError) as caught:
            run.set_artifact(uri, sha256)
        assert caught.value.kind is kind
        assert "secret" not in str(caught.value)
        run.set_artifact("hf://models/m", SHA256)
    assert find_model(released.lake, "m")["artifact_uri"] == "hf://models/m"


def test_a_folder_is_no_artifact(released: SmallLake, tmp_path: Path) -> None:
    with (
        training_run(released.lake, "aloha", "v1", model="m") as run,
        pytest.raises(InvalidInputError, match=r"is not there\. Give one file; pack a folder"),
    ):
        run.save_artifact(tmp_path)


def test_a_metric_that_is_not_finite_is_kept_as_text(released: SmallLake) -> None:
    with training_run(released.lake, "aloha", "v1", model="m") as run:
        run.log_metrics(loss=float("nan"), rate=float("-inf"))
    text = find_model(released.lake, "m")["metrics_json"]
    assert json.loads(text) == {"loss": "nan", "rate": "-inf"}


@pytest.mark.parametrize(
    ("changes", "kind", "said"),
    [
        ({"release": "v2"}, ErrorKind.RELEASE_NOT_FOUND, r"no release 'v2': it has \['v1'\]"),
        ({"splits": ["dev"]}, ErrorKind.SPLIT_NOT_FOUND, r"\['dev'\]: it has .*'train': 4"),
        ({"splits": []}, ErrorKind.SPLIT_NOT_FOUND, "Name one or more"),
        ({"model": "a/b"}, ErrorKind.INVALID_NAME, "model name 'a/b'"),
        ({"parameters": {"x": object()}}, ErrorKind.INVALID_ARGUMENT, "not JSON serializable"),
        ({"parameters": {"x": float("nan")}}, ErrorKind.INVALID_ARGUMENT, "can't be recorded"),
        ({"dagster_url": "ftp://host"}, ErrorKind.INVALID_URI, "scheme 'ftp'"),
    ],
)
def test_what_could_not_be_recorded_is_refused_before_training(
    released: SmallLake, changes: dict[str, object], kind: ErrorKind, said: str
) -> None:
    arguments = {"dataset": "aloha", "release": "v1", "model": "m"} | changes
    context = training_run(released.lake, **arguments)  # type: ignore[arg-type]
    with pytest.raises(RobotDataError, match=said) as caught:
        context.__enter__()
    assert caught.value.kind is kind
    assert isinstance(caught.value, InvalidInputError | NotFoundError)


def test_a_model_name_is_taken_once(released: SmallLake) -> None:
    with training_run(released.lake, "aloha", "v1", model="m"):
        pass
    with pytest.raises(InvalidInputError, match="'m' is recorded already") as caught:
        training_run(released.lake, "aloha", "v1", model="m").__enter__()
    assert caught.value.kind is ErrorKind.ALREADY_EXISTS


def test_of_two_trainings_of_one_name_the_first_to_end_has_it(released: SmallLake) -> None:
    def second() -> None:
        with (
            training_run(released.lake, "aloha", "v1", model="m", run_id="second"),
            training_run(released.lake, "aloha", "v1", model="m", run_id="first"),
        ):
            pass

    with pytest.raises(InvalidInputError, match="recorded already"):
        second()
    assert [row["run_id"] for row in list_models(released.lake)] == ["first"]
